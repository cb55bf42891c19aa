#pragma once

// The arithmetic of all edge swaps: snapshot, encode, keep pieces, decode, displace.
//
// Lives on the loop thread and keeps what each edge holds; the work itself is done by the pool and
// the trainers. For one edge at most one piece of work is under way (core/node/work), so its codec
// needs no lock; a swap that is dropped under way leaves its codec to the worker and starts anew.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/cpu.hpp"
#include "core/codec/chunks.hpp"
#include "core/codec/edge.hpp"
#include "core/node/work.hpp"
#include "daemon/trainer.hpp"
#include "daemon/workers.hpp"

namespace p2p::daemon {

/// What the desk works with; all outlive it.
struct EdgeTools {
    core::PeerId self;
    core::KernelLevel kernel_level = core::KernelLevel::scalar;
    Workers* workers = nullptr;
    PostToLoop post;
    std::function<Trainer*(core::JobId)> trainer_of;  ///< null: no such job here
    std::function<void(core::Ticket, core::WorkResult)> answer;
};

class EdgeDesk {
  public:
    explicit EdgeDesk(EdgeTools tools);

    void take_round_snapshot(const core::TakeRoundSnapshot& order, std::uint64_t floats);
    void encode(core::Ticket ticket, const core::Encode& order);
    void store(const core::StoreChunk& chunk);
    void decode(core::Ticket ticket, const core::Decode& order);
    void apply(core::Ticket ticket, const core::Apply& order);
    void drop_swap(const core::DropSwap& order);

    void drop_edge(const core::EdgeKey& key) { edges_.erase(key); }

    /// All its edges and its round's snapshot.
    void drop_job(core::JobId job);

    /// The own encoded value of a swap; null: gone.
    [[nodiscard]] std::shared_ptr<const core::Bytes> encoded(
        const core::EdgeKey& key, core::SwapNumber n) const;

  private:
    struct Edge {
        std::shared_ptr<core::EdgeCodec> codec;
        core::SwapNumber n_out;
        std::shared_ptr<const core::Bytes> encoded;
        core::SwapNumber n_in;
        std::optional<core::ChunkAssembly> inbound;
    };

    using Snapshot = std::shared_ptr<const std::vector<float>>;
    using SnapshotUser = std::function<void(core::Result<Snapshot>)>;

    /// The newest snapshot of a round, or those who wait for it; and what swaps have moved since.
    struct Round {
        std::optional<core::Result<Snapshot>> result;
        std::vector<SnapshotUser> waiting;
        std::vector<float> moved;  // empty: nothing yet
    };

    void go_on(const std::shared_ptr<Round>& round);
    void note_moved(const core::Apply& order, core::FloatView displacement);

    Edge& edge_for(const core::EdgeKey& key, core::ShardRange range);
    void encode_snapshot(
        core::Ticket ticket,
        const core::Encode& order,
        Snapshot snapshot,
        std::shared_ptr<core::EdgeCodec> codec,
        std::optional<core::InitialDraw> draw);
    void add_to_live(
        core::Ticket ticket,
        const core::Apply& order,
        Snapshot displacement,
        std::shared_ptr<core::EdgeCodec> codec);
    [[nodiscard]] bool is_current(
        const core::EdgeKey& key, const std::shared_ptr<core::EdgeCodec>& codec) const;
    void answer_later(core::Ticket ticket, core::WorkResult result);

    EdgeTools tools_;
    const core::Kernels& kernels_;
    std::map<core::EdgeKey, Edge> edges_;
    std::map<core::JobId, std::shared_ptr<Round>> rounds_;
};

}  // namespace p2p::daemon
