#pragma once

// What a way of mixing is: a value for each axis (design: MIXING, "The axes").
//
// A job names a recipe (recipe_table) and may override any axis by its text (axes); every
// combination that makes sense is allowed, and one that does not is refused with the reason.
// Elsewhere in core no recipe is known by name.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/codec_id.hpp"
#include "core/base/learning.hpp"
#include "core/base/result.hpp"
#include "core/mixing/guard.hpp"

namespace p2p::core {

enum class Partners : std::uint8_t {
    neighbours,   ///< all links that are mixed over
    random,       ///< one of them, uniform
    linked,       ///< one of them, by reward (reward.hpp)
    exponential,  ///< one-peer exponential graph: 2^k places on, k going round
    ring,         ///< the two beside it in the order of ids
    random_ring,  ///< the same in an order drawn anew each round
    groups,       ///< exact average in groups drawn anew each round
    grid,         ///< exact average in groups along one side of a grid, the sides in turn
    density,  ///< a graph as sparse as a bound on its mixing allows, links in sites before others
    sites,    ///< exact average in the site; one speaker of each swaps across
    all,      ///< exact average of all members
};

struct PartnerSpec {
    Partners kind = Partners::random;
    std::uint32_t group_size = 0;     ///< of groups and grid; 0: all members
    std::uint32_t peers_a_phase = 1;  ///< k of the Base-(k+1) sequences that average exactly
    double eigenvalue_max = 0;        ///< of density, in (0, 1)

    bool operator==(const PartnerSpec&) const = default;
};

enum class When : std::uint8_t {
    every,       ///< each H local steps
    continuous,  ///< when the last swap has ended and a step was taken since
    adaptive,    ///< each H local steps, H kept so that the consensus distance stays in a band
    chance,      ///< after each local step with a probability
};

struct WhenSpec {
    When kind = When::continuous;
    std::uint32_t every_steps = 1;   ///< H of `every`, the first H of `adaptive`
    std::uint32_t warmup_steps = 0;  ///< before this own step, each step
    double distance_low = 0;         ///< of `adaptive`: the band of the distance ratio
    double distance_high = 0;
    double probability = 0;  ///< of `chance`, in (0, 1]

    bool operator==(const WhenSpec&) const = default;
};

enum class Wait : std::uint8_t {
    none,     ///< nobody ever waits
    round,    ///< the round's swaps are merged before the next step, up to the deadline
    bounded,  ///< the trainer runs ahead of the slowest partner, so many rounds' steps at most
    delay,    ///< the trainer goes on from the round's snapshot, and waits after `delay_steps`
};

struct WaitSpec {
    Wait kind = Wait::none;
    std::uint32_t delay_steps = 0;  ///< of `delay`; 0: until the next round opens
    std::uint32_t ahead_low = 0;    ///< of `bounded`: the bound is chosen from low to high
    std::uint32_t ahead_high = 0;

    bool operator==(const WaitSpec&) const = default;
};

enum class Shards : std::uint8_t {
    all,        ///< every shard whenever a swap is due
    staggered,  ///< one part of the shards at a time, the parts in turn
    ready,      ///< each layer by itself, in the order in which a step has their gradients
};

struct ShardSpec {
    Shards kind = Shards::all;
    std::uint32_t parts = 1;

    bool operator==(const ShardSpec&) const = default;
};

/// What goes between two nodes (design: MIXING, "One primitive").
enum class Exchange : std::uint8_t {
    swap,       ///< both move by the same: the mean stays
    push,       ///< one way, weighed by push-sum (Kempe et al. 2003): the weighted mean stays
    push_half,  ///< one way, the receiver goes half of the way: the mean moves
    gather,     ///< each one's encoded update to all
};

struct ExchangeSpec {
    Exchange kind = Exchange::swap;
    double feedback = 0;  ///< of `gather`: share of what was not told that is told later, [0, 1]
    double rate = 0;      ///< of `gather`: outer rate, (0, 2]

    bool operator==(const ExchangeSpec&) const = default;
};

enum class Outer : std::uint8_t {
    none,
    nesterov,  ///< on the pseudo-gradient since the last outer step (Douillard et al. 2023)
    noloco,    ///< heavy ball on the same, in pairs (Kolehmainen et al. 2025)
};

struct OuterSpec {
    Outer kind = Outer::none;
    double rate = 0.7;
    double momentum = 0.9;
    std::uint32_t every_steps = 0;  ///< where no round says when; 0: the job's round_steps

    bool operator==(const OuterSpec&) const = default;
};

enum class WorkShare : std::uint8_t {
    equal,     ///< rounds have as many steps on all nodes
    by_speed,  ///< rounds take as long on all nodes: H follows the measured speed
};

enum class Finish : std::uint8_t {
    exact,  ///< all replicas are brought together at the end (JOBS.md)
    none,   ///< each node keeps its own
};

/// Tensors whose names fit `pattern` (* stands for any letters) have a codec of their own.
struct LayerCodec {
    std::string pattern;
    CodecId codec = CodecId::fp32;

    [[nodiscard]] bool fits(const std::string& name) const;

    bool operator==(const LayerCodec&) const = default;
};

struct Recipe {
    std::string name;
    ExchangeSpec exchange;
    PartnerSpec partners;
    WhenSpec when;
    WaitSpec wait;
    ShardSpec shards;
    WorkShare work = WorkShare::equal;
    LocalSpec local;
    OuterSpec outer;
    CodecId codec = CodecId::fp32;
    std::vector<LayerCodec> layer_codecs;  ///< the first that fits counts
    GuardSpec guard;
    Finish finish = Finish::exact;
    bool is_steered = false;        ///< rate and outer step are the controller's
    bool is_codec_steered = false;  ///< so is the codec

    [[nodiscard]] bool swaps() const { return exchange.kind == Exchange::swap; }

    [[nodiscard]] bool has_rounds() const {
        return wait.kind == Wait::round || wait.kind == Wait::delay;
    }

    /// Whom a node meets in a round follows from the members and the round's number alone.
    [[nodiscard]] bool is_scheduled() const {
        return partners.kind != Partners::neighbours && partners.kind != Partners::random
               && partners.kind != Partners::linked;
    }

    /// The group's replicas are equal after a round.
    [[nodiscard]] bool is_exact() const {
        return partners.kind == Partners::groups || partners.kind == Partners::grid
               || partners.kind == Partners::sites || partners.kind == Partners::all;
    }

    bool operator==(const Recipe&) const = default;

    /// Of a tensor that has one of its own.
    [[nodiscard]] std::optional<CodecId> layer_codec(const std::string& tensor) const;

    /// "ad-psgd: a random partner, continuous, no waiting, delta(q8), guard finite+norm(10)".
    [[nodiscard]] std::string text() const;
};

/// What a name may claim (design: MIXING, "Recipes and where they come from").
enum class Fidelity : std::uint8_t {
    published,  ///< the paper's update, step by step
    adapted,    ///< the note says what differs
    ours,
    control,  ///< what no measure may pass
};

/// A row of the table: a recipe, where it comes from, and what its name claims.
struct RecipeRow {
    Recipe recipe;
    Fidelity fidelity = Fidelity::published;
    std::string source;  ///< authors and year, with the paper's number where it has one
    std::string note;    ///< of `adapted`: what differs
};

/// The row `name` with `axes` ("partners" -> "random", "when" -> "every(16)", ...) over it.
///
/// `round_steps` is the H of a row or axis that says every(H) without a number. Errors: invalid,
/// with what there is instead, or why a combination makes no sense.
[[nodiscard]] Result<Recipe> resolve_recipe(
    const std::string& name,
    const std::map<std::string, std::string>& axes,
    std::uint32_t round_steps);

/// All rows, in the table's order; H of those that say none is `round_steps`.
[[nodiscard]] std::vector<RecipeRow> recipe_rows(std::uint32_t round_steps);

/// The names of all rows, in the table's order.
[[nodiscard]] std::vector<std::string> recipe_names();

[[nodiscard]] std::string_view fidelity_name(Fidelity fidelity);

}  // namespace p2p::core
