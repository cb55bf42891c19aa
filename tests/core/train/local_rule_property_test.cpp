// What holds for local rules whatever the gradients, rates and displacements are.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "tests/core/train/rule_walk.hpp"

namespace p2p::core {
namespace {

constexpr std::size_t floats = 7;

std::vector<float> drawn(Rng& rng, std::size_t count, double scale) {
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>(scale * rng.normal());
    return values;
}

/// Steps, displacements of parts, outer steps, in an order drawn from `seed`.
RuleWalk walked(const LocalSpec& local, double momentum, std::uint64_t seed, bool is_displaced) {
    Rng rng(seed);
    RuleWalk walk(local, drawn(rng, floats, 1), momentum);
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t what = rng.below(8);
        const std::size_t offset = rng.below(floats);
        const auto d = drawn(rng, 1 + rng.below(floats - offset), 0.1);
        const auto slope = static_cast<float>(rng.uniform());
        const auto bias = static_cast<float>(rng.normal());
        const double rate = 0.1 * rng.uniform();
        if (what == 0) {
            walk.rule.on_outer_stepped(walk.x);
        } else if (what <= 2) {
            if (is_displaced) walk.displace(offset, d);
        } else {
            walk.step(rate, slope, bias);
        }
    }
    return walk;
}

TEST(LocalRule, AtItsZeroIsPlainToTheBit) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const double momentum : {0.0, 0.9}) {
            const auto plain = walked({}, momentum, seed, true).x;
            EXPECT_EQ(plain, walked({Local::compensate, 0, 0}, momentum, seed, true).x);
            EXPECT_EQ(plain, walked({Local::anchor, 0, 0.5}, momentum, seed, true).x);
            EXPECT_EQ(plain, walked({Local::global_hint, 0, 0}, momentum, seed, true).x);
        }
        EXPECT_EQ(walked({}, 0, seed, true).x, walked({Local::predict, 0, 0}, 0, seed, true).x);
        // Its mu weighs displacements, too: it is plain where there are none.
        EXPECT_EQ(
            walked({}, 0.9, seed, false).x,
            walked({Local::quasi_global, 0, 0}, 0.9, seed, false).x);
    }
}

class OfEachKind : public testing::TestWithParam<LocalSpec> {};

TEST_P(OfEachKind, TheSameCallsGiveTheSameBits) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(walked(GetParam(), 0.9, seed, true).x, walked(GetParam(), 0.9, seed, true).x);
}

TEST_P(OfEachKind, ItIsNotPlain) {
    EXPECT_NE(walked({}, 0.9, 3, true).x, walked(GetParam(), 0.9, 3, true).x);
}

TEST_P(OfEachKind, NothingOfTheTimeBeforeARestartIsLeft) {
    RuleWalk old = walked(GetParam(), 0.9, 5, true);
    old.rule.restart();
    RuleWalk fresh(GetParam(), old.x, 0.9);
    const auto momentum = old.optimizer.state().front().values;
    std::copy(momentum.begin(), momentum.end(), fresh.optimizer.state().front().values.begin());
    fresh.steps = old.steps;
    for (int i = 0; i < 10; ++i) {
        old.step(0.1, 0.5F, 0.1F);
        fresh.step(0.1, 0.5F, 0.1F);
        old.displace(0, {0.25F});
        fresh.displace(0, {0.25F});
    }
    EXPECT_EQ(fresh.x, old.x);
}

INSTANTIATE_TEST_SUITE_P(LocalRules, OfEachKind, testing::ValuesIn(each_rule()));

/// Lin et al. 2021, section 4: on one node it is quasi-hyperbolic momentum (Ma and Yarats 2019)
/// whose average keeps mu + (1 - mu) * beta of itself.
TEST(QuasiGlobal, OfOneNodeIsQuasiHyperbolicMomentum) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Rng rng(seed);
        const double mu = rng.uniform();
        const double beta = 0.99 * rng.uniform();
        RuleWalk walk({Local::quasi_global, mu, 0}, {1}, beta);
        double x = 1;
        double average = 0;
        for (int i = 0; i < 100; ++i) {
            const double lr = 0.01 + 0.01 * rng.uniform();
            const auto bias = static_cast<float>(rng.normal());
            walk.step(lr, 0.5F, bias);
            const double g = 0.5 * x + double{bias};
            x -= lr * (beta * average + g);
            average = (mu + (1 - mu) * beta) * average + (1 - mu) * g;
            ASSERT_NEAR(x, double{walk.x[0]}, 1e-4) << "seed " << seed << ", step " << i;
        }
    }
}

TEST(QuasiGlobal, ForgetsADirectionThatMixingUndoes) {
    const auto momentum_left = [](const LocalSpec& local) {
        RuleWalk walk(local, {0}, 0.9);
        for (int i = 0; i < 300; ++i) {
            walk.step(0.1, 0, 1);
            walk.displace(0, {-walk.x[0]});
        }
        return walk.optimizer.state().front().values[0];
    };
    EXPECT_NEAR(1, momentum_left({Local::quasi_global, 0.9, 0}), 0.01);  // the newest gradient
    EXPECT_NEAR(10, momentum_left({}), 0.01);                            // 1 / (1 - 0.9) of them
}

/// Two nodes, each drawn to a place of its own, averaged after each `steps` steps.
float distance_to_middle(double mu, int steps) {
    RuleWalk low({Local::quasi_global, mu, 0}, {0.5F}, 0.9);
    RuleWalk high({Local::quasi_global, mu, 0}, {0.5F}, 0.9);
    for (int round = 0; round < 4000; ++round) {
        for (int i = 0; i < steps; ++i) {
            low.step(0.01, 1, 1);
            high.step(0.01, 1, -1);
        }
        const float half = 0.5F * (high.x[0] - low.x[0]);
        low.displace(0, {half});
        high.displace(0, {-half});
    }
    return std::abs(low.x[0]);
}

TEST(QuasiGlobal, AgreesOnTheMiddleHoweverManyStepsARoundHas) {
    for (const double mu : {0.0, 0.5, 0.9}) {
        for (const int steps : {1, 2, 4, 16, 40})
            EXPECT_LT(distance_to_middle(mu, steps), 0.01F) << "mu " << mu << ", H " << steps;
    }
}

TEST(Compensate, NeverTurnsADisplacementRound) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Rng rng(seed);
        RuleWalk walk({Local::compensate, std::exp(4 * rng.normal()), 0}, {0}, 0);
        for (int i = 0; i < 50; ++i) {
            walk.step(0.1, 0, static_cast<float>(10 * rng.normal()));
            const auto d = static_cast<float>(rng.normal());
            const float before = walk.x[0];
            walk.displace(0, {d});
            const float moved = walk.x[0] - before;
            EXPECT_GE(moved * d, -1e-5F);
            EXPECT_LE(std::abs(moved), std::abs(d) + 1e-5F);
        }
    }
}

TEST(Anchor, DrawsItsPullsByTheNumberOfTheStepAlone) {
    const std::vector<float> origin{0};
    LocalRule one({Local::anchor, 0.2, 0.5}, 1, 17);
    LocalRule other({Local::anchor, 0.2, 0.5}, 1, 17);
    one.on_outer_stepped(origin);
    other.on_outer_stepped(origin);
    int pulls = 0;
    for (std::uint64_t step = 0; step < 10'000; ++step) {
        const bool is_pull = one.is_pull(StepCount{step});
        pulls += is_pull ? 1 : 0;
        if (step % 3 != 0) continue;
        EXPECT_EQ(is_pull, other.is_pull(StepCount{step}));
    }
    EXPECT_NEAR(2'000, pulls, 160);  // four deviations
}

}  // namespace
}  // namespace p2p::core
