#include "core/nn/schedule.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

constexpr ScheduleSpec cosine{
    .kind = ScheduleKind::cosine, .base_lr = 0.05, .warmup = 0.1, .final_lr = 0.001};
constexpr ScheduleSpec constant{
    .kind = ScheduleKind::constant, .base_lr = 0.05, .warmup = 0.1, .final_lr = 0.001};

TEST(LearningRate, RisesInAStraightLineToTheScaledPeak) {
    EXPECT_EQ(0, learning_rate(cosine, 0, 2));
    EXPECT_NEAR(0.05, learning_rate(cosine, 0.05, 2), 1e-12);
    EXPECT_NEAR(0.1, learning_rate(cosine, 0.1, 2), 1e-12);
}

TEST(LearningRate, EndsAtTheFinalRateWhateverTheScale) {
    EXPECT_NEAR(0.001, learning_rate(cosine, 1, 1), 1e-12);
    EXPECT_NEAR(0.001, learning_rate(cosine, 1, 4), 1e-12);
}

TEST(LearningRate, IsHalfWayDownInTheMiddleOfTheCosine) {
    EXPECT_NEAR((0.05 + 0.001) / 2, learning_rate(cosine, 0.55, 1), 1e-12);
}

TEST(LearningRate, NeverJumps) {
    for (const ScheduleSpec& spec : {cosine, constant}) {
        for (double progress = 0; progress < 1; progress += 1e-4) {
            const double step =
                learning_rate(spec, progress + 1e-4, 3) - learning_rate(spec, progress, 3);
            ASSERT_LT(std::abs(step), 0.15 * 1e-4 / 0.1 * 1.01) << progress;
        }
    }
}

TEST(LearningRate, NeverRisesAfterTheWarmUp) {
    for (double progress = 0.1; progress < 1; progress += 1e-3)
        ASSERT_GE(learning_rate(cosine, progress, 1), learning_rate(cosine, progress + 1e-3, 1));
}

TEST(LearningRate, StaysAtThePeakWhereItIsConstant) {
    EXPECT_EQ(0.05, learning_rate(constant, 0.1, 1));
    EXPECT_EQ(0.05, learning_rate(constant, 1, 1));
}

TEST(LearningRate, StartsAtThePeakWithoutWarmUp) {
    ScheduleSpec spec = cosine;
    spec.warmup = 0;
    EXPECT_EQ(0.05, learning_rate(spec, 0, 1));
}

TEST(LearningRate, TakesProgressOutsideOfTheJobForItsNearestEnd) {
    EXPECT_EQ(learning_rate(cosine, 0, 1), learning_rate(cosine, -1, 1));
    EXPECT_EQ(learning_rate(cosine, 1, 1), learning_rate(cosine, 1.5, 1));
}

TEST(ScheduleScale, IsOneForOneMemberOrNone) {
    for (const auto scale : {ScheduleScale::none, ScheduleScale::sqrt, ScheduleScale::linear}) {
        EXPECT_EQ(1, schedule_scale(scale, 1));
        EXPECT_EQ(1, schedule_scale(scale, 0));
    }
}

TEST(ScheduleScale, FollowsTheMembersByItsKind) {
    EXPECT_EQ(1, schedule_scale(ScheduleScale::none, 9));
    EXPECT_EQ(3, schedule_scale(ScheduleScale::sqrt, 9));
    EXPECT_EQ(9, schedule_scale(ScheduleScale::linear, 9));
}

TEST(ScheduleScale, OfTheSquareRootIsAtMostFour) {
    EXPECT_EQ(4, schedule_scale(ScheduleScale::sqrt, 16));
    EXPECT_EQ(4, schedule_scale(ScheduleScale::sqrt, 4096));
}

}  // namespace
}  // namespace p2p::core
