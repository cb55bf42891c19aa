#pragma once

// Pushes of all jobs here: snapshots from trainers, arithmetic on workers, blobs in between.
//
// When, to whom and with which weight is the Node's decision; the arithmetic is
// core/node/push_values; for one shard at most one piece of work is under way.

#include <map>
#include <memory>
#include <utility>

#include "core/codec/kernel_table.hpp"
#include "core/node/push_values.hpp"
#include "daemon/blob_store.hpp"
#include "daemon/workers_edges.hpp"

namespace p2p::daemon {

class PushDesk {
  public:
    /// `blobs` must outlive this. Loop thread, as all that follows.
    PushDesk(EdgeTools tools, BlobStore& blobs);

    /// Answered by PushEncoded; its blob is served from then on.
    void encode(core::Ticket ticket, const core::EncodePush& order);

    /// Answered by Absorbed.
    void absorb(core::Ticket ticket, const core::AbsorbPush& order);

    void drop_job(core::JobId job);

  private:
    using Values = std::shared_ptr<core::PushValues>;
    using Snapshot = core::Result<std::vector<float>>;

    [[nodiscard]] Values values_of(core::JobId job, core::ShardIndex shard);
    void take_snapshot(
        core::JobId job,
        core::ShardRange range,
        core::Ticket ticket,
        std::function<void(const std::vector<float>&)> use);
    void add_then_answer(
        core::JobId job,
        core::ShardRange range,
        std::vector<float> displacement,
        core::Ticket ticket,
        core::WorkResult result);

    EdgeTools tools_;
    BlobStore& blobs_;
    const core::Kernels& kernels_;
    std::map<std::pair<core::JobId, core::ShardIndex>, Values> values_;
};

}  // namespace p2p::daemon
