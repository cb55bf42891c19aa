// The outer step, by hand and by what must hold of it.

#include "core/train/outer.hpp"

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

using Floats = std::vector<float>;

TEST(OuterMomentum, IsNothingAtRateOneWithoutMomentum) {
    OuterMomentum outer(Floats{1, 2});
    const OuterSettings plain{.rate = 1, .momentum = 0};
    EXPECT_EQ((Floats{0, 0}), outer.step(Floats{3, 1}, plain));
    EXPECT_EQ((Floats{0, 0}), outer.step(Floats{8, 8}, plain));
}

TEST(OuterMomentum, TakesThePublishedStep) {
    // anchor 1, replica 0: pseudo-gradient 1, velocity 1, Nesterov direction 1 + 0.5 * 1.
    OuterMomentum nesterov(Floats{1});
    const OuterSettings settings{.rate = 0.5, .momentum = 0.5};
    EXPECT_EQ((Floats{0.25F}), nesterov.step(Floats{0}, settings));  // to 1 - 0.75
    // anchor 0.25, replica 0.25: nothing done meanwhile; velocity 0.5 carries on.
    EXPECT_EQ((Floats{-0.125F}), nesterov.step(Floats{0.25F}, settings));

    OuterMomentum heavy_ball(Floats{1});
    const OuterSettings plain{.rate = 0.5, .momentum = 0.5, .looks_ahead = false};
    EXPECT_EQ((Floats{0.5F}), heavy_ball.step(Floats{0}, plain));
}

TEST(OuterMomentum, AtNoStrengthMovesNothingAndCountsFromWhereTheReplicaStands) {
    OuterMomentum outer(Floats{5});
    const OuterSettings none{.rate = 0.7, .momentum = 0.9, .looks_ahead = true, .strength = 0};
    EXPECT_EQ((Floats{0}), outer.step(Floats{1}, none));
    EXPECT_EQ((Floats{0}), outer.step(Floats{9}, none));
}

TEST(OuterMomentum, CarriesASteadyMovementOnByRateOverOneLessMomentum) {
    OuterMomentum outer(Floats{0});
    const OuterSettings settings{.rate = 0.7, .momentum = 0.8};
    Floats replica{0};
    float moved = 0;
    for (int i = 0; i < 200; ++i) {
        const float before = replica[0];
        replica[0] += 1;  // the local steps
        replica[0] += outer.step(replica, settings)[0];
        moved = replica[0] - before;
    }
    EXPECT_NEAR(0.7 / (1 - 0.8), moved, 1e-3);
}

}  // namespace
}  // namespace p2p::core
