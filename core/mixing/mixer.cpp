#include "core/mixing/mixer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/deadlines.hpp"
#include "core/base/overload.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t shards_in_flight_max = 4;                 // a link: snapshots held at once
constexpr Duration retry_busy = std::chrono::milliseconds{10};  // and up to as much again, drawn
constexpr Duration retry_refused = std::chrono::milliseconds{500};

}  // namespace

Mixer::Mixer(MixerConfig config, Rng rng)
    : config_(std::move(config)),
      rng_(rng),
      every_steps_(config_.recipe.when.every_steps) {
    P2P_CHECK(config_.encoded_bytes != nullptr);
    opened_at_steps_.resize(config_.layout.shard_count());
    norms_.resize(config_.layout.shard_count());
    const WaitSpec& wait = config_.recipe.wait;
    if (wait.kind == Wait::bounded) {
        bound_.emplace(wait.ahead_low, wait.ahead_high, config_.deadline);
    }
    if (config_.recipe.swaps() && config_.recipe.has_rounds()) {
        rounds_.emplace(config_.recipe.wait, config_.deadline);
    }
}

Mixer::Slot* Mixer::find(PeerId peer, ShardIndex shard) {
    const auto found = partners_.find(peer);
    if (found == partners_.end() || shard.value >= found->second.slots.size()) return nullptr;
    return &found->second.slots[shard.value];
}

// --- partners ------------------------------------------------------------------------------------

void Mixer::make_slots(PeerId peer, Partner& partner) {
    for (std::uint32_t i = 0; i < config_.layout.shard_count(); ++i) {
        const EdgeKey key{.job = config_.job, .peer = peer, .shard = ShardIndex{i}};
        const EdgeSpec spec{
            .key = key,
            .self_is_low = config_.self < peer,
            .range = config_.layout.shard(key.shard),
            .guard = config_.recipe.guard,
            .encoded_bytes = config_.encoded_bytes,
            .seed = mix_key(mix_key(config_.seed, peer.bytes), i),
            .knows_initial = config_.knows_initial};
        partner.slots.push_back(
            {.edge = Edge(spec),
             .steps_at_end = steps_,
             .retry_at = {},
             .distance_ratio = {},
             .is_measured_in_finish = false,
             .drift = 0,
             .choice = {},
             .clock_told = 0});
    }
    partner.status.peer = peer;
}

void Mixer::on_linked(TimePoint now, PeerId peer, Incarnation incarnation, MixingOutputs& out) {
    const std::size_t first = out.size();
    Partner& partner = partners_[peer];
    if (partner.slots.empty()) make_slots(peer, partner);
    const bool is_new = partner.incarnation != incarnation;
    if (!is_new && partner.is_linked) return;

    for (Slot& slot : partner.slots) {
        if (is_new && partner.incarnation != Incarnation{}) slot.edge.reset(now, out);
        slot.is_measured_in_finish = slot.is_measured_in_finish && !is_new;
        slot.retry_at = now;
    }
    partner.incarnation = incarnation;
    partner.is_linked = true;
    have_links_changed_ = true;
    for (Slot& slot : partner.slots)
        slot.edge.on_linked(now, out);
    absorb(now, first, out);
    plan(now, out);
}

void Mixer::on_unlinked(TimePoint now, PeerId peer, MixingOutputs& out) {
    const auto found = partners_.find(peer);
    if (found == partners_.end() || !found->second.is_linked) return;
    found->second.is_linked = false;
    found->second.down_since = now;
    if (bound_) bound_->forget(peer);
    have_links_changed_ = true;
    for (Slot& slot : found->second.slots) {
        slot.edge.on_unlinked();
        if (rounds_) rounds_->on_settled({peer, slot.edge.key().shard});
    }
    plan(now, out);
}

void Mixer::set_taking_part(TimePoint now, PeerId peer, bool takes_part, MixingOutputs& out) {
    Partner& partner = partners_.at(peer);
    if (std::exchange(partner.takes_part, takes_part) == takes_part) return;
    have_links_changed_ = true;
    if (bound_ && !takes_part) bound_->forget(peer);
    plan(now, out);
}

// --- events --------------------------------------------------------------------------------------

void Mixer::on_word(TimePoint now, PeerId from, const SwapWord& word, MixingOutputs& out) {
    const SwapKey key = std::visit([](const auto& each) { return each.key; }, word);
    Slot* slot = find(from, key.shard);
    if (slot == nullptr) {
        out.emplace_back(SwapOffence{
            .peer = from,
            .why = {
                ErrorCode::malformed,
                "a swap names shard " + std::to_string(key.shard.value) + " of a job with "
                    + std::to_string(config_.layout.shard_count()),
                "the peer cuts the model otherwise",
                "compare `p2pctl version` on both"}});
        return;
    }
    const std::size_t first = out.size();
    Edge& edge = slot->edge;
    std::visit(
        Overload{
            [&](const SwapOpen& open) {
                const bool is_at_end = FinishPasses::is_at_end(open.round);
                const Round round = is_at_end ? Round{} : open.round;
                if (rounds_) rounds_->on_peer_round(round);
                if (!is_finishing_ && !awaited_since_ && FinishPasses::is_of_pass(open.round))
                    awaited_since_ = now;
                if (bound_ && round > Round{}) bound_->on_peer(now, from, round.value);
                edge.on_open(now, open, out);
                withdraw_when_late(now, *slot, out);
            },
            [&](const SwapChunk& chunk) { edge.on_chunk(chunk, out); },
            [&](const SwapReady& ready) { edge.on_ready(now, ready, out); },
            [&](const SwapClose& close) { edge.on_close(now, close, out); },
            [&](const SwapState& state) {
                edge.on_state(now, state, out);
            }},
        word);
    absorb(now, first, out);
    plan(now, out);
}

void Mixer::on_worked(
    TimePoint now, const EdgeKey& edge, const SwapResult& result, MixingOutputs& out) {
    Slot* slot = find(edge.peer, edge.shard);
    P2P_CHECK(slot != nullptr);
    const std::size_t first = out.size();
    Edge& link = slot->edge;
    std::visit(
        Overload{
            [&](const Encoded& encoded) { link.on_encoded(now, encoded, out); },
            [&](const Decoded& decoded) { link.on_decoded(now, decoded, out); },
            [&](const Applied& applied) { link.on_applied(now, applied, out); },
            [&](const Error&) {
                link.on_work_failed(now, out);
            }},
        result);
    absorb(now, first, out);
    plan(now, out);
}

void Mixer::on_stepped(TimePoint now, StepCount steps, MixingOutputs& out) {
    if (steps > steps_ && stepped_at_ != TimePoint{}) {
        const auto taken = static_cast<double>(steps.value - steps_.value);
        step_seconds_.add(to_seconds(now - stepped_at_) / taken);
    }
    stepped_at_ = now;
    steps_ = steps;
    if (rounds_) rounds_->on_stepped(steps);
    plan(now, out);
}

void Mixer::on_outer_stepped(TimePoint now, MixingOutputs& out) {
    if (!std::exchange(is_outer_under_way_, false)) return;
    if (rounds_ && rounds_->is_mixing()) finish_round(now);
    plan(now, out);
}

void Mixer::start(TimePoint now, StepCount done, MixingOutputs& out) {
    steps_ = done;
    stepped_at_ = {};
    is_running_ = true;
    is_outer_under_way_ = false;
    if (rounds_) rounds_->resume_at(done, steps_between());
    if (bound_) bound_->restart(now, clock());
    if (config_.recipe.outer.kind != Outer::none) {
        outer_due_ = done + StepCount{config_.recipe.outer.every_steps};
        out.emplace_back(
            SwapOrder{OuterStep{.job = config_.job, .restarts = true, .settings = {}}});
    }
    told_limit_ = StepLimit{rounds_ && !is_finishing_ ? rounds_->limit() : no_step_limit};
    out.emplace_back(told_limit_);
    plan(now, out);
}

void Mixer::stop(TimePoint now, MixingOutputs& out) {
    is_running_ = false;
    plan(now, out);
}

void Mixer::begin_finishing(TimePoint now, MixingOutputs& out) {
    is_finishing_ = true;
    finishing_since_ = now;
    plan(now, out);
}

// --- what ended ----------------------------------------------------------------------------------

void Mixer::absorb(TimePoint now, std::size_t first, MixingOutputs& out) {
    for (std::size_t i = first; i < out.size(); ++i) {
        if (auto* ended = std::get_if<SwapEnded>(&out[i])) on_ended(now, *ended);
        if (auto* line = std::get_if<LedgerLine>(&out[i])) line->step = steps_;
    }
}

void Mixer::on_ended(TimePoint now, const SwapEnded& ended) {
    Partner& partner = partners_.at(ended.peer);
    Slot& slot = partner.slots[ended.shard.value];
    slot.steps_at_end = steps_;
    if (rounds_) rounds_->on_settled({ended.peer, ended.shard});
    if (ended.why != SwapReason::none) {
        if (passes_ && ended.why == SwapReason::round_over) {
            passes_->on_missed(now, {ended.peer, ended.shard}, ended.round);
        }
        ++partner.status.refused;
        partner.status.last_refusal = ended.why;
        // Drawn, or nodes that turn each other down in a circle do so again and again.
        const Duration wait = ended.why == SwapReason::busy ? retry_busy : retry_refused;
        slot.retry_at = now + from_seconds(to_seconds(wait) * (1 + rng_.uniform()));
        return;
    }
    ++partner.status.applied;
    ++swaps_applied_;
    partner.swap_seconds.add(to_seconds(ended.took));
    partner.status.codec = ended.codec;
    norms_[ended.shard.value] = ended.own_norm;
    const double norm = std::max(ended.own_norm, 1e-30);
    slot.distance_ratio = ended.distance / norm;
    learn(now, slot, ended);
    slot.drift = 0;
    slot.is_measured_in_finish = is_finishing_;
    if (passes_) {
        passes_->on_swapped(now, {ended.peer, ended.shard}, ended.round, *slot.distance_ratio);
    }
    for (auto& [peer, other] : partners_) {
        if (peer == ended.peer) continue;
        other.slots[ended.shard.value].drift += ended.displacement_norm / norm;
    }
}

// --- room on the links ---------------------------------------------------------------------------

void Mixer::start_encodings(PeerId peer, MixingOutputs& out) {
    const auto found = partners_.find(peer);
    if (found == partners_.end()) return;
    std::size_t in_flight = 0;
    for (const Slot& slot : found->second.slots) {
        if (slot.edge.phase() >= SwapPhase::encoding) ++in_flight;
    }
    for (Slot& slot : found->second.slots) {
        if (in_flight >= shards_in_flight_max) return;
        if (!slot.edge.wants_encode()) continue;
        slot.edge.encode(out);
        ++in_flight;
    }
}

std::optional<Mixer::ChunkToSend> Mixer::next_chunk(PeerId peer) {
    const auto found = partners_.find(peer);
    if (found == partners_.end()) return std::nullopt;
    for (Slot& slot : found->second.slots) {
        if (!slot.edge.has_chunk_to_send()) continue;
        const Edge::Piece piece = slot.edge.take_chunk();
        found->second.status.bytes_sent += ByteCount{piece.length};
        return ChunkToSend{.edge = slot.edge.key(), .n = slot.edge.n(), .piece = piece};
    }
    return std::nullopt;
}

// --- time ----------------------------------------------------------------------------------------

std::optional<TimePoint> Mixer::next_wakeup() const {
    std::optional<TimePoint> next;
    if (rounds_ && is_running_ && !is_finishing_) next = rounds_->next_wakeup();
    if (bound_ && is_running_ && !is_finishing_) next = bound_->next_wakeup(last_planned_at_);
    if (is_finishing_ && is_running_) next = next_finish_wakeup();
    for (const auto& [peer, partner] : partners_) {
        for (const Slot& slot : partner.slots) {
            if (const auto opened = slot.edge.opened_at()) {
                next = earlier(next, std::max(*opened, slot.retry_at) + config_.bury_after);
            } else if (is_running_ && partner.is_up() && slot.retry_at > last_planned_at_) {
                next = earlier(next, slot.retry_at);
            }
        }
    }
    return next;
}

void Mixer::on_wakeup(TimePoint now, MixingOutputs& out) {
    const std::size_t first = out.size();
    for (auto& [peer, partner] : partners_) {
        for (Slot& slot : partner.slots) {
            const auto opened = slot.edge.opened_at();
            if (!opened || now < std::max(*opened, slot.retry_at) + config_.bury_after) continue;
            slot.edge.bury(now, out);
            slot.retry_at = now;  // a burial that waits for work under way is looked at again later
        }
    }
    absorb(now, first, out);
    plan(now, out);
}

// --- what people see -----------------------------------------------------------------------------

bool Mixer::has_open_swap() const {
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_linked) continue;
        for (const Slot& slot : partner.slots)
            if (slot.edge.is_open()) return true;
    }
    return false;
}

double Mixer::distance_ratio() const {
    double squares = 0;
    std::size_t count = 0;
    for (const auto& [peer, partner] : partners_) {
        for (const Slot& slot : partner.slots) {
            if (!partner.is_up() || !slot.distance_ratio) continue;
            if (is_finishing_ && !slot.is_measured_in_finish) continue;
            squares += *slot.distance_ratio * *slot.distance_ratio;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

double Mixer::parameter_norm() const {
    double squares = 0;
    for (const double norm : norms_)
        squares += norm * norm;
    return std::sqrt(squares);
}

std::vector<EdgeStatus> Mixer::links() const {
    std::vector<EdgeStatus> links;
    for (const auto& [peer, partner] : partners_) {
        EdgeStatus link = partner.status;
        double squares = 0;
        for (const Slot& slot : partner.slots) {
            if (slot.edge.is_open()) ++link.open;
            const double ratio = slot.distance_ratio.value_or(0);
            squares += ratio * ratio / static_cast<double>(partner.slots.size());
        }
        link.distance_ratio = std::sqrt(squares);
        link.swap_time = from_seconds(partner.swap_seconds.value_or(0));
        if (config_.recipe.partners.kind == Partners::linked) {
            link.is_chosen = partner.is_up() && link_choice_.has(peer);
        }
        links.push_back(link);
    }
    return links;
}

}  // namespace p2p::core
