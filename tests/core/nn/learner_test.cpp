#include "core/nn/learner.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "core/nn/model.hpp"
#include "core/nn/optimizer.hpp"
#include "tests/core/nn/reference_mlp.hpp"

namespace p2p::core {
namespace {

/// A model with parameters and a batch of normal draws.
struct Problem {
    ModelSpec spec;
    std::vector<float> parameters;
    std::vector<float> batch;
    std::vector<std::uint8_t> labels;
};

Problem draw_problem(
    std::vector<std::uint32_t> layers, Activation activation, std::size_t samples) {
    Problem problem;
    problem.spec.layers = std::move(layers);
    problem.spec.activation = activation;
    Rng rng(17);
    problem.parameters.resize(parameter_count(model_tensors(problem.spec)));
    init_parameters(problem.spec, 5, problem.parameters);
    for (float& value : problem.parameters)
        value += static_cast<float>(0.1 * rng.normal());  // biases too
    for (std::size_t i = 0; i < samples * problem.spec.layers.front(); ++i)
        problem.batch.push_back(static_cast<float>(rng.normal()));
    for (std::size_t i = 0; i < samples; ++i)
        problem.labels.push_back(static_cast<std::uint8_t>(rng.below(problem.spec.layers.back())));
    return problem;
}

std::vector<float> gradient_of(const Problem& problem, KernelLevel level) {
    Learner learner(problem.spec, problem.labels.size(), level);
    std::vector<float> gradient(learner.parameters(), -77.0F);
    (void)learner.gradient(problem.parameters, problem.batch, problem.labels, gradient);
    return gradient;
}

std::vector<KernelLevel> levels_here() {
    std::vector<KernelLevel> levels;
    for (const KernelLevel level : kernel_levels) {
        if (level <= best_kernel_level()) levels.push_back(level);
    }
    return levels;
}

Doubles to_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

void expect_gradient_of_reference(const Problem& problem) {
    const Doubles expected = reference_gradient(
        problem.spec, to_doubles(problem.parameters), to_doubles(problem.batch), problem.labels);
    for (const KernelLevel level : levels_here()) {
        const std::vector<float> gradient = gradient_of(problem, level);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            ASSERT_NEAR(expected[i], gradient[i], 2e-6)
                << "parameter " << i << " at " << kernel_level_name(level);
        }
    }
}

TEST(Gradient, OfOneLayerAndTheLossIsThatOfCentralDifferences) {
    expect_gradient_of_reference(draw_problem({7, 5}, Activation::relu, 9));
}

TEST(Gradient, ThroughReluIsThatOfCentralDifferences) {
    expect_gradient_of_reference(draw_problem({9, 8, 6, 4}, Activation::relu, 11));
}

TEST(Gradient, ThroughTanhIsThatOfCentralDifferences) {
    expect_gradient_of_reference(draw_problem({9, 8, 6, 4}, Activation::tanh, 11));
}

TEST(Gradient, OfWidthsThatFillWholePacketsIsThatOfCentralDifferences) {
    expect_gradient_of_reference(draw_problem({16, 24, 8}, Activation::tanh, 16));
}

TEST(Gradient, AgreesBetweenKernelLevelsOnProductsOfSeveralBlocks) {
    const Problem problem = draw_problem({700, 300, 600, 10}, Activation::relu, 40);
    const std::vector<float> expected = gradient_of(problem, KernelLevel::scalar);
    for (const KernelLevel level : levels_here()) {
        const std::vector<float> gradient = gradient_of(problem, level);
        for (std::size_t i = 0; i < gradient.size(); ++i)
            ASSERT_NEAR(expected[i], gradient[i], 1e-5) << kernel_level_name(level);
    }
}

TEST(Gradient, HasTheSameBitsEachTime) {
    const Problem problem = draw_problem({100, 50, 10}, Activation::tanh, 20);
    for (const KernelLevel level : levels_here())
        EXPECT_EQ(gradient_of(problem, level), gradient_of(problem, level));
}

TEST(Gradient, OfABatchIsTheMeanOfItsSamplesGradients) {
    const Problem problem = draw_problem({6, 5, 3}, Activation::relu, 4);
    const std::vector<float> whole = gradient_of(problem, best_kernel_level());
    Doubles mean(whole.size());
    for (std::size_t sample = 0; sample < 4; ++sample) {
        Problem one = problem;
        const auto begin = problem.batch.begin() + static_cast<std::ptrdiff_t>(6 * sample);
        one.batch.assign(begin, begin + 6);
        one.labels = {problem.labels[sample]};
        const std::vector<float> gradient = gradient_of(one, best_kernel_level());
        for (std::size_t i = 0; i < mean.size(); ++i)
            mean[i] += static_cast<double>(gradient[i]) / 4;
    }
    for (std::size_t i = 0; i < mean.size(); ++i)
        EXPECT_NEAR(mean[i], whole[i], 1e-6);
}

TEST(Learner, ReportsTheLossAndAnswersOfTheReference) {
    const Problem problem = draw_problem({12, 9, 5}, Activation::tanh, 30);
    const double expected = reference_loss(
        problem.spec, to_doubles(problem.parameters), to_doubles(problem.batch), problem.labels);
    Learner learner(problem.spec, 30, best_kernel_level());
    std::vector<float> gradient(learner.parameters());
    const BatchResult result =
        learner.gradient(problem.parameters, problem.batch, problem.labels, gradient);
    EXPECT_NEAR(expected, result.loss(), 1e-6);
    EXPECT_EQ(30U, result.samples);
}

TEST(Learner, EvaluatesInPiecesWhatItWouldAtOnce) {
    const Problem problem = draw_problem({12, 9, 5}, Activation::relu, 23);
    Learner pieces(problem.spec, 4, best_kernel_level());
    Learner at_once(problem.spec, 23, best_kernel_level());
    const auto expected = at_once.evaluate(problem.parameters, problem.batch, problem.labels);
    const auto result = pieces.evaluate(problem.parameters, problem.batch, problem.labels);
    EXPECT_EQ(expected.correct, result.correct);
    EXPECT_EQ(23U, result.samples);
    EXPECT_NEAR(expected.loss_sum, result.loss_sum, 1e-5);
}

TEST(Learner, ReportsALossThatIsNotFiniteForParametersThatAreNot) {
    for (const float poison :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const Activation activation : {Activation::relu, Activation::tanh}) {
            Problem problem = draw_problem({4, 3, 2}, activation, 5);
            problem.parameters.back() = poison;
            Learner learner(problem.spec, 5, best_kernel_level());
            const auto result = learner.evaluate(problem.parameters, problem.batch, problem.labels);
            EXPECT_FALSE(std::isfinite(result.loss_sum));
            EXPECT_EQ(0U, result.correct);
        }
    }
}

TEST(Learner, TellsTheBytesThatItWouldAllocate) {
    ModelSpec spec;
    spec.layers = {784, 256, 128, 10};
    EXPECT_EQ(4 * (dense_pack_floats + 64 * (2 * 256 + 2 * 128 + 10)), learner_bytes(spec, 64));
}

/// Three well separated clouds on a circle.
Problem draw_clouds(Activation activation) {
    Problem problem;
    problem.spec.layers = {2, 16, 3};
    problem.spec.activation = activation;
    problem.parameters.resize(parameter_count(model_tensors(problem.spec)));
    init_parameters(problem.spec, 1, problem.parameters);
    Rng rng(2);
    for (std::size_t i = 0; i < 90; ++i) {
        const double angle = 2.0943951 * static_cast<double>(i % 3);
        problem.batch.push_back(static_cast<float>(std::cos(angle) + 0.15 * rng.normal()));
        problem.batch.push_back(static_cast<float>(std::sin(angle) + 0.15 * rng.normal()));
        problem.labels.push_back(static_cast<std::uint8_t>(i % 3));
    }
    return problem;
}

BatchResult train_on_clouds(const Problem& problem, const OptimizerSpec& spec, double rate) {
    Learner learner(problem.spec, problem.labels.size(), best_kernel_level());
    Optimizer optimizer(spec, learner.parameters(), best_kernel_level());
    std::vector<float> parameters = problem.parameters;
    std::vector<float> gradient(learner.parameters());
    for (int step = 0; step < 200; ++step) {
        (void)learner.gradient(parameters, problem.batch, problem.labels, gradient);
        optimizer.step(parameters, gradient, rate);
    }
    return learner.evaluate(parameters, problem.batch, problem.labels);
}

TEST(Learner, TrainsSeparatedCloudsToTheLastSample) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
        const Problem problem = draw_clouds(activation);
        EXPECT_EQ(1.0, train_on_clouds(problem, {.momentum = 0.9}, 0.1).accuracy());
        const OptimizerSpec adamw{.kind = OptimizerKind::adamw, .weight_decay = 0.01};
        EXPECT_EQ(1.0, train_on_clouds(problem, adamw, 0.01).accuracy());
    }
}

}  // namespace
}  // namespace p2p::core
