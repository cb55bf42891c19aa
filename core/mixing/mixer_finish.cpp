// The end of a job in a mixer (core/mixing/mixer): passes over all where all are linked with all
// (finish_passes.hpp), else link by link, until every link's distance is within the tolerance.

#include <algorithm>

#include "core/base/deadlines.hpp"
#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

constexpr double patience_swaps = 4;  // a phase is waited for as long as so many usual swaps take

}  // namespace

bool Mixer::needs_finishing_swap(const Slot& slot) const {
    if (!slot.is_measured_in_finish || !slot.distance_ratio) return true;
    return *slot.distance_ratio > config_.finish_tolerance
           || slot.drift > config_.finish_tolerance / 2;
}

void Mixer::plan_finish(TimePoint now, MixingOutputs& out) {
    if (!makes_passes()) return plan_finish_links(now, out);
    // A swap under way would move replicas in the middle of a pass.
    if (!passes_->has_begun() && !has_open_swap()) passes_->begin(now);
    if (passes_->has_begun()) {
        for_each_up([&](const Slot& slot) {
            if (slot.edge.phase() != SwapPhase::asked) return;
            passes_->follow(now, slot.edge.peer_open()->round);
        });
    }
    decline_passed(now, out);
    open_pass_phase(now, out);
}

void Mixer::plan_finish_links(TimePoint now, MixingOutputs& out) {
    for_each_up([&](Slot& slot) {
        if (!slot.edge.is_idle() || slot.retry_at > now || !needs_finishing_swap(slot)) return;
        (void)open(now, slot, out);
    });
}

/// Passes are begun as soon as every node that mixes is linked with this one.
void Mixer::follow_passes(TimePoint now) {
    if (passes_ && passes_->has_given_up()) return;
    std::vector<MemberPlace> members = places(now);
    if (!passes_) {
        const bool is_whole = mesh_size_ > 0 && members.size() >= mesh_size_;
        if (!is_whole || is_settled()) return;
        const auto shards = static_cast<std::uint32_t>(config_.layout.shard_count());
        passes_.emplace(config_.self, shards, config_.finish_tolerance);
    }
    passes_->set_members(now, std::move(members));
    passes_->expire(now, pass_patience());
    const bool has_begun = passes_->has_begun();
    if (!has_begun && now - finishing_since_ >= pass_patience()) passes_->begin(now);
}

void Mixer::open_pass_phase(TimePoint now, MixingOutputs& out) {
    for_each_met(passes_->meetings(), [&](Slot& slot, float weight) {
        Edge& edge = slot.edge;
        if (!passes_->is_waiting_for({edge.key().peer, edge.key().shard})) return;
        const bool is_idle = edge.is_idle() && slot.retry_at <= now;
        if (!is_idle && edge.phase() != SwapPhase::asked) return;
        edge.open(
            now,
            {.share = weight, .codec = codec(slot), .round = passes_->on_wire(), .of_round = false},
            out);
    });
}

/// Swaps of training that come too late, and of phases that are over here.
void Mixer::decline_passed(TimePoint now, MixingOutputs& out) {
    for_each_up([&](Slot& slot) {
        Edge& edge = slot.edge;
        if (edge.phase() != SwapPhase::asked) return;
        const Round round = edge.peer_open()->round;
        const bool is_late = !FinishPasses::is_at_end(round)
                             || (FinishPasses::is_of_pass(round) && passes_->is_past(round));
        if (is_late) edge.decline(now, SwapReason::round_over, out);
    });
}

/// Who has not ended the job yet lets phases of its end wait, as long as those wait who asked:
/// after that they have given passes up, and would lack this link.
bool Mixer::is_answered_by_pass(TimePoint now, const Slot& slot) const {
    const Round round = slot.edge.peer_open()->round;
    if (!is_finishing_) {
        return FinishPasses::is_of_pass(round)
               && now - awaited_since_.value_or(now) < pass_patience();
    }
    return makes_passes() && round != FinishPasses::outside_passes;
}

Duration Mixer::pass_patience() const {
    return std::max(config_.deadline, from_seconds(patience_swaps * slowest_swap_seconds()));
}

bool Mixer::is_settled() const {
    if (!is_finishing_) return false;
    const bool is_by_pass = makes_passes();
    if (is_by_pass && !passes_->is_settled()) return false;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up()) continue;
        for (const Slot& slot : partner.slots) {
            if (slot.edge.is_open() || (!is_by_pass && needs_finishing_swap(slot))) return false;
        }
    }
    return true;
}

std::optional<TimePoint> Mixer::next_finish_wakeup() const {
    if (!makes_passes() || passes_->is_settled()) return std::nullopt;
    std::optional<TimePoint> next;
    const auto consider = [&](TimePoint at) {
        if (at > last_planned_at_) next = earlier(next, at);
    };
    consider(
        (passes_->has_begun() ? passes_->phase_began_at() : finishing_since_) + pass_patience());
    for (const auto& [peer, partner] : partners_) {
        if (partner.takes_part && !partner.is_linked) consider(partner.down_since + link_hold);
    }
    return next;
}

}  // namespace p2p::core
