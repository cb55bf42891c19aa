#pragma once

// Whose batches one model learns from, where a baseline has one for all machines: every machine's
// own data, skewed as they are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "core/job/spec.hpp"
#include "tools/sim/stage.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {

class Batches {
  public:
    Batches(const Stage& stage, const core::JobSpec& spec, const core::Dataset& data)
        : batch_size_(spec.train.batch_size) {
        const auto ids = machine_ids(spec.seed, stage.nodes.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const core::SamplerKey key{.seed = spec.seed, .peer = ids[i]};
            sources_.push_back(
                {.sampler = core::Sampler(spec.data, key, data.train.labels),
                 .speed = stage.nodes[i].speed});
        }
    }

    /// Fills `indices`, whole batches of which each machine has one, or those that are soonest
    /// done.
    void draw(bool is_one_of_each, std::span<std::uint32_t> indices) {
        const std::size_t count = indices.size() / batch_size_;
        for (std::size_t k = 0; k < count; ++k) {
            Source& source = is_one_of_each ? sources_[k % sources_.size()] : soonest();
            source.sampler.batch(
                core::SampleCount{source.taken * batch_size_},
                indices.subspan(k * batch_size_, batch_size_));
            ++source.taken;
        }
    }

  private:
    struct Source {
        core::Sampler sampler;
        double speed = 1;
        std::uint64_t taken = 0;
    };

    Source& soonest() {
        return *std::min_element(
            sources_.begin(), sources_.end(), [](const auto& a, const auto& b) {
                return static_cast<double>(a.taken + 1) / a.speed
                       < static_cast<double>(b.taken + 1) / b.speed;
            });
    }

    std::size_t batch_size_;
    std::vector<Source> sources_;
};

}  // namespace p2p::sim
