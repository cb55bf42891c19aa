#pragma once

// A claim of a paper that a recipe comes from, as it is put to the test: which way of mixing
// against which, where, on what measure, and how much it must be better or may be worse.
//
// claim_file reads one from TOML, claim_measure judges outcomes, claim_run makes them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sim/settings.hpp"

namespace p2p::sim {

/// Every measure is the recipe's against the baseline's, less is better.
enum class Measure : std::uint8_t {
    loss,           ///< difference of the final test losses: all see as many samples
    loss_at_bytes,  ///< difference of the test losses at the bytes a node that the thriftier sent
    time,           ///< ratio of the times to a target loss
    bytes,          ///< ratio of the bytes a node to a target loss
    accuracy,       ///< points of final test accuracy that the recipe lacks
};

/// "loss-at-bytes"; measure_from_name reads it.
[[nodiscard]] std::string measure_name(Measure measure);
[[nodiscard]] std::optional<Measure> measure_from_name(const std::string& name);

/// Whether the measure is the ratio of what it takes to get to a target.
[[nodiscard]] bool has_target(Measure measure);

/// One of the two ways of mixing.
struct ClaimSide {
    std::string recipe;           ///< of core/mixing/recipe_table, or a baseline of p2psim
    Settings axes;                ///< that the claim is about
    std::vector<Settings> tries;  ///< constants of its own to tune over, each over `axes`
    std::vector<double> rates;    ///< to tune over with each of the tries, times the job's
    Settings small;               ///< what the last whole run had found, over `axes`

    bool operator==(const ClaimSide&) const = default;
};

/// A test loss.
struct Target {
    double loss = 0;
    bool is_over_free = false;  ///< `loss` is added to what the free network ends with
    bool operator==(const Target&) const = default;
};

struct Claim {
    std::string name;      ///< the file's, without folder and ending
    std::string sentence;  ///< what is claimed
    std::string source;    ///< whose claim it is: paper and section
    std::string stage;     ///< a name, or a path from where p2psim runs
    Measure measure = Measure::loss;
    double bound = 0;  ///< holds where the whole interval is not above it
    std::optional<Target> target;
    ClaimSide recipe;
    ClaimSide baseline;
    bool is_expected = true;  ///< to hold in a whole run
    std::string why;          ///< it is not expected to hold
    std::size_t links = 0;    ///< that each node is allowed; 0: everybody
    bool has_small = false;
    bool is_expected_small = true;
    std::uint64_t seeds_small = 3;  ///< of 2, an interval is 12.7 standard errors each way

    bool operator==(const Claim&) const = default;
};

}  // namespace p2p::sim
