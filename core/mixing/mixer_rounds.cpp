// Rounds and schedules of a mixer (core/mixing/mixer): whom a round's phases meet, when they open,
// what comes after them.

#include <algorithm>
#include <set>
#include <utility>

#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

constexpr std::uint32_t steps_between_max = 4096;  // of a recipe whose H adapts

}  // namespace

void Mixer::plan_rounds(TimePoint now, MixingOutputs& out) {
    rounds_->expire(now);
    while (!is_outer_under_way_) {
        if (!rounds_->is_mixing()) {
            if (!rounds_->is_due()) break;
            begin_round(now);
        } else if (!rounds_->is_phase_over()) {
            break;
        } else if (!rounds_->next_phase()) {
            end_round(now, out);
            continue;
        }
        open_phase(now, out);
    }
    decline_past(now, out);
    if (config_.recipe.partners.kind == Partners::sites) plan_across(now, out);
    const StepLimit limit{rounds_->limit()};
    if (limit.steps != std::exchange(told_limit_, limit).steps) out.emplace_back(limit);
}

void Mixer::begin_round(TimePoint now) {
    const bool is_scheduled = config_.recipe.is_scheduled();
    phases_ = is_scheduled ? meetings(now, rounds_->next()) : std::vector<OwnPhase>{};
    rounds_->begin(now, is_scheduled ? phases_.size() : 1, steps_between());
}

void Mixer::open_phase(TimePoint now, MixingOutputs& out) {
    const std::uint64_t phase = rounds_->phase();
    out.emplace_back(SwapOrder{TakeRoundSnapshot{.job = config_.job, .goes_on = phase > 0}});
    std::set<Rounds::Member> opened;
    const auto meet = [&](Slot& slot, float weight) {
        if (!is_in_turn(slot.edge.key().shard, rounds_->current())) return;
        if (open_meeting(now, slot, weight, out)) {
            opened.insert({slot.edge.key().peer, slot.edge.key().shard});
        }
    };
    if (!config_.recipe.is_scheduled()) {
        const auto share = offered_share(ShareRule::metropolis, links_up(), 0);
        for_each_up([&](Slot& slot) { meet(slot, share.value_or(0.5F)); });
    } else if (phase < phases_.size()) {
        for_each_met(phases_[phase], meet);
    }
    rounds_->wait_for(std::move(opened));
}

/// An open of an earlier phase is turned down first: its asker has gone on, or will.
bool Mixer::open_meeting(TimePoint now, Slot& slot, float weight, MixingOutputs& out) {
    Edge& edge = slot.edge;
    const Round round = rounds_ ? rounds_->on_wire() : Round{};
    if (edge.phase() == SwapPhase::asked && config_.recipe.is_scheduled()
        && edge.peer_open()->round < round) {
        edge.decline(now, SwapReason::round_over, out);
    }
    const bool is_asked =
        edge.phase() == SwapPhase::asked && !FinishPasses::is_at_end(edge.peer_open()->round);
    const bool can_open = is_asked || (edge.is_idle() && slot.retry_at <= now);
    if (!can_open) return false;
    edge.open(
        now,
        {.share = weight, .codec = codec(slot), .round = round, .of_round = rounds_.has_value()},
        out);
    return true;
}

void Mixer::end_round(TimePoint now, MixingOutputs& out) {
    if (config_.recipe.outer.kind == Outer::none) return finish_round(now);
    take_outer_step(out);
}

void Mixer::finish_round(TimePoint now) {
    rounds_->finish(now);
    phases_.clear();
    follow_distance();
}

/// H doubles below the band of the consensus distance and halves above it.
void Mixer::follow_distance() {
    const WhenSpec& when = config_.recipe.when;
    if (when.kind != When::adaptive) return;
    const double ratio = distance_ratio();
    if (ratio > when.distance_high) every_steps_ = std::max(1U, every_steps_ / 2);
    if (ratio < when.distance_low) every_steps_ = std::min(steps_between_max, every_steps_ * 2);
}

/// Opens that no phase to come will answer: of a phase that is over, and of a schedule that differs
/// since its members do.
void Mixer::decline_past(TimePoint now, MixingOutputs& out) {
    if (!config_.recipe.is_scheduled()) return;
    const Round last = rounds_->on_wire();
    for_each_up([&](Slot& slot) {
        Edge& edge = slot.edge;
        if (edge.phase() != SwapPhase::asked || is_across(edge.key().peer)) return;
        if (edge.peer_open()->round <= last) edge.decline(now, SwapReason::round_over, out);
    });
}

/// Schedules that nobody waits for: each node by its own count of rounds.
void Mixer::plan_scheduled(TimePoint now, MixingOutputs& out) {
    const Round round{steps_.value / steps_between()};
    std::vector<OwnPhase> phases;
    for (std::uint32_t shard = 0; shard < config_.layout.shard_count(); ++shard) {
        if (!is_step_due(opened_at_steps_[shard]) || !is_in_turn(ShardIndex{shard}, round))
            continue;
        opened_at_steps_[shard] = steps_;
        if (phases.empty()) phases = meetings(now, round);
        if (phases.empty()) return;
        for (const Meeting& meeting : phases.front()) {
            Slot* slot = find(meeting.peer, ShardIndex{shard});
            if (slot == nullptr || !partners_.at(meeting.peer).is_up()) continue;
            if (slot->edge.is_idle() && slot->retry_at <= now) (void)open(now, *slot, out);
        }
    }
}

/// The round's speaker of a site keeps one swap open with a node of another.
void Mixer::plan_across(TimePoint now, MixingOutputs& out) {
    std::size_t site_size = 1;
    std::size_t place = 0;
    std::vector<PeerId> outside;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up()) continue;
        if (is_across(peer)) {
            outside.push_back(peer);
        } else {
            ++site_size;
            if (peer < config_.self) ++place;
        }
    }
    if (outside.empty() || rounds_->current().value % site_size != place) return;
    for (std::uint32_t shard = 0; shard < config_.layout.shard_count(); ++shard) {
        std::vector<Slot*> idle;
        bool is_busy = false;
        for (const PeerId& peer : outside) {
            Slot& slot = *find(peer, ShardIndex{shard});
            is_busy |= slot.edge.was_opened_here();
            if (slot.edge.is_idle() && slot.retry_at <= now) idle.push_back(&slot);
        }
        if (!is_busy && !idle.empty()) (void)open(now, *idle[rng_.below(idle.size())], out);
    }
}

/// This node and those it mixes with. One whose link has just broken stays among them, since others
/// go by it, too.
std::vector<MemberPlace> Mixer::places(TimePoint now) const {
    std::vector<MemberPlace> members{{.id = config_.self, .site = config_.site}};
    for (const auto& [peer, partner] : partners_) {
        if (!partner.takes_part || (!partner.is_linked && now - partner.down_since >= link_hold)) {
            continue;
        }
        members.push_back({.id = peer, .site = site_of(peer)});
    }
    return members;
}

std::vector<OwnPhase> Mixer::meetings(TimePoint now, Round round) const {
    std::vector<MemberPlace> members = places(now);
    std::sort(
        members.begin(), members.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    const bool is_kept = config_.recipe.partners.kind == Partners::density;
    if (is_kept && members == graph_of_) return graph_;
    auto found =
        meetings_of(config_.self, config_.recipe.partners, members, round, config_.job_seed);
    if (is_kept) {
        graph_of_ = std::move(members);
        graph_ = found;
    }
    return found;
}

bool Mixer::is_across(PeerId peer) const {
    return config_.recipe.partners.kind == Partners::sites && is_outside(peer);
}

bool Mixer::is_in_turn(ShardIndex shard, Round round) const {
    const ShardSpec& shards = config_.recipe.shards;
    if (shards.kind != Shards::staggered) return true;
    return shard.value % shards.parts == round.value % shards.parts;
}

}  // namespace p2p::core
