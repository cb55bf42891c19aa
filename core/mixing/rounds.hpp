#pragma once

// Rounds: when one begins, who is waited for, and how far the trainer may go meanwhile.
//
// Only recipes that wait have rounds. A round begins when the trainer stands at a multiple of H
// steps; with `round` it stands there until the round's swaps have settled, with `delay` it goes on
// and stands at the next multiple until then (Lian et al. 2017: the gradient runs while the
// neighbours' models travel). After the deadline it goes on with those who answered.
//
// The number of a round follows the highest that a neighbour has opened, so that a node that joins
// late or was away counts as the others do.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/mixing/recipe.hpp"

namespace p2p::core {

class Rounds {
  public:
    using Member = std::pair<PeerId, ShardIndex>;

    /// @pre wait is not none, steps > 0
    Rounds(Wait wait, std::uint32_t steps, Duration deadline)
        : wait_(wait),
          steps_(steps),
          deadline_(deadline),
          limit_(steps) {}

    [[nodiscard]] Round current() const { return round_; }

    [[nodiscard]] StepCount limit() const { return limit_; }

    [[nodiscard]] std::optional<TimePoint> next_wakeup() const { return waits_until_; }

    /// The steps that a checkpoint had: the next multiple of H after them is where rounds go on.
    void resume_at(StepCount done) {
        limit_ = StepCount{(done.value / steps_ + 1) * steps_};
        done_ = done;
    }

    void on_stepped(StepCount done) { done_ = done; }

    void on_settled(const Member& member) {
        waiting_.erase(member);
        if (waiting_.empty()) waits_until_.reset();
    }

    /// The deadline has passed: nobody is waited for any more.
    void expire(TimePoint now) {
        if (!waits_until_ || now < *waits_until_) return;
        waiting_.clear();
        waits_until_.reset();
    }

    void on_peer_round(Round round) { peers_ = std::max(peers_, round); }

    /// The trainer stands at a boundary whose round has not begun, and may leave the last one.
    [[nodiscard]] bool is_due() const {
        if (done_ < limit_ || is_open_here_) return false;
        return wait_ == Wait::round || waiting_.empty();
    }

    /// A new round begins; whom it waits for is told once their swaps are open. @pre is_due
    void begin(TimePoint now) {
        round_ = std::max(round_ + Round{1}, peers_);
        waits_until_ = now + deadline_;
        is_open_here_ = true;
    }

    void wait_for(std::set<Member> opened) {
        waiting_ = std::move(opened);
        if (waiting_.empty()) waits_until_.reset();
    }

    /// Moves the limit on once nobody is waited for; true if it moved.
    [[nodiscard]] bool advance() {
        if (!is_open_here_) return false;
        if (wait_ == Wait::round && !waiting_.empty()) return false;
        limit_ = limit_ + StepCount{steps_};
        is_open_here_ = false;
        return true;
    }

  private:
    Wait wait_;
    std::uint32_t steps_;
    Duration deadline_;
    StepCount limit_;
    StepCount done_;
    Round round_;
    Round peers_;
    bool is_open_here_ = false;  // the round of limit_ has begun, the trainer stands at limit_
    std::set<Member> waiting_;
    std::optional<TimePoint> waits_until_;
};

}  // namespace p2p::core
