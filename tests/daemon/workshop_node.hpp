#pragma once

// Nodes as a workshop sees them: several in one process on one loop, exchanging what a link would
// carry by hand.

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "daemon/files.hpp"
#include "daemon/replica_blob.hpp"
#include "daemon/workshop.hpp"
#include "tests/daemon/test_loop.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {

using core::CodecId;
using core::JobId;
using core::SampleCount;
using core::StepCount;
using core::SwapNumber;
using core::Ticket;
using core::WorkResult;

inline constexpr std::uint64_t floats = 16 * 8 + 8 + 8 * 3 + 3;
inline constexpr core::ShardRange all{0, floats};

/// One node's workshop on the test's loop, and what it has told.
class Node {
  public:
    Node(const TempFolder& temp, TestLoop& loop, std::uint8_t id)
        : loop_(loop),
          self(peer_id(id)),
          state_dir(temp.path() / ("state-" + std::to_string(id))),
          shop(config(temp), loop.poster(), events()) {}

    /// The trainer is there and stands at `steps`.
    void train(const proto::ParsedSpec& spec, std::uint64_t steps) {
        shop.start_training(start_of(spec));
        P2P_CHECK(loop_.run_until([&] { return ready.contains(spec.id); }));
        run_to(spec, steps);
    }

    void run_to(const proto::ParsedSpec& spec, std::uint64_t steps) {
        shop.set_pace(pace_of(spec, steps, 6400));
        P2P_CHECK(loop_.run_until([&] { return newest.steps >= StepCount{steps}; }));
    }

    WorkResult work(const core::WorkOrder& order) {
        const Ticket ticket{++tickets_};
        shop.work(ticket, order);
        P2P_CHECK(loop_.run_until([&] { return results.contains(ticket); }));
        return results.at(ticket);
    }

    template <typename T>
    T done(const core::WorkOrder& order) {
        const WorkResult result = work(order);
        if (const auto* error = std::get_if<core::Error>(&result)) {
            ADD_FAILURE() << error->text();
        }
        return std::get<T>(result);
    }

    core::Status save(JobId job, bool is_final, core::BlobHash final_hash = {}) {
        saved.reset();
        core::Save order;
        order.final_hash = final_hash;
        order.job = job;
        order.is_final = is_final;
        shop.save(order);
        P2P_CHECK(loop_.run_until([&] { return saved.has_value(); }));
        return *saved;
    }

    [[nodiscard]] ReplicaState parameters_of(const proto::ParsedSpec& spec) {
        const auto frozen = done<core::Frozen>(core::Freeze{spec.id, false});
        const auto layout = std::vector<core::TensorInfo>{
            {"layers.0.weight", {8, 16}, 0},
            {"layers.0.bias", {8}, 128},
            {"layers.1.weight", {3, 8}, 136},
            {"layers.1.bias", {3}, 160}};
        return *thaw_replica(layout, *shop.blob(frozen.hash));
    }

  private:
    WorkshopConfig config(const TempFolder& temp) {
        WorkshopConfig made;
        made.state_dir = state_dir;
        made.datasets["tiny"] = temp.path() / "set";
        made.self = self;
        return made;
    }

    WorkshopEvents events() {
        return {
            [this](Ticket ticket, const WorkResult& result) {
                P2P_CHECK(results.emplace(ticket, result).second);  // exactly one answer
            },
            [this](JobId, const core::SteppedReport& report) { newest = report; },
            [this](const core::TrainerReady& told) { ready.insert_or_assign(told.job, told); },
            [this](JobId, const core::Status& status) { saved = status; },
            [this](JobId, const core::Error& error) {
                troubles.push_back(error);
            }};
    }

    TestLoop& loop_;
    std::uint64_t tickets_ = 0;

  public:
    const core::PeerId self;
    const Path state_dir;
    std::map<Ticket, WorkResult> results;
    std::map<JobId, core::TrainerReady> ready;
    core::SteppedReport newest;
    std::optional<core::Status> saved;
    std::vector<core::Error> troubles;
    Workshop shop;
};

class WorkshopTest : public testing::Test {
  protected:
    WorkshopTest() { put_tiny_set(temp_.path() / "set"); }

    struct Swap {
        SwapNumber n;
        CodecId codec = CodecId::fp32;
        bool keyframe = false;
        bool of_round = false;
        bool from_initial = false;
    };

    [[nodiscard]] core::EdgeKey edge(const Node& peer) const { return {spec_.id, peer.self, {}}; }

    core::Encoded encode(Node& node, const Node& peer, const Swap& swap) {
        return node.done<core::Encoded>(core::Encode{
            .edge = edge(peer),
            .n = swap.n,
            .range = all,
            .codec = swap.codec,
            .keyframe = swap.keyframe,
            .from_initial = swap.from_initial,
            .of_round = swap.of_round,
            .seed = swap.n.value});
    }

    /// Everything that `from` has encoded, in pieces, as the link would bring it.
    void deliver(const Node& from, Node& to, const Swap& swap) {
        const auto bytes = from.shop.encoded(edge(to), swap.n);
        ASSERT_NE(nullptr, bytes);
        for (std::size_t at = 0; at < bytes->size(); at += core::limits::chunk_bytes_max) {
            const std::size_t length =
                std::min<std::size_t>(core::limits::chunk_bytes_max, bytes->size() - at);
            const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(at);
            auto piece = std::make_shared<const core::Bytes>(
                begin, begin + static_cast<std::ptrdiff_t>(length));
            to.shop.work({}, core::StoreChunk{edge(from), swap.n, at, bytes->size(), piece});
        }
    }

    core::Decoded decode(Node& node, const Node& peer, const Swap& swap) {
        return node.done<core::Decoded>(
            core::Decode{edge(peer), swap.n, all, swap.codec, swap.keyframe});
    }

    core::Applied apply(Node& node, const Node& peer, const Swap& swap, float weight) {
        return node.done<core::Applied>(
            core::Apply{edge(peer), swap.n, all, weight, node.self < peer.self});
    }

    core::Decoded exchange(Node& a, Node& b, const Swap& swap) {
        encode(a, b, swap);
        encode(b, a, swap);
        deliver(a, b, swap);
        deliver(b, a, swap);
        const auto at_a = decode(a, b, swap);
        const auto at_b = decode(b, a, swap);
        EXPECT_TRUE(at_a.well_formed && at_b.well_formed);
        EXPECT_EQ(at_a.hash, at_b.hash);
        EXPECT_EQ(at_a.distance, at_b.distance);
        EXPECT_EQ(at_a.own_norm, at_b.remote_norm);
        return at_a;
    }

    const TempFolder temp_;
    const proto::ParsedSpec spec_ = parsed(tiny_toml("tiny"));
    TestLoop loop_;
};

}  // namespace p2p::daemon
