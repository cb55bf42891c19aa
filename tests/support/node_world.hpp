#pragma once

// The simulator's world as the tests of core/node want it: a few equal machines, wires of one delay
// and no limit, and trainers that add noise instead of learning.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tools/sim/world.hpp"

namespace p2p::test {

struct NodeWorldOptions {
    std::uint64_t seed = 1;
    std::size_t nodes = 4;
    std::uint64_t floats = 500;
    core::Duration latency = std::chrono::milliseconds{5};
    std::vector<core::Duration> step_times{};  ///< by node; missing: 10 ms
    double noise = 0.001;
    double evaluate_seconds = 0;
};

class NodeWorld : public sim::World {
  public:
    explicit NodeWorld(const NodeWorldOptions& options)
        : NodeWorld(options, std::make_shared<std::vector<core::Notice>>()) {}

    /// A job over `samples` samples of the mesh; external, one tensor. Not submitted yet.
    [[nodiscard]] core::JobSpec spec(std::uint64_t samples) const {
        core::JobSpec spec;
        spec.name = "toy";
        spec.model.kind = core::ModelKind::external;
        spec.model.tensors = {{.name = "x", .shape = {options_.floats}, .offset = 0}};
        spec.train.samples = samples;
        spec.mixing.axes = {{"codec", "delta(q8)"}};
        spec.mixing.min_peers = static_cast<std::uint32_t>(options_.nodes);
        spec.eval.every = {};
        return spec;
    }

    /// @pre the node trains
    [[nodiscard]] std::vector<float> replica(std::size_t node) const {
        const auto values = trainer(node)->parameters();
        return {values.begin(), values.end()};
    }

    [[nodiscard]] const std::vector<core::Notice>& notices() const { return *notices_; }

  private:
    using Notices = std::shared_ptr<std::vector<core::Notice>>;

    NodeWorld(const NodeWorldOptions& options, const Notices& notices)
        : World(setup_of(options, notices)),
          options_(options),
          notices_(notices) {}

    static sim::WorldSetup setup_of(const NodeWorldOptions& options, const Notices& notices) {
        constexpr double no_limit = 1e15;
        sim::WorldSetup setup;
        setup.seed = options.seed;
        setup.stage.sites.push_back(
            {.name = "one",
             .inside_bytes_per_second = no_limit,
             .inside_round_trip = 2 * options.latency});
        setup.stage.wires.push_back({.round_trip = 2 * options.latency});
        setup.stage.step_jitter = 0;
        for (std::size_t i = 0; i < options.nodes; ++i) {
            const bool is_given = i < options.step_times.size();
            const double speed = is_given ? core::to_seconds(setup.stage.step_time)
                                                / core::to_seconds(options.step_times[i])
                                          : 1;
            setup.stage.nodes.push_back({.site = 0, .speed = speed});
        }
        setup.costs.order_seconds = 1e-3;
        setup.costs.evaluate_seconds = options.evaluate_seconds;
        setup.on_notice = [notices](std::size_t, const core::Notice& notice) {
            notices->push_back(notice);
        };
        setup.make_trainer = [options](
                                 const auto& /*order*/, core::PeerId /*self*/, std::size_t node) {
            const core::Rng rng = core::Rng(options.seed).split(node + 1);
            return sim::make_walker(options.floats, options.noise, rng);
        };
        return setup;
    }

    NodeWorldOptions options_;
    Notices notices_;
};

inline bool all_connected(const NodeWorld& world, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        for (const core::PeerStatus& peer : world.status(i).peers) {
            if (peer.state != core::PeerState::connected) return false;
        }
    }
    return true;
}

inline void expect_same_final(const NodeWorld& world, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        EXPECT_EQ(world.job(0).final_hash, world.job(i).final_hash);
        EXPECT_FALSE(world.job(i).final_hash.is_zero());
        EXPECT_EQ(world.replica(0), world.replica(i));
    }
}

}  // namespace p2p::test
