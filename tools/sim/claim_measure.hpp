#pragma once

// Judges a claim by the outcomes of paired runs: what each pair differs by on the claim's measure,
// the mean of that, and its 95 % interval by Student's t (Student 1908; a ratio's in logarithms).
// Arithmetic only: claim_run makes the outcomes.

#include <cstddef>
#include <vector>

#include "tools/sim/claim.hpp"
#include "tools/sim/outcome.hpp"

namespace p2p::sim {

/// What both sides of a comparison are held against.
struct Yardstick {
    double target_loss = 0;         ///< of time and bytes
    double loss_most = 100;         ///< a loss above it, or none at all, counts as it: of guessing
    std::vector<double> megabytes;  ///< of loss_at_bytes, a node, for each pair
};

/// What the runs of one claim came to; differences, or ratios, as the measure's.
struct Finding {
    double value = 0;  ///< the mean; of ratios the geometric one
    double low = 0;
    double high = 0;
    std::size_t recipe_short = 0;    ///< runs of the recipe that missed the target or did not end
    std::size_t baseline_short = 0;  ///< a miss counts as the whole time, or all bytes
    bool holds = false;  ///< high is not above the bound, and no run of the recipe short

    bool operator==(const Finding&) const = default;
};

/// Half the width of a mean's 95 % interval in standard errors. @pre degrees > 0
[[nodiscard]] double student_t95(std::size_t degrees);

/// The bytes, in megabytes a node, that the thriftier of each pair has sent in all.
[[nodiscard]] std::vector<double> megabytes_of_both(
    const std::vector<Outcome>& recipe, const std::vector<Outcome>& baseline);

/// On `measure`, less is better; `pair` chooses among the yardstick's bytes. A run that misses its
/// target is as bad as can be. For choosing among tries.
[[nodiscard]] double score(
    Measure measure, const Outcome& outcome, const Yardstick& yardstick, std::size_t pair);

/// The loss at the end, of the part of the test set that curves are of.
[[nodiscard]] double loss_at_end(const Outcome& outcome, double loss_most);

/// Of `claim`, by runs of equal seeds. @pre as many of both, at least two
[[nodiscard]] Finding compare_runs(
    const Claim& claim,
    const std::vector<Outcome>& recipe,
    const std::vector<Outcome>& baseline,
    const Yardstick& yardstick);

}  // namespace p2p::sim
