#pragma once

// The arithmetic of one simulated machine: what the daemon's workers and blob store do, at once.
//
// An order is done when it is given, on the parameters as they are; how long it takes is told
// beside the result, so that the machine answers no sooner. When an order may touch the parameters
// (between two steps) is the machine's business.

#include <map>
#include <memory>
#include <optional>

#include "core/codec/edge.hpp"
#include "core/node/push_values.hpp"
#include "core/node/work.hpp"
#include "core/train/outer.hpp"
#include "tools/sim/audit.hpp"
#include "tools/sim/stage.hpp"
#include "tools/sim/trainer.hpp"

namespace p2p::sim {

struct WorkDone {
    std::optional<core::WorkResult> result;  ///< none: the order has no answer
    double seconds = 0;
};

/// A spec that the world knows, by its id: nothing here parses bytes that came over the wire.
using KnownSpecs = std::map<core::JobId, core::JobSpec>;

struct WorkbenchSetup {
    core::PeerId self;
    std::size_t node = 0;
    Costs costs;
    const KnownSpecs* specs = nullptr;
    Audit* audit = nullptr;
    const std::map<core::PeerId, std::size_t>* index = nullptr;  ///< of each peer
};

/// The world's own hash of blobs; the daemon's is BLAKE2b.
[[nodiscard]] core::BlobHash hash_of(const core::Bytes& bytes);

class Workbench {
  public:
    explicit Workbench(const WorkbenchSetup& setup)
        : setup_(setup) {}

    /// @pre the orders that touch parameters come with a trainer
    [[nodiscard]] WorkDone work(const core::WorkOrder& order, Trainer* trainer, const Lives& lives);

    /// Bytes of the own value of a swap; null where there is none (any more).
    [[nodiscard]] std::shared_ptr<const core::Bytes> encoded(const core::EdgeKey& edge) const;

    /// Null where the blob is not held.
    [[nodiscard]] std::shared_ptr<const core::Bytes> blob(const core::BlobHash& hash) const;

    void serve(const core::BlobHash& hash, core::Bytes bytes);

    /// The parameters of the newest checkpoint, which outlive a life.
    void keep(std::vector<float> parameters) { kept_ = std::move(parameters); }

    /// Whoever asks for this machine's state or spec gets zeros, under a hash that fits them.
    void set_lies(bool lies) { lies_ = lies; }

    void drop_job(core::JobId job);
    void drop_all();

    /// Whether an order reads or writes the live parameters.
    [[nodiscard]] static bool touches_parameters(const core::WorkOrder& order);

  private:
    core::EdgeCodec& codec(const core::EdgeKey& edge, std::uint64_t floats);
    core::WorkResult encode(const core::Encode& order, Trainer& trainer);
    core::WorkResult decode(const core::Decode& order);
    core::WorkResult apply(const core::Apply& order, Trainer& trainer, const Lives& lives);
    void take_round_snapshot(const core::TakeRoundSnapshot& order, Trainer& trainer);
    core::WorkResult encode_push(const core::EncodePush& order, Trainer& trainer);
    core::WorkResult absorb_push(const core::AbsorbPush& order, Trainer& trainer);
    std::optional<core::WorkResult> step_outer(const core::OuterStep& order, Trainer& trainer);
    core::WorkResult freeze(const core::Freeze& order, Trainer& trainer);
    core::WorkResult check(const core::CheckBlob& order, Trainer& trainer);
    core::WorkResult adopt(const core::Adopt& order, Trainer& trainer);
    core::WorkResult recall();
    core::WorkResult read_spec(const core::ReadSpec& order);
    [[nodiscard]] core::PushValues& push_values(core::JobId job, core::ShardIndex shard);
    void do_at_once(const core::StoreChunk& order);
    void do_at_once(const core::StoreBlob& order);
    void do_at_once(const core::DropSwap& order);
    void do_at_once(const core::DropEdge& order);
    void do_at_once(const core::DropBlob& order);

    WorkbenchSetup setup_;
    std::vector<float> kept_;
    bool lies_ = false;
    std::map<core::EdgeKey, std::unique_ptr<core::EdgeCodec>> codecs_;
    std::map<core::EdgeKey, std::shared_ptr<const core::Bytes>> encoded_;
    std::map<core::EdgeKey, core::Bytes> arriving_;

    struct Round {
        std::vector<float> snapshot;
        std::vector<float> moved;  // by swaps of its phase
    };

    std::map<core::JobId, Round> round_;  // the newest
    std::map<core::JobId, core::OuterMomentum> outer_;
    std::map<std::pair<core::JobId, core::ShardIndex>, core::PushValues> pushes_;
    std::map<core::BlobHash, std::shared_ptr<core::Bytes>> blobs_;
};

}  // namespace p2p::sim
