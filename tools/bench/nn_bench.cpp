// How fast one thread trains: samples a second of the MLP 784-256-128-10 at each kernel level.
//
// A training step is the gradient of a batch and a step of the optimizer, as in
// tools/bench/nn_torch.py, which measures PyTorch on the same machine. Drawing, converting and
// hashing a batch are measured beside it, since the trainer pays for them too.

#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/base/rng.hpp"
#include "core/data/batch.hpp"
#include "core/data/sampler.hpp"
#include "core/nn/learner.hpp"
#include "core/nn/model.hpp"
#include "core/nn/optimizer.hpp"

namespace p2p::core {
namespace {

constexpr std::size_t set_samples = 4096;
constexpr std::size_t features = 784;

ModelSpec mlp() {
    ModelSpec spec;
    spec.layers = {features, 256, 128, 10};
    return spec;
}

Samples draw_set() {
    Rng rng(1);
    Samples samples{Bytes(set_samples * features), Bytes(set_samples)};
    for (std::uint8_t& pixel : samples.images)
        pixel = static_cast<std::uint8_t>(rng.below(256));
    for (std::uint8_t& label : samples.labels)
        label = static_cast<std::uint8_t>(rng.below(10));
    return samples;
}

/// One batch, in the buffers that a trainer keeps.
struct Batch {
    explicit Batch(std::size_t size)
        : indices(size),
          inputs(size * features),
          labels(size) {}

    void draw(const Samples& set, const Sampler& sampler, std::uint64_t cursor) {
        sampler.batch(SampleCount{cursor}, indices);
        fill_inputs(set, {0.5, 0.3}, indices, inputs);
        fill_labels(set, indices, labels);
    }

    std::vector<std::uint32_t> indices;
    std::vector<float> inputs;
    Bytes labels;
};

void count_samples(benchmark::State& state, std::size_t batch_size) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_size));
}

void train(benchmark::State& state, KernelLevel level, std::size_t batch_size, OptimizerKind kind) {
    const Samples set = draw_set();
    const Sampler sampler({}, {}, set.labels);
    Batch batch(batch_size);
    batch.draw(set, sampler, 0);

    Learner learner(mlp(), batch_size, level);
    OptimizerSpec spec;
    spec.kind = kind;
    spec.weight_decay = 1e-4;
    Optimizer optimizer(spec, learner.parameters(), level);
    std::vector<float> parameters(learner.parameters());
    std::vector<float> gradient(learner.parameters());
    init_parameters(mlp(), 1, parameters);
    for ([[maybe_unused]] auto _ : state) {
        auto result = learner.gradient(parameters, batch.inputs, batch.labels, gradient);
        benchmark::DoNotOptimize(result);
        optimizer.step(parameters, gradient, 1e-4);
    }
    count_samples(state, batch_size);
}

void evaluate(benchmark::State& state, KernelLevel level) {
    constexpr std::size_t batch_size = 256;
    const Samples set = draw_set();
    Batch batch(batch_size);
    batch.draw(set, Sampler({}, {}, set.labels), 0);
    Learner learner(mlp(), batch_size, level);
    std::vector<float> parameters(learner.parameters());
    init_parameters(mlp(), 1, parameters);
    for ([[maybe_unused]] auto _ : state) {
        auto result = learner.evaluate(parameters, batch.inputs, batch.labels);
        benchmark::DoNotOptimize(result);
    }
    count_samples(state, batch_size);
}

void draw_batches(benchmark::State& state, SplitKind split) {
    constexpr std::size_t batch_size = 64;
    const Samples set = draw_set();
    DataSpec spec;
    spec.split = split;
    const Sampler sampler(spec, {}, set.labels);
    Batch batch(batch_size);
    std::uint64_t cursor = 0;
    for ([[maybe_unused]] auto _ : state) {
        batch.draw(set, sampler, cursor);
        cursor += batch_size;
        benchmark::DoNotOptimize(batch.inputs.data());
    }
    count_samples(state, batch_size);
}

void hash_batches(benchmark::State& state) {
    constexpr std::size_t batch_size = 64;
    const Samples set = draw_set();
    Batch batch(batch_size);
    batch.draw(set, Sampler({}, {}, set.labels), 0);
    for ([[maybe_unused]] auto _ : state) {
        auto hash = batch_hash(set, batch.indices);
        benchmark::DoNotOptimize(hash);
    }
    count_samples(state, batch_size);
}

void register_level(KernelLevel level) {
    const std::string name(kernel_level_name(level));
    for (const std::size_t batch_size : {32U, 64U, 128U}) {
        const std::string suffix = "/" + name + "/batch:" + std::to_string(batch_size);
        benchmark::RegisterBenchmark(
            ("train_sgd" + suffix).c_str(), train, level, batch_size, OptimizerKind::sgd);
        benchmark::RegisterBenchmark(
            ("train_adamw" + suffix).c_str(), train, level, batch_size, OptimizerKind::adamw);
    }
    benchmark::RegisterBenchmark(("evaluate/" + name + "/batch:256").c_str(), evaluate, level);
}

}  // namespace
}  // namespace p2p::core

int main(int argc, char** argv) {
    using namespace p2p::core;
    for (const KernelLevel level : kernel_levels) {
        if (level <= best_kernel_level()) register_level(level);
    }
    benchmark::RegisterBenchmark("draw_batch/iid/batch:64", draw_batches, SplitKind::iid);
    benchmark::RegisterBenchmark("draw_batch/by_label/batch:64", draw_batches, SplitKind::by_label);
    benchmark::RegisterBenchmark("batch_hash/batch:64", hash_batches);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
