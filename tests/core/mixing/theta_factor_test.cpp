// The factor of modulo's theta: rises when it was exceeded, falls when all goes well, stays in
// range.

#include "core/mixing/theta_factor.hpp"

#include <gtest/gtest.h>

#include "core/mixing/step_size.hpp"

namespace p2p::core {
namespace {

TEST(ThetaFactor, DoublesUpToSixteenWhereItWasExceeded) {
    ThetaFactor theta;
    for (const float expected : {4.0F, 8.0F, 16.0F, 16.0F}) {
        theta.on_exceeded();
        EXPECT_EQ(expected, theta.factor());
    }
}

TEST(ThetaFactor, FallsByAQuarterAfterEachEightGoodSwapsButNotBelowTwo) {
    ThetaFactor theta;
    theta.on_exceeded();
    for (const float expected : {4.0F, 3.0F, 2.25F, 2.0F, 2.0F}) {
        EXPECT_EQ(expected, theta.factor());
        for (int i = 0; i < 8; ++i)
            theta.on_applied(theta.factor());
    }
}

TEST(ThetaFactor, CountsGoodSwapsAnewAfterABadOne) {
    ThetaFactor theta;
    for (int i = 0; i < 7; ++i)
        theta.on_applied(2);
    theta.on_exceeded();
    theta.on_applied(4);
    EXPECT_EQ(4.0F, theta.factor());
}

TEST(ThetaFactor, TakesOverALargerOneAndThenFallsTogetherWithIt) {
    ThetaFactor one;
    ThetaFactor other;
    other.on_exceeded();
    for (int i = 0; i < 3; ++i)
        one.on_applied(2);
    for (int i = 0; i < 60; ++i) {
        const float factor = one.factor();
        one.on_applied(other.factor());
        other.on_applied(factor);
        EXPECT_EQ(one.factor(), other.factor());
        EXPECT_TRUE(i > 0 || one.factor() == 4.0F);
    }
    EXPECT_EQ(2.0F, one.factor());
}

TEST(GammaMax, HoldsDownOnlyWhatRoundsCoarserThanItsDistance) {
    EXPECT_EQ(1.0F / 32, gamma_max(CodecId::modulo_1));
    EXPECT_EQ(1.0F / 8, gamma_max(CodecId::modulo_2));
    for (const CodecName& codec : codec_names) {
        const bool is_coarse = codec.id == CodecId::modulo_1 || codec.id == CodecId::modulo_2;
        EXPECT_EQ(is_coarse, gamma_max(codec.id) < 1) << codec.name;
    }
}

}  // namespace
}  // namespace p2p::core
