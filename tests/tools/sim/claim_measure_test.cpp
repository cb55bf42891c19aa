// What paired outcomes say of a claim: intervals, targets that are missed, equal bytes.

#include "tools/sim/claim_measure.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace p2p::sim {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A run whose looks are a second and a megabyte apart.
Outcome run_of(const std::vector<double>& losses) {
    Outcome outcome;
    outcome.is_finished = true;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const auto at = static_cast<double>(i);
        outcome.curve.push_back(
            {.seconds = at,
             .samples = at,
             .megabytes = at,
             .loss_median = losses[i],
             .accuracy_median = 0,
             .distance_ratio = 0});
    }
    for (int i = 0; i < 3; ++i) {
        outcome.nodes.emplace_back();
        outcome.nodes.back().loss = losses.back();
        outcome.nodes.back().accuracy = 1 - losses.back() / 10;
    }
    return outcome;
}

std::vector<Outcome> ending_with(const std::vector<double>& losses) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(losses.size());
    for (const double loss : losses)
        outcomes.push_back(run_of({2.3, loss}));
    return outcomes;
}

Claim claim_on(Measure measure, double bound) {
    Claim claim;
    claim.measure = measure;
    claim.bound = bound;
    return claim;
}

TEST(ClaimMeasure, IntervalsAreStudentsOfThePairs) {
    // Differences 0.1, 0.2, 0.3: mean 0.2, standard error 0.1 / sqrt(3), 4.303 of it each way.
    const Finding finding = compare_runs(
        claim_on(Measure::loss, 1), ending_with({0.6, 0.8, 1.0}), ending_with({0.5, 0.6, 0.7}), {});
    EXPECT_NEAR(0.2, finding.value, 1e-12);
    EXPECT_NEAR(0.2 - 4.303 * 0.1 / std::sqrt(3), finding.low, 1e-9);
    EXPECT_NEAR(0.2 + 4.303 * 0.1 / std::sqrt(3), finding.high, 1e-9);
    EXPECT_TRUE(finding.holds);
}

TEST(ClaimMeasure, WhatPairsHaveInCommonDoesNotWidenTheInterval) {
    const Finding finding = compare_runs(
        claim_on(Measure::loss, 0.1), ending_with({0.6, 1.6}), ending_with({0.5, 1.5}), {});
    EXPECT_NEAR(finding.low, finding.high, 1e-9);
}

TEST(ClaimMeasure, HoldsOnlyWhereTheWholeIntervalIsAtOrUnderTheBound) {
    const auto recipe = ending_with({0.6, 0.8, 1.0});
    const auto baseline = ending_with({0.5, 0.6, 0.7});
    const double high = 0.2 + 4.303 * 0.1 / std::sqrt(3);
    EXPECT_FALSE(compare_runs(claim_on(Measure::loss, high - 1e-3), recipe, baseline, {}).holds);
    EXPECT_TRUE(compare_runs(claim_on(Measure::loss, high + 1e-3), recipe, baseline, {}).holds);
}

TEST(ClaimMeasure, TheWidthOfAnIntervalFallsWithTheDegreesTowardsTheNormal) {
    for (std::size_t degrees = 1; degrees < 60; ++degrees)
        EXPECT_GT(student_t95(degrees), student_t95(degrees + 1)) << degrees;
    EXPECT_NEAR(2.042, student_t95(30), 1e-3);
    EXPECT_NEAR(1.96, student_t95(100'000), 1e-3);
}

TEST(ClaimMeasure, ATimeIsTakenWhereTheLineBetweenTwoLooksMeetsTheTarget) {
    const std::vector<Outcome> recipe{run_of({2, 1, 0}), run_of({2, 1, 0})};
    const std::vector<Outcome> baseline{run_of({2, 1.8, 1.6, 1.4, 0.4}), run_of({2, 2, 2, 0})};
    const Yardstick yardstick{.target_loss = 1.5, .megabytes = {}};
    // 0.5 s against 2.5 s, and against 2.25 s: the geometric mean of 1/5 and 1/4.5.
    for (const Measure measure : {Measure::time, Measure::bytes}) {
        const Finding finding = compare_runs(claim_on(measure, 1), recipe, baseline, yardstick);
        EXPECT_NEAR(1 / std::sqrt(5 * 4.5), finding.value, 1e-9);
        EXPECT_EQ(0U, finding.recipe_short + finding.baseline_short);
    }
}

TEST(ClaimMeasure, ARunThatMissesTheTargetCountsAsItsWholeTimeAndIsTold) {
    const std::vector<Outcome> recipe{run_of({2, 1, 0}), run_of({2, 1, 0})};
    const std::vector<Outcome> baseline{run_of({2, 2, 2, 2, 2}), run_of({2, 2, 2, 2, 2})};
    const Yardstick yardstick{.target_loss = 1, .megabytes = {}};
    const Finding finding = compare_runs(claim_on(Measure::time, 0.5), recipe, baseline, yardstick);
    EXPECT_NEAR(0.25, finding.value, 1e-9);
    EXPECT_EQ(2U, finding.baseline_short);
    EXPECT_TRUE(finding.holds);
}

TEST(ClaimMeasure, ARecipeThatMissesTheTargetDoesNotHoldHoweverSoonItEnds) {
    const std::vector<Outcome> recipe{run_of({2, 2}), run_of({2, 2})};
    const std::vector<Outcome> baseline{run_of({2, 2, 2, 1}), run_of({2, 2, 2, 1})};
    const Yardstick yardstick{.target_loss = 1, .megabytes = {}};
    const Finding finding = compare_runs(claim_on(Measure::time, 0.5), recipe, baseline, yardstick);
    EXPECT_LT(finding.high, 0.5);
    EXPECT_EQ(2U, finding.recipe_short);
    EXPECT_FALSE(finding.holds);
}

TEST(ClaimMeasure, AtEqualBytesTheDearerRunIsReadWhereTheThriftierEnds) {
    const std::vector<Outcome> recipe{run_of({2, 1}), run_of({2, 1})};
    const std::vector<Outcome> baseline{run_of({2, 1.8, 0.2}), run_of({2, 1.6, 0.2})};
    Yardstick yardstick;
    yardstick.megabytes = megabytes_of_both(recipe, baseline);
    EXPECT_EQ((std::vector<double>{1, 1}), yardstick.megabytes);
    const Finding finding =
        compare_runs(claim_on(Measure::loss_at_bytes, 0), recipe, baseline, yardstick);
    EXPECT_NEAR(-0.7, finding.value, 1e-9);
}

TEST(ClaimMeasure, ALossThatIsNoNumberCountsAsThatOfGuessing) {
    const Yardstick yardstick{.target_loss = 0, .loss_most = 2.5, .megabytes = {}};
    const Finding finding = compare_runs(
        claim_on(Measure::loss, 0), ending_with({0.5, 0.5}), ending_with({nothing, 70}), yardstick);
    EXPECT_NEAR(-2, finding.value, 1e-12);
    EXPECT_TRUE(finding.holds);
}

TEST(ClaimMeasure, AccuracyIsWhatTheRecipeLacksInPoints) {
    const Finding finding = compare_runs(
        claim_on(Measure::accuracy, 3), ending_with({1.2, 1.2}), ending_with({1, 1}), {});
    EXPECT_NEAR(2, finding.value, 1e-9);
}

TEST(ClaimMeasure, OfTwoTriesTheOneThatMissesTheTargetIsNeverBetter) {
    const Yardstick yardstick{.target_loss = 1, .megabytes = {}};
    const double reaches = score(Measure::time, run_of({2, 2, 2, 2, 1}), yardstick, 0);
    EXPECT_LT(reaches, score(Measure::time, run_of({2, 1.1}), yardstick, 0));
}

}  // namespace
}  // namespace p2p::sim
