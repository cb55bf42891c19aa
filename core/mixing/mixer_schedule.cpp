// The schedule of a mixer (core/mixing/mixer): when a swap opens, with whom, for which share.
//
// Each plan looks at all slots anew; there is no queue of intentions that could go stale.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

constexpr Duration budget_hold = std::chrono::seconds{15};  // of a link that is down
constexpr Duration partner_patience = std::chrono::seconds{1};

}  // namespace

void Mixer::plan(TimePoint now, MixingOutputs& out) {
    if (is_planning_) return;
    is_planning_ = true;
    last_planned_at_ = now;
    const std::size_t first = out.size();
    if (is_running_ && is_finishing_) follow_passes(now);
    answer_asked(now, out);
    if (is_running_ && is_finishing_) plan_finish(now, out);
    if (is_running_ && !is_finishing_) plan_running(now, out);
    absorb(now, first, out);
    is_planning_ = false;
}

void Mixer::plan_running(TimePoint now, MixingOutputs& out) {
    if (!config_.recipe.swaps()) return;
    plan_outer(now, out);
    if (bound_) keep_in_bound(now, out);
    if (rounds_) return plan_rounds(now, out);
    if (config_.recipe.is_scheduled()) return plan_scheduled(now, out);
    if (config_.recipe.partners.kind == Partners::linked) return plan_linked(now, out);
    if (config_.recipe.partners.kind == Partners::neighbours) return plan_all_links(now, out);
    plan_random(now, out);
}

/// Own rounds of H steps, counted from 1.
std::uint64_t Mixer::clock() const {
    return 1 + steps_.value / steps_between();
}

void Mixer::keep_in_bound(TimePoint now, MixingOutputs& out) {
    bound_->on_own(now, clock());
    StepLimit limit{no_step_limit};
    if (const auto most = bound_->limit(now)) limit.steps = StepCount{*most * steps_between()};
    if (limit.steps != std::exchange(told_limit_, limit).steps) out.emplace_back(limit);
}

/// Outer steps that no round calls for: every so many own steps, on the live replica. It carries on
/// what the mesh agrees on only as far as mixing has averaged that meanwhile: no link's swap may
/// take longer, and swaps out of the site must have moved half of what replicas differ by.
void Mixer::plan_outer(TimePoint now, MixingOutputs& out) {
    const OuterSpec& outer = config_.recipe.outer;
    if (outer.kind == Outer::none || rounds_ || is_outer_under_way_ || steps_ < outer_due_) return;
    const double weight_per_second = mixed_weight_.per_second(now);
    const double mixing_seconds = weight_per_second > 0 ? 0.5 / weight_per_second : 0;
    if (now < outer_taken_at_ + from_seconds(std::max(slowest_swap_seconds(), mixing_seconds)))
        return;
    outer_taken_at_ = now;
    outer_due_ = steps_ + StepCount{outer.every_steps};
    take_outer_step(out);
}

/// As swaps usually take, over the link on which they take longest.
double Mixer::slowest_swap_seconds() const {
    double slowest_seconds = 0;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up()) continue;
        slowest_seconds = std::max(slowest_seconds, partner.swap_seconds.value_or(0));
    }
    return slowest_seconds;
}

void Mixer::take_outer_step(MixingOutputs& out) {
    is_outer_under_way_ = true;
    // Where a round has made replicas equal, all must take the same step.
    if (!rounds_ && outer_strength_.is_tripped_by(distance_ratio() * parameter_norm())) {
        out.emplace_back(
            SwapOrder{OuterStep{.job = config_.job, .restarts = true, .settings = {}}});
    }
    out.emplace_back(
        SwapOrder{OuterStep{.job = config_.job, .restarts = false, .settings = outer_settings()}});
}

/// The mean of n replicas moves by the mean of n gradients: what a mesh gains over a node must come
/// from a longer step. Where the controller chooses, the outer step is as long as the root of the
/// mesh's size says, within four, and the learning rate stays the job's.
OuterSettings Mixer::outer_settings() const {
    const OuterSpec& outer = config_.recipe.outer;
    OuterSettings settings{
        .rate = outer.rate,
        .momentum = outer.momentum,
        .looks_ahead = outer.kind == Outer::nesterov,
        .strength = outer_strength_.get()};
    if (!config_.recipe.is_steered) return settings;
    const double gain = std::clamp(1.25 * std::sqrt(static_cast<double>(members_)), 1.0, 4.0);
    settings.momentum = std::max(0.0, 1 - settings.rate / gain);
    return settings;
}

/// In a round the schedule answers; what comes from outside it is answered at once.
bool Mixer::is_answered_by_schedule(const Slot& slot) const {
    return is_running_ && !is_finishing_ && rounds_ && !is_across(slot.edge.key().peer);
}

void Mixer::answer_asked(TimePoint now, MixingOutputs& out) {
    for (auto& [peer, partner] : partners_) {
        if (!partner.is_linked) continue;  // answered when it is linked again
        for (Slot& slot : partner.slots) {
            if (slot.edge.phase() != SwapPhase::asked || is_answered_by_schedule(slot)) continue;
            if (!is_running_) {
                slot.edge.decline(now, SwapReason::not_running, out);
            } else if (is_answered_by_pass(now, slot)) {
                continue;
            } else if (!open(now, slot, out)) {
                slot.edge.decline(now, SwapReason::busy, out);
            }
        }
    }
}

bool Mixer::open(TimePoint now, Slot& slot, MixingOutputs& out) {
    const ShardIndex shard = slot.edge.key().shard;
    const bool is_linked = config_.recipe.partners.kind == Partners::linked && !is_finishing_;
    const auto share = is_linked
                           ? linked_share(now, slot)
                           : offered_share(share_rule(), links_up(), budget_taken(now, shard));
    if (!share) return false;
    slot.clock_told = clock();
    slot.edge.open(
        now,
        {.share = *share,
         .codec = codec(slot),
         .round = is_finishing_ ? FinishPasses::outside_passes
                  : bound_      ? Round{clock()}
                                : Round{},
         .of_round = false},
        out);
    return true;
}

std::uint32_t Mixer::steps_between() const {
    const WhenSpec& when = config_.recipe.when;
    if (steps_.value < when.warmup_steps) return 1;
    const bool by_speed = config_.recipe.work == WorkShare::by_speed;
    const double steps = static_cast<double>(every_steps_) * (by_speed ? work_ratio_ : 1);
    return std::max(1U, static_cast<std::uint32_t>(std::lround(steps)));
}

bool Mixer::is_step_due(StepCount last) const {
    return steps_.value >= last.value + steps_between();
}

/// The link is free, and either end has stepped since its last swap; or, where nodes stand when
/// they are too far ahead, the other end has not been told how far this one is.
bool Mixer::may_open(TimePoint now, const Slot& slot) const {
    const bool is_news = bound_ && clock() > slot.clock_told;
    return slot.edge.is_idle() && slot.retry_at <= now
           && (is_step_due(slot.steps_at_end) || is_news);
}

/// One own swap at a time; but one whose partner is slow or stands still keeps only its part of the
/// budget, and not this node from the others.
void Mixer::plan_random(TimePoint now, MixingOutputs& out) {
    for (std::uint32_t shard = 0; shard < config_.layout.shard_count(); ++shard) {
        if (!is_step_due(opened_at_steps_[shard])) continue;
        std::vector<Slot*> idle;
        bool waits = false;
        for (auto& [peer, partner] : partners_) {
            Slot& slot = partner.slots[shard];
            waits |= partner.is_up() && slot.edge.was_opened_here()
                     && now - *slot.edge.opened_at() < partner_patience;
            if (partner.is_up() && slot.edge.is_idle() && slot.retry_at <= now)
                idle.push_back(&slot);
        }
        if (waits || idle.empty()) continue;
        Slot& chosen = *idle[rng_.below(idle.size())];
        if (open(now, chosen, out)) opened_at_steps_[shard] = steps_;
    }
}

void Mixer::plan_all_links(TimePoint now, MixingOutputs& out) {
    for_each_up([&](Slot& slot) {
        if (may_open(now, slot)) (void)open(now, slot, out);
    });
}

CodecId Mixer::codec(const Slot& slot) const {
    const std::uint32_t shard = slot.edge.key().shard.value;
    const auto of_layer = config_.shard_codecs.empty() ? std::nullopt : config_.shard_codecs[shard];
    const CodecId whole =
        config_.recipe.is_codec_steered ? slot.choice.offer() : config_.recipe.codec;
    const CodecId own = of_layer.value_or(whole);
    if (!is_finishing_) return own;
    // A stateless lossy codec has a floor under the distance (JOBS.md, The end). A sparse one would
    // call references near while what they have not been told is not; dense, they catch up.
    if (is_sparse(own)) return CodecId::delta_q8;
    return has_reference(own) ? own : CodecId::fp32;
}

ShareRule Mixer::share_rule() const {
    if (config_.share_rule) return *config_.share_rule;
    if (is_finishing_) return ShareRule::all_links;
    if (config_.recipe.partners.kind != Partners::neighbours) return ShareRule::one_partner;
    return rounds_ ? ShareRule::metropolis : ShareRule::all_links;
}

/// A partner that does not even answer keeps nothing: see withdraw_when_late.
bool Mixer::is_unheard(TimePoint now, const Edge& edge) {
    return edge.phase() == SwapPhase::opening && now - *edge.opened_at() >= partner_patience;
}

float Mixer::budget_taken(TimePoint now, ShardIndex shard, LinkKind kind) const {
    float taken = 0;
    for (const auto& [peer, partner] : partners_) {
        if (kind != LinkKind::any && is_outside(peer) != (kind == LinkKind::outside)) continue;
        if (!partner.is_linked && now - partner.down_since > budget_hold) continue;
        const Edge& edge = partner.slots[shard.value].edge;
        if (!is_unheard(now, edge)) taken += edge.share_taken();
    }
    return taken;
}

/// The answer has come, when this end may have given the budget away.
void Mixer::withdraw_when_late(TimePoint now, Slot& slot, MixingOutputs& out) {
    const Edge& edge = slot.edge;
    if (edge.phase() != SwapPhase::agreed || now - *edge.opened_at() < partner_patience) return;
    if (budget_taken(now, edge.key().shard) <= budget_total) return;
    slot.edge.withdraw(now, SwapReason::busy, out);
}

std::size_t Mixer::links_up() const {
    std::size_t count = 0;
    for (const auto& [peer, partner] : partners_)
        if (partner.is_up()) ++count;
    return count;
}

}  // namespace p2p::core
