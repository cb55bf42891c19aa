#pragma once

// The named presets: a value for each axis (design: MIXING, "The axes" and "Recipes").
//
// A job names a recipe and may override any axis; every combination that makes sense is allowed,
// and one that does not is refused with the reason. Elsewhere in core no recipe is known by name.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/codec_id.hpp"
#include "core/base/result.hpp"
#include "core/mixing/guard.hpp"

namespace p2p::core {

enum class Partners : std::uint8_t {
    neighbours,  ///< all links that are mixed over
    random,      ///< one of them, uniform
};

enum class When : std::uint8_t {
    every,       ///< each H local steps
    continuous,  ///< when the last swap has ended and a step was taken since
};

enum class Wait : std::uint8_t {
    none,   ///< nobody ever waits
    round,  ///< the round's swaps are merged before the next step, up to the deadline
    delay,  ///< they are merged before the next round opens, up to the deadline
};

enum class Finish : std::uint8_t {
    exact,  ///< all replicas are brought together at the end (JOBS.md)
    none,   ///< each node keeps its own
};

struct Recipe {
    std::string name;
    Partners partners = Partners::random;
    When when = When::continuous;
    std::uint32_t every_steps = 1;  ///< H, of `every`
    Wait wait = Wait::none;
    CodecId codec = CodecId::fp32;
    GuardSpec guard;
    Finish finish = Finish::exact;

    [[nodiscard]] bool has_rounds() const { return wait != Wait::none; }

    bool operator==(const Recipe&) const = default;

    /// "ad-psgd: random partners, continuous, no waiting, delta(q8), guard finite+norm(10)".
    [[nodiscard]] std::string text() const;
};

/// The row `name` with `axes` ("partners" -> "random", "when" -> "every(16)", ...) over it.
///
/// `round_steps` is the H of a row or axis that says every(H) without a number.
[[nodiscard]] Result<Recipe> resolve_recipe(
    const std::string& name,
    const std::map<std::string, std::string>& axes,
    std::uint32_t round_steps);

/// The names of all rows, in the table's order.
[[nodiscard]] std::vector<std::string> recipe_names();

}  // namespace p2p::core
