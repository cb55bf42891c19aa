// The part of an edge that deals with broken connections, restarts and giving up
// (core/mixing/swap).
//
// Swap and reference state belong to the two incarnations, not to the connection: a new session
// carries on where the old one broke, a new incarnation starts from nothing.

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/mixing/swap.hpp"

namespace p2p::core {

void Edge::on_linked(TimePoint now, MixingOutputs& out) {
    is_linked_ = true;
    has_answered_ = false;
    say(state(), out);
    say_again(out);  // chunks may follow before the peer has said where it stands
    if (const auto state = std::exchange(state_unheard_, std::nullopt)) on_state(now, *state, out);
}

void Edge::on_unlinked() {
    is_linked_ = false;
    state_unheard_.reset();
}

/// All that the peer may not know of n; each word may come twice.
void Edge::say_again(MixingOutputs& out) const {
    if (own_open_) say(*own_open_, out);
    if (own_ready_) say(*own_ready_, out);
    if (own_close_) say(SwapClose{.key = swap_key(), .why = *own_close_}, out);
}

SwapState Edge::state() const {
    SwapStage stage = SwapStage::idle;
    if (own_open_) stage = SwapStage::open;
    if (has_sent_ok()) stage = SwapStage::ready;
    if (own_close_ && *own_close_ != SwapReason::none) stage = SwapStage::refused;
    if (is_applied_) stage = SwapStage::applied;
    return {
        .key = swap_key(),
        .stage = stage,
        .hash = own_ready_ ? own_ready_->hash : Hash128{},
        .last = last_,
        .reference = reference_,
        .chunks_held = peer_chunks_.bits()};
}

void Edge::on_state(TimePoint now, const SwapState& state, MixingOutputs& out) {
    if (!is_linked_) {
        state_unheard_ = state;  // the peer takes this end for a partner before this end does
        return;
    }
    if (!has_answered_) {
        has_answered_ = true;  // the own state may have come before the peer listened
        say(this->state(), out);
    }
    if (state.key.n == n_) return resend(state, out);
    if (state.key.n == n_ + SwapNumber{1}) return on_peer_ahead(now, state, out);
    if (state.key.n + SwapNumber{1} == n_)
        return;  // our own SwapState tells it that n - 1 is settled
    realign(now, std::max(n_, state.key.n) + SwapNumber{1}, out);
}

void Edge::resend(const SwapState& state, MixingOutputs& out) {
    say_again(out);
    if (!is_encoded_) {
        if (wants_encode()) out.emplace_back(WantsRoom{.peer = spec_.key.peer});
        return;
    }
    own_chunks_.set_bits(state.chunks_held);
    next_chunk_ = 0;
    if (has_chunk_to_send()) out.emplace_back(WantsRoom{.peer = spec_.key.peer});
}

/// The peer has settled n, which is still open here: its close was lost, or it buried n.
void Edge::on_peer_ahead(TimePoint now, const SwapState& state, MixingOutputs& out) {
    switch (phase_) {
        case SwapPhase::idle: ++n_; return;
        case SwapPhase::opening:
        case SwapPhase::asked:
            return settle(
                now, state.last == SwapReason::none ? SwapReason::buried : state.last, out);
        case SwapPhase::closing: peer_close_ = state.last; return settle_when_closed(now, out);
        case SwapPhase::applying: peer_close_ = state.last; return;
        case SwapPhase::ready:
            peer_close_ = state.last;
            if (state.last == SwapReason::none) return start_apply(out);
            return refuse(now, state.last, out);
        case SwapPhase::agreed:
        case SwapPhase::encoding:
        case SwapPhase::exchanging:
        case SwapPhase::decoding:
            peer_close_ = SwapReason::buried;
            return refuse(now, SwapReason::buried, out);
    }
}

/// Numbers that no history of one pair of incarnations explains (the peer has dropped the job and
/// taken it up again): both ends start above both.
void Edge::realign(TimePoint now, SwapNumber next, MixingOutputs& out) {
    if (phase_ != SwapPhase::applying) note_burial(out);
    if (has_values_ && !is_applied_) {
        out.emplace_back(SwapOrder{DropSwap{.edge = spec_.key, .n = n_}});
    }
    if (busy_) is_result_stale_ = true;
    forget_references(SwapReason::buried);
    next_open_.reset();
    settle(now, SwapReason::buried, out);
    n_ = next;
    say(state(), out);
}

void Edge::bury(TimePoint now, MixingOutputs& out) {
    if (phase_ == SwapPhase::idle || phase_ == SwapPhase::applying) return;
    if (phase_ == SwapPhase::asked) return decline(now, SwapReason::buried, out);
    if (busy_) {
        refusal_pending_ = SwapReason::buried;
        return;
    }
    note_burial(out);
    if (!is_applied_ && !own_close_) {
        say(SwapClose{.key = swap_key(), .why = SwapReason::buried}, out);
        if (has_values_) out.emplace_back(SwapOrder{DropSwap{.edge = spec_.key, .n = n_}});
        forget_references(SwapReason::buried);
    }
    settle(now, SwapReason::buried, out);
}

void Edge::reset(TimePoint now, MixingOutputs& out) {
    if (phase_ != SwapPhase::applying) note_burial(out);
    if (busy_) is_result_stale_ = true;
    next_open_.reset();
    if (phase_ != SwapPhase::idle) settle(now, SwapReason::buried, out);
    out.emplace_back(SwapOrder{DropEdge{.edge = spec_.key}});
    n_ = SwapNumber{1};
    forget_references(SwapReason::buried);
    last_ = SwapReason::none;
    state_unheard_.reset();
    step_sizes_.clear();
    theta_factor_ = ThetaFactor();
}

/// Where this end has said ok and does not know whether the other applied: that may move the mean.
void Edge::note_burial(MixingOutputs& out) const {
    if (!has_sent_ok() || is_applied_ || own_close_) return;
    out.emplace_back(LedgerLine{
        .kind = LedgerLine::Kind::burial,
        .job = spec_.key.job,
        .peer = spec_.key.peer,
        .norm = static_cast<double>(agreement().weight) * distance_,
        .step = StepCount{}});
}

}  // namespace p2p::core
