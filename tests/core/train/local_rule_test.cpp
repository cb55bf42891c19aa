// Each local rule on numbers small enough to follow by hand; what always holds is in
// local_rule_property_test.

#include "core/train/local_rule.hpp"

#include <gtest/gtest.h>

#include "tests/core/train/rule_walk.hpp"

namespace p2p::core {
namespace {

TEST(QuasiGlobal, CountsWhatMixingMovedIntoItsMomentum) {
    RuleWalk walk({Local::quasi_global, 0.5, 0}, {0}, /*momentum=*/0.5);
    walk.step(0.5, 0, 1);  // m = 1
    EXPECT_FLOAT_EQ(-0.5F, walk.x[0]);
    walk.displace(0, {0.25F});  // (x_before - x_after) / lr = (0 + 0.25) / 0.5 = 0.5
    walk.step(0.5, 0, 1);       // m_hat = 0.5 * 0.5, m = 0.5 * 0.25 + 1
    EXPECT_FLOAT_EQ(-0.25F - 0.5F * 1.125F, walk.x[0]);
}

TEST(QuasiGlobal, TakesTheMeanOverTheStepsThatAMergeIsForOnce) {
    RuleWalk walk({Local::quasi_global, 0.5, 0}, {0}, /*momentum=*/0.5);
    const auto momentum = [&] {
        return walk.optimizer.state().front().values[0];
    };
    walk.step(0.5, 0, 1);
    walk.step(0.5, 0, 1);  // m_hat = 0.5 * 1
    walk.displace(0, {0});
    walk.step(0.5, 0, 1);  // m_hat = 0.5 * 0.5 + 0.5 * 1.25; a merge has come after two steps
    EXPECT_FLOAT_EQ(0.5F * 0.875F + 1, momentum());
    walk.step(0.5, 0, 1);  // the span is not over
    EXPECT_FLOAT_EQ(0.5F * 0.875F + 1, momentum());
    walk.displace(0, {0.75F});  // (x_before - x_after) / sum(lr) = 1.4375 - 0.75
    walk.step(0.5, 0, 1);       // m_hat = 0.25 * 0.875 + 0.75 * 0.6875
    EXPECT_FLOAT_EQ(0.5F * (0.25F * 0.875F + 0.75F * 0.6875F) + 1, momentum());
}

TEST(QuasiGlobal, GoesOnFromTheMomentumThatTheOptimizerBrings) {
    RuleWalk walk({Local::quasi_global, 0.5, 0}, {0}, /*momentum=*/0.5);
    walk.optimizer.state().front().values[0] = 4;  // of a checkpoint
    walk.step(1, 0, 1);
    EXPECT_FLOAT_EQ(-3, walk.x[0]);
}

TEST(Compensate, TakesItsShareOfEachPartOfADisplacement) {
    RuleWalk walk({Local::compensate, 2, 0}, {0, 0}, 0);
    walk.step(0.5, 0, 2);  // x = -1; the mean of g * g is 0.05 * 4
    walk.displace(1, {1});
    EXPECT_FLOAT_EQ(-1, walk.x[0]);
    EXPECT_FLOAT_EQ(-1 + 1 - 0.5F * 2 * 0.2F, walk.x[1]);
}

TEST(Compensate, AddsADisplacementAsItIsBeforeTheFirstStepAndAfterTheEnd) {
    RuleWalk walk({Local::compensate, 2, 0}, {0}, 0);
    walk.displace(0, {1});
    EXPECT_EQ(1, walk.x[0]);
    walk.step(0.5, 0, 2);
    walk.rule.end();
    walk.displace(0, {1});
    EXPECT_EQ(1, walk.x[0]);  // 1 - 0.5 * 2 + 1
}

TEST(Anchor, PullsBackByRateTimesStrengthOverP) {
    LocalRule rule({Local::anchor, 0.5, 0.25}, 1, 17);
    rule.on_outer_stepped(std::vector<float>{1});
    std::vector<float> x{3};
    rule.pull(x, 0.5);
    EXPECT_FLOAT_EQ(3 - 0.25F * 2, x[0]);
    rule.pull(x, 100);
    EXPECT_FLOAT_EQ(1, x[0]);  // no further than the anchor
}

TEST(Anchor, TakesGradientStepsOfTheMorePerStepThatItPulls) {
    LocalRule rule({Local::anchor, 0.2, 0.5}, 1, 17);
    EXPECT_DOUBLE_EQ(0.8, rule.gradient_rate(0.8));  // no anchor, no pulls
    rule.on_outer_stepped(std::vector<float>{1});
    EXPECT_DOUBLE_EQ(1, rule.gradient_rate(0.8));
}

TEST(Anchor, IsWhereTheReplicaStoodAtTheNewestOuterStep) {
    LocalRule rule({Local::anchor, 0.5, 0.5}, 1, 17);
    rule.on_outer_stepped(std::vector<float>{1});
    rule.on_outer_stepped(std::vector<float>{2});
    std::vector<float> x{2};
    rule.pull(x, 1);
    EXPECT_EQ(2, x[0]);
}

TEST(GlobalHint, TakesGradientsWhereTheMeshHasGoneByTheMovementOfTheLastRound) {
    RuleWalk walk({Local::global_hint, 0.5, 0}, {0}, 0);
    walk.step(0.125, 0, 1);
    walk.step(0.125, 0, 1);
    EXPECT_FLOAT_EQ(-0.125F, walk.gradient_at[0]);  // no round is over, no hint
    walk.displace(0, {-0.25F});                     // from 0 to -0.5 at rates of 0.25: 2 a rate
    walk.step(0.125, 0, 1);
    EXPECT_FLOAT_EQ(-0.5F, walk.gradient_at[0]);  // just merged: it stands where the mesh is
    walk.step(0.125, 0, 1);
    EXPECT_FLOAT_EQ(-0.625F - 0.5F * 2 * 0.125F, walk.gradient_at[0]);
    EXPECT_FLOAT_EQ(-0.5F - 2 * 0.125F, walk.x[0]);  // what it moved by is its own steps
}

TEST(GlobalHint, TakesSeveralMergesWithoutAStepBetweenForOneRound) {
    RuleWalk walk({Local::global_hint, 0.5, 0}, {0, 0}, 0);
    walk.step(0.125, 0, 1);
    walk.step(0.125, 0, 1);
    walk.displace(0, {-0.25F});
    walk.displace(1, {0.25F});
    walk.step(0.125, 0, 1);
    walk.step(0.125, 0, 1);
    EXPECT_FLOAT_EQ(-0.625F - 0.5F * 2 * 0.125F, walk.gradient_at[0]);
    EXPECT_FLOAT_EQ(0 - 0.125F, walk.gradient_at[1]);  // it came back to where it was
}

TEST(Predict, TakesTheGradientWhereMomentumAloneWouldLead) {
    RuleWalk walk({Local::predict, 0, 0}, {1}, /*momentum=*/0.5);
    walk.step(0.25, 1, 0);
    EXPECT_FLOAT_EQ(1, walk.gradient_at[0]);  // no momentum yet
    EXPECT_FLOAT_EQ(0.75F, walk.x[0]);
    walk.step(0.25, 1, 0);
    EXPECT_FLOAT_EQ(0.5F, walk.gradient_at[0]);        // 0.75 - 0.25 * 1
    EXPECT_FLOAT_EQ(0.75F - 0.25F * 1.0F, walk.x[0]);  // m = 0.5 * 1 + 0.5
}

}  // namespace
}  // namespace p2p::core
