#include "core/nn/optimizer.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::core {
namespace {

using Doubles = std::vector<double>;

constexpr std::size_t count = 37;  // no multiple of a packet

std::vector<float> draw(std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>(rng.normal());
    return values;
}

/// Twenty steps down drawn gradients.
std::vector<float> walk(Optimizer& optimizer, std::vector<float> x, std::uint64_t first_gradient) {
    for (std::uint64_t step = 0; step < 20; ++step)
        optimizer.step(x, draw(first_gradient + step), 0.05);
    return x;
}

std::vector<float> walk(const OptimizerSpec& spec, KernelLevel level) {
    Optimizer optimizer(spec, count, level);
    return walk(optimizer, draw(1), 100);
}

void expect_near(const Doubles& expected, const std::vector<float>& values) {
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_NEAR(expected[i], values[i], 3e-6) << i;
}

Doubles sgd_by_hand(const OptimizerSpec& spec) {
    const std::vector<float> start = draw(1);
    Doubles x(start.begin(), start.end());
    Doubles buffer(count);
    for (std::uint64_t step = 0; step < 20; ++step) {
        const std::vector<float> gradient = draw(100 + step);
        for (std::size_t i = 0; i < count; ++i) {
            const double g = static_cast<double>(gradient[i]) + spec.weight_decay * x[i];
            buffer[i] = step == 0 ? g : spec.momentum * buffer[i] + g;
            x[i] -= 0.05 * buffer[i];
        }
    }
    return x;
}

Doubles adamw_by_hand(const OptimizerSpec& spec) {
    const std::vector<float> start = draw(1);
    Doubles x(start.begin(), start.end());
    Doubles m(count);
    Doubles v(count);
    for (int t = 1; t <= 20; ++t) {
        const std::vector<float> gradient = draw(static_cast<std::uint64_t>(99 + t));
        for (std::size_t i = 0; i < count; ++i) {
            const double g = static_cast<double>(gradient[i]);
            x[i] -= 0.05 * spec.weight_decay * x[i];
            m[i] = spec.beta1 * m[i] + (1 - spec.beta1) * g;
            v[i] = spec.beta2 * v[i] + (1 - spec.beta2) * g * g;
            const double unbiased_m = m[i] / (1 - std::pow(spec.beta1, t));
            const double unbiased_v = v[i] / (1 - std::pow(spec.beta2, t));
            x[i] -= 0.05 * unbiased_m / (std::sqrt(unbiased_v) + spec.epsilon);
        }
    }
    return x;
}

TEST(Sgd, FollowsPytorchsFormulaWithMomentumAndDecay) {
    const OptimizerSpec spec{.momentum = 0.9, .weight_decay = 0.01};
    expect_near(sgd_by_hand(spec), walk(spec, best_kernel_level()));
}

TEST(Sgd, FollowsPytorchsFormulaWithoutMomentum) {
    const OptimizerSpec spec{.momentum = 0, .weight_decay = 0.1};
    expect_near(sgd_by_hand(spec), walk(spec, best_kernel_level()));
}

TEST(Adamw, FollowsPytorchsFormula) {
    const OptimizerSpec spec{.kind = OptimizerKind::adamw, .weight_decay = 0.1, .epsilon = 1e-3};
    expect_near(adamw_by_hand(spec), walk(spec, best_kernel_level()));
}

TEST(Adamw, MovesEachParameterByTheRateAtItsFirstStep) {
    Optimizer optimizer({.kind = OptimizerKind::adamw}, 3, best_kernel_level());
    std::vector<float> x{1, 1, 1};
    optimizer.step(x, std::vector<float>{1e-3F, -2, 500}, 0.25);
    EXPECT_NEAR(0.75, x[0], 1e-4);
    EXPECT_NEAR(1.25, x[1], 1e-6);
    EXPECT_NEAR(0.75, x[2], 1e-6);
}

class EachOptimizer : public testing::TestWithParam<OptimizerSpec> {};

TEST_P(EachOptimizer, GivesTheSameBitsAtEachKernelLevel) {
    for (const KernelLevel level : kernel_levels) {
        if (level <= best_kernel_level()) {
            EXPECT_EQ(walk(GetParam(), KernelLevel::scalar), walk(GetParam(), level));
        }
    }
}

TEST_P(EachOptimizer, GoesOnExactlyFromItsNamedStateAndItsSteps) {
    Optimizer whole(GetParam(), count, best_kernel_level());
    const std::vector<float> half_way = walk(whole, draw(1), 100);
    Optimizer resumed(GetParam(), count, best_kernel_level());
    const auto from = whole.state();
    const auto to = resumed.state();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        EXPECT_EQ(from[i].name, to[i].name);
        std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
    }
    resumed.restore_steps(whole.steps());
    EXPECT_EQ(walk(whole, half_way, 200), walk(resumed, half_way, 200));
    EXPECT_EQ(40U, resumed.steps());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    EachOptimizer,
    testing::Values(
        OptimizerSpec{.momentum = 0, .weight_decay = 0.01},
        OptimizerSpec{.momentum = 0.9, .weight_decay = 0.01},
        OptimizerSpec{.kind = OptimizerKind::adamw, .weight_decay = 0.01}));

TEST(OptimizerState, HasPytorchsNames) {
    Optimizer plain({.momentum = 0}, count, best_kernel_level());
    Optimizer momentum({.momentum = 0.9}, count, best_kernel_level());
    Optimizer adamw({.kind = OptimizerKind::adamw}, count, best_kernel_level());
    EXPECT_TRUE(plain.state().empty());
    EXPECT_EQ("momentum_buffer", momentum.state().at(0).name);
    EXPECT_EQ("exp_avg", adamw.state().at(0).name);
    EXPECT_EQ("exp_avg_sq", adamw.state().at(1).name);
    EXPECT_EQ(count, adamw.state().at(1).values.size());
}

}  // namespace
}  // namespace p2p::core
