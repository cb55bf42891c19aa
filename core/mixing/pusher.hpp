#pragma once

// One-way exchanges of one job on one node: pushes of replicas and gathered updates (design:
// MIXING, "One primitive"; the two that are not swaps).
//
// A push is told by a word and fetched as a blob, so that one encoding serves all receivers and
// nothing is sent twice after a break. The receiver takes pushes of a shard in one by one and
// answers each once; the sender keeps its blob until then. What is counted:
//
//   half    the receiver goes half of the way to what came; the mean moves
//           (Jin et al. 2016, arXiv:1611.04581, its push)
//   sum     each shard has a weight, 1 at first; half of it goes along and is added there, and the
//           replica becomes the weighted mean of both (Kempe et al. 2003; Assran et al. 2019,
//           arXiv:1811.10792): sum of weight x replica stays. What is refused comes back.
//   update  every member's update of a round goes to all, with what it counts: where a replica's
//           round began moves by the sum of all that came, whatever the order and however late
//           (Sarfi et al. 2025, arXiv:2508.15706, algorithm 1)
//
// Who is a member and when the job runs is decided elsewhere; at the end swaps bring replicas
// together (core/mixing/mixer).

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/rng.hpp"
#include "core/mixing/layout.hpp"
#include "core/mixing/output.hpp"
#include "core/mixing/recipe.hpp"
#include "core/mixing/rounds.hpp"
#include "core/mixing/swap.hpp"

namespace p2p::core {

struct PusherConfig {
    JobId job;
    Layout layout;
    Recipe recipe;
    std::uint64_t seed = 0;  ///< of stochastic rounding; each node's own
    Duration deadline = std::chrono::seconds{30};
    EncodedBytes encoded_bytes = nullptr;
};

class Pusher {
  public:
    /// @pre the recipe does not swap
    Pusher(PusherConfig config, Rng rng);

    /// A member of the job is linked, in this incarnation; also again after a break.
    void on_linked(TimePoint now, PeerId peer, Incarnation incarnation, MixingOutputs& out);
    void on_unlinked(TimePoint now, PeerId peer, MixingOutputs& out);
    void set_taking_part(TimePoint now, PeerId peer, bool takes_part, MixingOutputs& out);

    [[nodiscard]] bool knows(PeerId peer) const { return partners_.contains(peer); }

    /// @pre knows(from)
    void on_push(TimePoint now, PeerId from, const Push& push, MixingOutputs& out);
    void on_ack(TimePoint now, PeerId from, const PushAck& ack, MixingOutputs& out);

    /// What WantsBlob asked for is here, or cannot be had.
    void on_fetched(TimePoint now, PeerId from, bool is_here, MixingOutputs& out);

    void on_encoded(
        TimePoint now, ShardIndex index, const PushEncoded& encoded, MixingOutputs& out);
    void on_absorbed(TimePoint now, ShardIndex index, const Absorbed& absorbed, MixingOutputs& out);
    void on_work_failed(TimePoint now, ShardIndex index, MixingOutputs& out);

    void on_stepped(TimePoint now, StepCount steps, MixingOutputs& out);
    void on_wakeup(TimePoint now, MixingOutputs& out);
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

    /// Nothing is pushed or taken in but between start and stop. `done`: steps of a checkpoint.
    void start(TimePoint now, StepCount done, MixingOutputs& out);
    void stop(TimePoint now, MixingOutputs& out);

    /// No work is under way that will still move the replica.
    [[nodiscard]] bool is_settled() const;

    /// As of a mixer: `applied` counts what was taken in from there.
    [[nodiscard]] std::vector<EdgeStatus> links() const;

    [[nodiscard]] std::uint64_t absorbed_count() const { return absorbed_count_; }

    [[nodiscard]] double distance_ratio() const;
    [[nodiscard]] double parameter_norm() const;

    /// The push-sum weight of a shard. @pre the layout has it
    [[nodiscard]] double weight(ShardIndex shard) const { return shards_[shard.value].weight; }

  private:
    struct Offered {
        PeerId from;
        Push push;
        TimePoint since{};

        /// One of this node's that nobody took in.
        [[nodiscard]] bool is_own() const { return from == PeerId{}; }
    };

    /// Told and not answered by all yet.
    struct Sent {
        Push push;
        std::set<PeerId> waiting;
        TimePoint since{};
    };

    struct Shard {
        bool is_busy = false;                 // a piece of work is under way
        std::optional<SwapNumber> wants_own;  // to be encoded next
        std::optional<Push> encoding;
        std::optional<Offered> absorbing;
        std::deque<Offered> fetched;
        std::vector<Sent> sent;
        SwapNumber last;  // own pushes so far
        StepCount pushed_at;
        StepCount looked_at;  // own steps at the last absorb
        double weight = 1;
        double norm = 0;
    };

    struct Partner {
        Incarnation incarnation;
        bool is_linked = false;
        bool takes_part = false;
        TimePoint down_since{};
        std::vector<SwapNumber> taken;  // by shard: the newest that was taken in
        std::deque<Offered> offered;    // the first is being fetched
        EdgeStatus status;

        [[nodiscard]] bool is_up() const { return is_linked && takes_part; }
    };

    void plan(TimePoint now, MixingOutputs& out);
    void plan_pushes(TimePoint now);
    void plan_round(TimePoint now);
    void tell_limit(MixingOutputs& out);
    void work_on(TimePoint now, ShardIndex index, MixingOutputs& out);
    void encode(TimePoint now, ShardIndex index, SwapNumber n, MixingOutputs& out);
    void absorb(ShardIndex index, Offered offered, MixingOutputs& out);
    void fetch_next(const Partner& partner, MixingOutputs& out) const;
    void answer(PeerId to, const SwapKey& key, SwapReason why, MixingOutputs& out) const;
    void forget_target(PeerId peer, MixingOutputs& out);
    void settle(Shard& shard, PeerId peer, SwapNumber n, bool is_taken, MixingOutputs& out) const;
    [[nodiscard]] static bool holds(const Shard& shard, PeerId from, SwapNumber n);
    /// Pushes of this shard that the peer has not answered.
    [[nodiscard]] static std::uint64_t unanswered(const Shard& shard, const PeerId& peer);
    [[nodiscard]] bool is_due(TimePoint now, const Shard& shard) const;
    [[nodiscard]] std::set<PeerId> targets(TimePoint now, const Shard& shard);
    [[nodiscard]] static bool counts(TimePoint now, const Partner& partner);
    [[nodiscard]] std::size_t members(TimePoint now) const;
    [[nodiscard]] PushKind kind() const;

    PusherConfig config_;
    Rng rng_;
    std::map<PeerId, Partner> partners_;
    std::vector<Shard> shards_;
    std::optional<Rounds> rounds_;
    StepLimit told_limit_{no_step_limit};
    std::size_t unmarked_ = 0;  // shards whose first round has no beginning yet
    StepCount started_at_;
    StepCount steps_;
    bool is_running_ = false;
    bool is_drawn_ = false;  // by chance, since the last plan
    std::uint64_t absorbed_count_ = 0;
};

}  // namespace p2p::core
