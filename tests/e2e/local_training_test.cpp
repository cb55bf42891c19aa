// One node alone learns Fashion-MNIST from the files on this machine, through nn and data.
//
// Takes a second or two. Skipped where the Debian package dataset-fashion-mnist is not installed.

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "core/data/batch.hpp"
#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "core/nn/learner.hpp"
#include "core/nn/model.hpp"
#include "core/nn/optimizer.hpp"
#include "core/nn/schedule.hpp"

namespace p2p::core {
namespace {

constexpr const char* folder = "/usr/share/datasets/fashion-mnist";

/// What a job would say; over 20 epochs these settings reach about 89.9 %.
struct Settings {
    std::size_t epochs = 1;
    std::size_t batch_size = 64;
    double base_lr = 0.05;
    double momentum = 0.9;
    double weight_decay = 5e-4;
    double warmup = 0.02;
};

BatchResult evaluate(Learner& learner, const Dataset& set, const std::vector<float>& parameters) {
    constexpr std::uint32_t piece = 500;
    std::vector<float> inputs(piece * set.features);
    Bytes labels(piece);
    std::vector<std::uint32_t> indices(piece);
    BatchResult total;
    for (std::uint32_t begin = 0; begin + piece <= set.test.count(); begin += piece) {
        for (std::uint32_t i = 0; i < piece; ++i)
            indices[i] = begin + i;
        fill_inputs(set.test, set.standardization, indices, inputs);
        fill_labels(set.test, indices, labels);
        total += learner.evaluate(parameters, inputs, labels);
    }
    return total;
}

BatchResult train(const Dataset& set, const Settings& settings) {
    ModelSpec model;
    model.layers = {784, 256, 128, 10};
    const OptimizerSpec optimizer_spec{
        .momentum = settings.momentum, .weight_decay = settings.weight_decay};
    const ScheduleSpec schedule{.base_lr = settings.base_lr, .warmup = settings.warmup};

    const KernelLevel level = best_kernel_level();
    Learner learner(model, settings.batch_size, level);
    Optimizer optimizer(optimizer_spec, learner.parameters(), level);
    const Sampler sampler({}, {42, {}}, set.train.labels);
    std::vector<float> parameters(learner.parameters());
    std::vector<float> gradient(learner.parameters());
    std::vector<float> inputs(settings.batch_size * set.features);
    Bytes labels(settings.batch_size);
    std::vector<std::uint32_t> indices(settings.batch_size);
    init_parameters(model, 42, parameters);

    const std::uint64_t total = settings.epochs * set.train.count();
    for (std::uint64_t cursor = 0; cursor < total; cursor += settings.batch_size) {
        sampler.batch(SampleCount{cursor}, indices);
        fill_inputs(set.train, set.standardization, indices, inputs);
        fill_labels(set.train, indices, labels);
        (void)learner.gradient(parameters, inputs, labels, gradient);
        const double progress = static_cast<double>(cursor) / static_cast<double>(total);
        optimizer.step(parameters, gradient, learning_rate(schedule, progress, /*scale=*/1));
    }
    return evaluate(learner, set, parameters);
}

TEST(LocalTraining, ReachesEightyPercentOfFashionMnistInOneEpoch) {
    if (!std::filesystem::is_directory(folder)) {
        GTEST_SKIP() << folder << " is not there (apt-get install dataset-fashion-mnist)";
    }
    const auto set = load_dataset(folder);
    ASSERT_TRUE(set.has_value()) << set.error().text();
    const BatchResult result = train(*set, {});
    EXPECT_EQ(10000U, result.samples);
    EXPECT_GT(result.accuracy(), 0.80);
    EXPECT_LT(result.loss(), 0.55);
}

}  // namespace
}  // namespace p2p::core
