#pragma once

// Rounds: when one begins, who is waited for, and how far the trainer may go meanwhile.
//
// Only recipes that wait have rounds. A round begins when the trainer has come to its boundary; it
// has one phase or several, each open until its swaps have settled. With `round` the trainer stands
// at the boundary until then; with `delay` it goes on, at most so many steps, and never past the
// next boundary (Lian et al. 2017: the gradient runs while the neighbours' models travel). After
// the deadline it goes on with those who answered.
//
// The number of a round follows the highest that a neighbour has opened, so that a node that joins
// late or was away counts as the others do. On the wire a round's number counts its phases, too.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/mixing/recipe.hpp"
#include "core/mixing/round_deadline.hpp"

namespace p2p::core {

class Rounds {
  public:
    using Member = std::pair<PeerId, ShardIndex>;

    static constexpr std::uint64_t phases_max = 256;

    /// @pre wait is not none
    Rounds(WaitSpec wait, Duration deadline_max)
        : wait_(wait),
          deadline_(deadline_max) {}

    [[nodiscard]] Round current() const { return round_; }

    [[nodiscard]] std::uint64_t phase() const { return phase_; }

    /// What SwapOpen says of the phase that is open.
    [[nodiscard]] Round on_wire() const { return Round{round_.value * phases_max + phase_}; }

    [[nodiscard]] std::optional<TimePoint> next_wakeup() const { return waits_until_; }

    /// How far the trainer may go.
    [[nodiscard]] StepCount limit() const {
        if (!is_mixing_) return boundary_;
        if (wait_.kind == Wait::round) return begun_at_;
        if (wait_.delay_steps == 0) return boundary_;
        return std::min(boundary_, begun_at_ + StepCount{wait_.delay_steps});
    }

    /// The steps that a checkpoint had: the next multiple of `steps` is where rounds go on.
    void resume_at(StepCount done, std::uint32_t steps) {
        boundary_ = StepCount{(done.value / steps + 1) * steps};
        done_ = done;
        is_mixing_ = false;
        waiting_.clear();
        waits_until_.reset();
    }

    void on_stepped(StepCount done) { done_ = done; }

    void on_settled(const Member& member) { waiting_.erase(member); }

    void on_peer_round(Round on_wire) {
        peers_ = std::max(peers_, Round{on_wire.value / phases_max});
    }

    /// The deadline has passed: nobody is waited for in this round any more.
    void expire(TimePoint now) {
        if (!waits_until_ || now < *waits_until_) return;
        waiting_.clear();
        phases_ = 0;
        waits_until_.reset();
    }

    [[nodiscard]] bool is_due() const { return !is_mixing_ && done_ >= boundary_; }

    [[nodiscard]] bool is_mixing() const { return is_mixing_; }

    [[nodiscard]] bool is_phase_over() const { return is_mixing_ && waiting_.empty(); }

    /// The number of the next round, where it begins now.
    [[nodiscard]] Round next() const { return std::max(round_ + Round{1}, peers_); }

    /// A round of so many phases; the one after it is due `steps` later. @pre is_due
    void begin(TimePoint now, std::uint64_t phases, std::uint32_t steps) {
        round_ = next();
        phase_ = 0;
        phases_ = phases;
        begun_at_ = boundary_;
        boundary_ = boundary_ + StepCount{steps};
        is_mixing_ = true;
        began_ = now;
        has_waited_ = false;
        waits_until_ = now + deadline_.get();
    }

    /// Whom the phase waits for, once its swaps are open.
    void wait_for(std::set<Member> opened) {
        waiting_ = std::move(opened);
        has_waited_ |= !waiting_.empty();
    }

    /// Goes on to the next phase, if there is one. @pre is_phase_over
    [[nodiscard]] bool next_phase() {
        ++phase_;
        return phase_ < phases_;
    }

    /// The round's swaps have settled, or were left behind.
    void finish(TimePoint now) {
        is_mixing_ = false;
        if (has_waited_) deadline_.add(now - began_);
        waits_until_.reset();
    }

  private:
    WaitSpec wait_;
    RoundDeadline deadline_;
    StepCount begun_at_;  // own steps when the round began
    StepCount boundary_;  // ... when the next one does
    StepCount done_;
    Round round_;
    Round peers_;
    std::uint64_t phase_ = 0;
    std::uint64_t phases_ = 0;
    bool is_mixing_ = false;
    TimePoint began_{};
    bool has_waited_ = false;
    std::set<Member> waiting_;
    std::optional<TimePoint> waits_until_;
};

}  // namespace p2p::core
