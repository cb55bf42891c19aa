#pragma once

// Puts a claim to the test: tunes both sides by the same number of tries on a seed of its own, runs
// both on the seeds that are compared, and the control (`none` in the recipe's place) beside them.
//
// What the outcomes say is claim_measure's, reading files claim_file's, printing claim_table's.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.hpp"
#include "tools/sim/claim.hpp"
#include "tools/sim/claim_measure.hpp"

namespace p2p::sim {

inline constexpr std::uint64_t tuning_seed = 101;

struct Trial {
    std::shared_ptr<const core::Dataset> data;
    std::uint64_t seeds = 5;  ///< 1 to that; at least 2
    std::size_t jobs = 1;     ///< runs at the same time
    bool is_small = false;    ///< no tuning: the settings that the file gives
};

/// What came out.
struct Verdict {
    Claim claim;
    Finding finding;
    Finding control;           ///< is to fail
    Settings recipe_settings;  ///< that were compared
    Settings baseline_settings;
    Settings control_settings;
    double target_loss = 0;  ///< of time and bytes
    std::uint64_t seeds = 0;
    double seconds = 0;  ///< of processor time, over all runs
    bool is_small = false;
    std::vector<std::string> notes;
    std::string trouble;  ///< why there is no finding; empty: there is

    /// Nothing passes a measure that the control passes.
    [[nodiscard]] bool holds() const { return trouble.empty() && finding.holds && !control.holds; }

    [[nodiscard]] bool is_as_expected() const {
        return holds() == (is_small ? claim.is_expected_small : claim.is_expected);
    }
};

/// "12 of 40 done: ad-psgd:lr=2, seed 101"
using OnRun = std::function<void(const std::string& text)>;

/// A run that cannot be made is told as the verdict's trouble.
[[nodiscard]] Verdict put_to_test(const Claim& claim, const Trial& trial, const OnRun& on_run);

}  // namespace p2p::sim
