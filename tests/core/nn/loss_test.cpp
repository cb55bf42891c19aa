#include "core/nn/loss.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "core/nn/elementary.hpp"

namespace p2p::core {
namespace {

using Labels = std::vector<std::uint8_t>;

TEST(CrossEntropy, OfUniformLogitsIsTheLogarithmOfTheClasses) {
    for (const std::size_t classes : {2U, 10U, 200U}) {
        const std::vector<float> logits(3 * classes, 4.5F);
        EXPECT_NEAR(std::log(classes), cross_entropy(logits, Labels{0, 1, 1}).loss(), 1e-6);
    }
}

TEST(CrossEntropy, DoesNotChangeWhenAllLogitsMoveTogether) {
    const std::vector<float> low{1, 2, 3};
    const std::vector<float> high{10001, 10002, 10003};
    EXPECT_EQ(cross_entropy(low, Labels{0}).loss_sum, cross_entropy(high, Labels{0}).loss_sum);
}

TEST(CrossEntropy, OfHugeLogitsIsTheirDistance) {
    const std::vector<float> logits{3e38F, -3e38F};
    EXPECT_EQ(0.0, cross_entropy(logits, Labels{0}).loss_sum);
    EXPECT_NEAR(6e38, cross_entropy(logits, Labels{1}).loss_sum, 1e32);
}

TEST(CrossEntropy, CountsTheLabelsThatHaveTheLargestLogit) {
    const std::vector<float> logits{0, 2, 1, 5, 4, 3};
    EXPECT_EQ(2U, cross_entropy(logits, Labels{1, 0}).correct);
    EXPECT_EQ(1U, cross_entropy(logits, Labels{1, 1}).correct);
    EXPECT_EQ(0U, cross_entropy(logits, Labels{2, 2}).correct);
}

TEST(CrossEntropyBackward, LeavesProbabilitiesLessTheLabelOverTheBatch) {
    std::vector<float> logits{std::log(1.0F), std::log(2.0F), std::log(5.0F), 0, 0, 0};
    (void)cross_entropy_backward(logits, Labels{2, 0});
    const std::vector<double> expected{
        0.125 / 2, 0.25 / 2, (0.625 - 1) / 2, (1.0 / 3 - 1) / 2, 1.0 / 6, 1.0 / 6};
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(expected[i], logits[i], 1e-7);
}

TEST(CrossEntropyBackward, ReportsWhatCrossEntropyReports) {
    std::vector<float> logits{0.3F, -1, 2, 7, 0, 1};
    const BatchResult expected = cross_entropy(logits, Labels{2, 1});
    EXPECT_EQ(expected, cross_entropy_backward(logits, Labels{2, 1}));
}

TEST(CrossEntropyBackward, SumsToZeroOverEachSample) {
    std::vector<float> logits{0.3F, -1, 2, 7};
    (void)cross_entropy_backward(logits, Labels{2});
    EXPECT_NEAR(0, std::accumulate(logits.begin(), logits.end(), 0.0), 1e-7);
}

TEST(CrossEntropy, AbortsOnALabelThatTheModelDoesNotHave) {
    const std::vector<float> logits{1, 2};
    EXPECT_DEATH((void)cross_entropy(logits, Labels{2}), "broken invariant");
}

TEST(Exponential, IsThatOfTheStandardLibraryWithinTwoUnits) {
    for (float x = -86.9F; x < 88.0F; x += 0.00731F) {
        const double expected = std::exp(static_cast<double>(x));
        ASSERT_NEAR(1, static_cast<double>(exponential(x)) / expected, 2 * 0x1p-24) << x;
    }
}

TEST(Exponential, IsCutAtItsEndsAndKeepsNaN) {
    EXPECT_EQ(exponential(88.0F), exponential(1e30F));
    EXPECT_EQ(exponential(-87.0F), exponential(-INFINITY));
    EXPECT_TRUE(std::isnan(exponential(NAN)));
}

TEST(HyperbolicTangent, IsThatOfTheStandardLibraryWithinThreeUnits) {
    for (float x = -12.0F; x < 12.0F; x += 0.00113F) {
        const double expected = std::tanh(static_cast<double>(x));
        ASSERT_NEAR(expected, hyperbolic_tangent(x), 3 * 0x1p-24 * std::abs(expected)) << x;
    }
}

TEST(HyperbolicTangent, IsOddReachesOneAndKeepsNaN) {
    for (const float x : {0.0F, 1e-20F, 0.3F, 0.7F, 5.0F})
        EXPECT_EQ(-hyperbolic_tangent(x), hyperbolic_tangent(-x));
    EXPECT_EQ(1.0F, hyperbolic_tangent(INFINITY));
    EXPECT_TRUE(std::isnan(hyperbolic_tangent(NAN)));
}

}  // namespace
}  // namespace p2p::core
