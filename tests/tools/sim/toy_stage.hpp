#pragma once

// A small stage, and a small data set that can be learned, made here: no file is needed, and a run
// takes milliseconds.

#include <memory>

#include "core/base/rng.hpp"
#include "core/data/dataset.hpp"
#include "tools/sim/stage.hpp"

namespace p2p::sim {

/// Four classes, each a bright quarter of 16 pixels under noise.
inline std::shared_ptr<const core::Dataset> toy_data() {
    auto data = std::make_shared<core::Dataset>();
    data->features = 16;
    data->classes = 4;
    core::Rng rng(7);
    const auto fill = [&](core::Samples& part, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto label = static_cast<std::uint8_t>(rng.below(4));
            part.labels.push_back(label);
            for (std::size_t pixel = 0; pixel < 16; ++pixel) {
                const double mean = pixel / 4 == label ? 150 : 100;
                part.images.push_back(static_cast<std::uint8_t>(mean + 40 * rng.uniform()));
            }
        }
    };
    fill(data->train, 600);
    fill(data->test, 200);
    data->standardization = core::standardization_of(data->train.images);
    return data;
}

/// Two sites of two nodes, one of them ten times slower; 10 Mbit/s and 40 ms between the sites.
inline Stage toy_stage() {
    Stage stage;
    stage.name = "toy";
    for (const char* name : {"A", "B"}) {
        stage.sites.push_back({.name = name, .up_bytes_per_second = 1.25e6});
        stage.sites.back().down_bytes_per_second = 1.25e6;
    }
    stage.nodes = {{0, 1}, {0, 1}, {1, 1}, {1, 0.1}};
    const Between inside{.round_trip = std::chrono::milliseconds{1}};
    const Between across{.round_trip = std::chrono::milliseconds{40}};
    stage.wires = {inside, across, across, inside};
    stage.job.name = "toy";
    stage.job.model.layers = {16, 8, 4};
    stage.job.data.set = "toy";
    stage.job.train.samples = 12'000;
    stage.job.train.batch_size = 16;
    stage.job.optimizer.momentum = 0.9;
    stage.job.schedule.base_lr = 0.02;
    return stage;
}

}  // namespace p2p::sim
