#pragma once

// Mixers joined by links that delay, break and lose, on a virtual clock; with real codecs and real
// vectors, but no trainer, no session and no hall. For properties of core/mixing.
//
// All randomness comes from one seed. `sum()` is what mixing must not change: all replicas, and the
// displacements that one end of a swap has applied and the other has yet to.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/rng.hpp"
#include "core/codec/edge.hpp"
#include "core/mixing/mixer.hpp"
#include "core/train/outer.hpp"

namespace p2p::test {

struct MixWorldOptions {
    std::uint64_t seed = 1;
    std::size_t nodes = 4;
    std::uint64_t floats = 700;
    std::uint64_t shard_floats = 300;
    core::Recipe recipe{};
    core::Duration delay_min = std::chrono::milliseconds{1};
    core::Duration delay_max = std::chrono::milliseconds{20};
    core::Duration work_max = std::chrono::milliseconds{10};
    core::Duration step = std::chrono::milliseconds{5};
    core::Duration deadline = std::chrono::seconds{30};
    core::Duration bury_after = std::chrono::minutes{10};
    double step_noise = 0;  ///< each step adds normal noise of this size to the replica
    double spread = 1;      ///< of the first replicas
    std::vector<std::optional<core::CodecId>> shard_codecs{};
    std::function<float(std::size_t)> initial{};  ///< by node: the job's first parameters, if set
    std::optional<core::ShareRule> share_rule{};
    std::function<bool(std::size_t, std::size_t)> has_edge{};  ///< empty: all pairs
    std::vector<std::string> sites{};                          ///< by node; empty: one site
    core::Duration delay_across{};                             ///< more, between two sites
};

class MixWorld {
  public:
    explicit MixWorld(MixWorldOptions options);

    void run_for(core::Duration duration);
    void break_link(std::size_t a, std::size_t b);
    void mend_link(std::size_t a, std::size_t b);
    /// A new process with a new incarnation; its replica stays as it is (rollbacks are the hall's).
    void restart(std::size_t node);

    void stop_stepping(std::size_t node) { members_[node].is_stepping = false; }

    void begin_finishing();
    void begin_finishing(std::size_t node);

    std::vector<float>& replica(std::size_t node) { return members_[node].replica; }

    core::Mixer& mixer(std::size_t node) { return *members_[node].mixer; }

    [[nodiscard]] std::uint64_t steps(std::size_t node) const { return members_[node].steps; }

    /// Of all replicas plus what is owed, coordinate by coordinate, less all steps.
    [[nodiscard]] std::vector<double> sum() const;
    [[nodiscard]] double largest_distance() const;  ///< L2 of a replica to the mean
    [[nodiscard]] bool is_settled() const;

    [[nodiscard]] std::size_t displacements_owed() const { return owed_.size(); }

    core::TimePoint now{};
    std::vector<core::SwapEnded> ended;
    std::vector<core::LedgerLine> ledger;
    std::vector<std::string> offences;
    std::uint64_t unequal_rebuilds = 0;  ///< swaps whose two ends did not move by the same bits
    std::function<void(core::SwapWord&)> tamper;  ///< of each word on its way, if set

  private:
    struct Member {
        core::PeerId id;
        std::unique_ptr<core::Mixer> mixer;
        core::Incarnation incarnation{1};
        std::vector<float> replica;
        std::vector<float> round_snapshot;
        std::vector<float> round_moved;
        std::optional<core::OuterMomentum> outer;
        std::map<core::EdgeKey, std::shared_ptr<core::EdgeCodec>> codecs;
        std::map<core::EdgeKey, std::shared_ptr<const core::Bytes>> encoded;
        std::map<core::EdgeKey, core::Bytes> arriving;
        std::uint64_t steps = 0;
        core::StepCount limit;
        bool is_stepping = true;
        std::uint64_t life = 0;  // events of an earlier life are dropped
        std::deque<std::function<void()>> trainer_box;
    };

    struct Event {
        core::TimePoint at;
        std::uint64_t order;
        std::function<void()> act;

        bool operator>(const Event& other) const {
            return std::tie(at, order) > std::tie(other.at, other.order);
        }
    };

    void later(core::Duration delay, std::function<void()> act);
    void make_mixer(std::size_t node);
    void link(std::size_t a, std::size_t b);
    void step(std::size_t node);
    void wake(std::size_t node);
    void carry_out(std::size_t node, core::MixingOutputs& outputs);
    void order(std::size_t node, core::SwapOrder& order);
    void deliver(std::size_t from, std::size_t to, core::SwapWord word);
    void pump(std::size_t node, core::PeerId peer);
    void answer(std::size_t node, core::EdgeKey edge, core::SwapResult result);
    void apply(std::size_t node, const core::Apply& apply);
    void take_round_snapshot(std::size_t node, bool goes_on);
    void step_outer(std::size_t node, const core::OuterStep& order);
    core::EdgeCodec& codec(std::size_t node, const core::EdgeKey& edge, std::uint64_t floats);
    std::size_t index_of(core::PeerId peer) const;
    core::Duration draw(core::Duration low, core::Duration high);

    MixWorldOptions options_;
    core::Rng rng_;
    core::Layout layout_;
    std::vector<Member> members_;
    std::map<std::pair<std::size_t, std::size_t>, bool> linked_;
    std::map<std::pair<std::size_t, std::size_t>, core::TimePoint> arrives_;  // order on a link
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> session_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t order_ = 0;
    std::vector<double> steps_sum_;
    // (low, high, shard, n, incarnations of both) -> what the other end has yet to add
    using SwapName = std::
        tuple<std::size_t, std::size_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;

    struct Owed {
        std::size_t by;
        std::uint64_t offset;
        std::vector<float> displacement;
    };

    std::map<SwapName, Owed> owed_;
};

}  // namespace p2p::test
