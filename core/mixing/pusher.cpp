// The sending side of pushes (core/mixing/pusher), rounds, and what people see of them. What comes
// in is pusher_inbox.cpp.

#include "core/mixing/pusher.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/deadlines.hpp"

namespace p2p::core {

namespace {

constexpr Duration target_patience = std::chrono::seconds{1};
constexpr Duration target_hold = std::chrono::seconds{10};  // of a link that is down
constexpr std::size_t sent_max = 4;                         // of a shard, not answered yet

}  // namespace

Pusher::Pusher(PusherConfig config, Rng rng)
    : config_(std::move(config)),
      rng_(rng),
      shards_(config_.layout.shard_count()) {
    P2P_CHECK(!config_.recipe.swaps() && config_.encoded_bytes != nullptr);
    if (config_.recipe.has_rounds()) rounds_.emplace(config_.recipe.wait, config_.deadline);
}

PushKind Pusher::kind() const {
    switch (config_.recipe.exchange.kind) {
        case Exchange::push: return PushKind::sum;
        case Exchange::gather: return PushKind::update;
        case Exchange::swap:
        case Exchange::push_half: break;
    }
    return PushKind::half;
}

// --- partners ------------------------------------------------------------------------------------

void Pusher::on_linked(TimePoint now, PeerId peer, Incarnation incarnation, MixingOutputs& out) {
    Partner& partner = partners_[peer];
    const bool is_new = partner.incarnation != incarnation;
    if (!is_new && partner.is_linked) return;
    partner.status.peer = peer;
    partner.is_linked = true;
    if (is_new) {
        // Whether the life before had taken in what was sent to it went with it.
        forget_target(peer, out);
        partner.incarnation = incarnation;
        partner.taken.assign(shards_.size(), SwapNumber{});
        for (Shard& shard : shards_)
            std::erase_if(shard.fetched, [&](const Offered& each) { return each.from == peer; });
    }
    for (const Shard& shard : shards_) {
        for (const Sent& sent : shard.sent) {
            if (sent.waiting.contains(peer)) out.emplace_back(PushSend{peer, sent.push});
        }
    }
    plan(now, out);
}

void Pusher::on_unlinked(TimePoint now, PeerId peer, MixingOutputs& out) {
    const auto found = partners_.find(peer);
    if (found == partners_.end() || !found->second.is_linked) return;
    found->second.is_linked = false;
    found->second.down_since = now;
    found->second.offered.clear();  // told again on the next session
    for (std::uint32_t i = 0; rounds_ && i < shards_.size(); ++i)
        rounds_->on_settled({peer, ShardIndex{i}});
    plan(now, out);
}

void Pusher::set_taking_part(TimePoint now, PeerId peer, bool takes_part, MixingOutputs& out) {
    Partner& partner = partners_.at(peer);
    if (std::exchange(partner.takes_part, takes_part) == takes_part) return;
    plan(now, out);
}

// --- time ----------------------------------------------------------------------------------------

void Pusher::start(TimePoint now, StepCount done, MixingOutputs& out) {
    is_running_ = true;
    steps_ = done;
    started_at_ = done;
    unmarked_ = kind() == PushKind::update ? shards_.size() : 0;
    if (rounds_) rounds_->resume_at(done, config_.recipe.when.every_steps);
    for (Shard& shard : shards_) {
        shard.pushed_at = done;
        shard.looked_at = done;
        if (kind() == PushKind::update) shard.wants_own = SwapNumber{};  // where rounds begin
    }
    plan(now, out);
}

void Pusher::stop(TimePoint now, MixingOutputs& out) {
    is_running_ = false;
    for (auto& [peer, partner] : partners_) {
        for (const Offered& each : std::exchange(partner.offered, {}))
            answer(peer, each.push.key, SwapReason::not_running, out);
    }
    for (Shard& shard : shards_) {
        shard.wants_own.reset();
        for (const Offered& each : std::exchange(shard.fetched, {})) {
            if (each.is_own()) shard.weight += each.push.weight;
            if (!each.is_own()) answer(each.from, each.push.key, SwapReason::not_running, out);
            out.emplace_back(BlobServed{each.push.hash, {}});
        }
    }
    plan(now, out);
}

void Pusher::on_stepped(TimePoint now, StepCount steps, MixingOutputs& out) {
    if (config_.recipe.when.kind == When::chance) {
        for (StepCount step = steps_; step < steps; step += StepCount{1})
            is_drawn_ |= rng_.uniform() < config_.recipe.when.probability;
    }
    steps_ = steps;
    if (rounds_) rounds_->on_stepped(steps);
    plan(now, out);
}

std::uint64_t Pusher::unanswered(const Shard& shard, const PeerId& peer) {
    return static_cast<std::uint64_t>(
        std::count_if(shard.sent.begin(), shard.sent.end(), [&](const Sent& sent) {
            return sent.waiting.contains(peer);
        }));
}

std::optional<TimePoint> Pusher::next_wakeup() const {
    std::optional<TimePoint> next;
    if (rounds_ && is_running_) next = rounds_->next_wakeup();
    for (const auto& [peer, partner] : partners_) {
        if (partner.is_linked) continue;
        const bool is_waited_for =
            std::any_of(shards_.begin(), shards_.end(), [whom = peer](const Shard& each) {
                return unanswered(each, whom) > 0;
            });
        if (is_waited_for) next = earlier(next, partner.down_since + target_hold);
    }
    return next;
}

void Pusher::on_wakeup(TimePoint now, MixingOutputs& out) {
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_linked && now >= partner.down_since + target_hold) forget_target(peer, out);
    }
    plan(now, out);
}

// --- what is pushed, and when --------------------------------------------------------------------

void Pusher::plan(TimePoint now, MixingOutputs& out) {
    if (is_running_) {
        if (rounds_) {
            plan_round(now);
        } else {
            plan_pushes(now);
        }
    }
    for (std::uint32_t i = 0; i < shards_.size(); ++i)
        work_on(now, ShardIndex{i}, out);
    tell_limit(out);
}

/// Rounds begin where no step has been taken yet: the trainer stands until that is marked.
void Pusher::tell_limit(MixingOutputs& out) {
    if (!is_running_ || kind() != PushKind::update) return;
    StepLimit limit{no_step_limit};
    if (rounds_) limit.steps = rounds_->limit();
    if (unmarked_ > 0) limit.steps = started_at_;
    if (limit.steps != std::exchange(told_limit_, limit).steps) out.emplace_back(limit);
}

/// One push of a shard at a time, beside those to slow targets: what is under way counts nowhere,
/// and with many of them replicas would only take each other's places.
bool Pusher::is_due(TimePoint now, const Shard& shard) const {
    if (shard.wants_own || shard.sent.size() >= sent_max) return false;
    const bool is_under_way =
        std::any_of(shard.sent.begin(), shard.sent.end(), [&](const Sent& sent) {
            return now - sent.since < target_patience;
        });
    if (is_under_way && kind() != PushKind::update) return false;
    if (config_.recipe.when.kind == When::chance) return is_drawn_;
    return steps_.value >= shard.pushed_at.value + config_.recipe.when.every_steps;
}

void Pusher::plan_pushes(TimePoint now) {
    for (Shard& shard : shards_) {
        if (!is_due(now, shard)) continue;
        shard.pushed_at = steps_;
        shard.wants_own = shard.last + SwapNumber{1};
    }
    is_drawn_ = false;
}

void Pusher::plan_round(TimePoint now) {
    rounds_->expire(now);
    while (true) {
        if (rounds_->is_phase_over()) rounds_->finish(now);
        if (!rounds_->is_due()) break;
        rounds_->begin(now, 1, config_.recipe.when.every_steps);
        const SwapNumber n{rounds_->current().value};
        std::set<Rounds::Member> waiting;
        for (std::uint32_t i = 0; i < shards_.size(); ++i) {
            shards_[i].wants_own = n;
            waiting.insert({PeerId{}, ShardIndex{i}});  // this node itself
            for (const auto& [peer, partner] : partners_) {
                if (partner.is_up() && partner.taken[i] < n) waiting.insert({peer, ShardIndex{i}});
            }
        }
        rounds_->wait_for(std::move(waiting));
    }
}

void Pusher::work_on(TimePoint now, ShardIndex index, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    if (!is_running_ || shard.is_busy) return;
    if (const auto n = std::exchange(shard.wants_own, std::nullopt))
        return encode(now, index, *n, out);
    if (shard.fetched.empty()) return;
    Offered next = std::move(shard.fetched.front());
    shard.fetched.pop_front();
    absorb(index, std::move(next), out);
}

void Pusher::encode(TimePoint now, ShardIndex index, SwapNumber n, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    const ExchangeSpec& exchange = config_.recipe.exchange;
    Push push{
        .key = {config_.job, index, n},
        .kind = kind(),
        .codec = config_.recipe.codec,
        .weight = 0.5,
        .hash = {},
        .bytes = {}};
    if (push.kind == PushKind::sum) {
        shard.weight /= 2;
        push.weight = shard.weight;
    }
    if (push.kind == PushKind::update) {
        push.weight = exchange.rate / static_cast<double>(members(now));
    }
    shard.is_busy = true;
    shard.encoding = push;
    shard.last = std::max(shard.last, n);
    out.emplace_back(SwapOrder{EncodePush{
        .job = config_.job,
        .shard = index,
        .n = n,
        .range = config_.layout.shard(index),
        .kind = push.kind,
        .codec = push.codec,
        .seed = mix_key(mix_key(config_.seed, index.value), n.value),
        .feedback = exchange.feedback,
        .weight = push.weight}});
}

void Pusher::on_encoded(
    TimePoint now, ShardIndex index, const PushEncoded& encoded, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    P2P_CHECK(shard.encoding.has_value());
    Push push = *std::exchange(shard.encoding, std::nullopt);
    shard.is_busy = false;
    shard.norm = encoded.own_norm;
    if (push.key.n == SwapNumber{} && unmarked_ > 0) --unmarked_;
    if (rounds_) rounds_->on_settled({PeerId{}, index});
    push.hash = encoded.hash;
    push.bytes = ByteCount{encoded.bytes};
    const bool is_made = encoded.finite && encoded.bytes > 0;
    std::set<PeerId> waiting;
    if (is_made && is_running_) waiting = targets(now, shard);
    if (!waiting.empty()) {
        out.emplace_back(BlobServed{push.hash, push.bytes});
        for (const PeerId& peer : waiting) {
            Partner& partner = partners_.at(peer);
            if (partner.is_linked) out.emplace_back(PushSend{peer, push});
            partner.status.bytes_sent += push.bytes;
        }
        shard.sent.push_back({.push = push, .waiting = std::move(waiting), .since = now});
    } else {
        if (push.kind == PushKind::sum) shard.weight += push.weight;
        if (is_made) out.emplace_back(BlobServed{push.hash, {}});
    }
    plan(now, out);
}

/// An update also goes to who is away for a moment: told on the next session.
std::set<PeerId> Pusher::targets(TimePoint now, const Shard& shard) {
    std::set<PeerId> all;
    std::vector<PeerId> free;
    for (const auto& [peer, partner] : partners_) {
        if (counts(now, partner)) all.insert(peer);
        if (partner.is_up() && unanswered(shard, peer) == 0) free.push_back(peer);
    }
    if (kind() == PushKind::update) return all;
    if (free.empty()) return {};
    return {free[rng_.below(free.size())]};
}

bool Pusher::counts(TimePoint now, const Partner& partner) {
    return partner.takes_part && (partner.is_linked || now < partner.down_since + target_hold);
}

std::size_t Pusher::members(TimePoint now) const {
    const auto count = std::count_if(partners_.begin(), partners_.end(), [&](const auto& each) {
        return counts(now, each.second);
    });
    return 1 + static_cast<std::size_t>(count);
}

// --- what came of it -----------------------------------------------------------------------------

void Pusher::on_ack(TimePoint now, PeerId from, const PushAck& ack, MixingOutputs& out) {
    if (!config_.layout.has_shard(ack.key.shard)) return;
    Partner& partner = partners_.at(from);
    if (ack.why != SwapReason::none) {
        ++partner.status.refused;
        partner.status.last_refusal = ack.why;
    }
    settle(shards_[ack.key.shard.value], from, ack.key.n, ack.why == SwapReason::none, out);
    plan(now, out);
}

/// One receiver has answered. What it did not take in of a push-sum comes back, value and weight.
void Pusher::settle(
    Shard& shard, PeerId peer, SwapNumber n, bool is_taken, MixingOutputs& out) const {
    const auto found = std::find_if(shard.sent.begin(), shard.sent.end(), [&](const Sent& each) {
        return each.push.key.n == n && each.waiting.contains(peer);
    });
    if (found == shard.sent.end()) return;
    found->waiting.erase(peer);
    if (!found->waiting.empty()) return;
    const Push push = found->push;
    shard.sent.erase(found);
    if (!is_taken && push.kind == PushKind::sum && is_running_) {
        shard.fetched.push_back({.from = {}, .push = push});
        return;
    }
    if (!is_taken && push.kind == PushKind::sum) shard.weight += push.weight;
    out.emplace_back(BlobServed{push.hash, {}});
}

void Pusher::forget_target(PeerId peer, MixingOutputs& out) {
    for (Shard& shard : shards_) {
        std::vector<SwapNumber> open;
        for (const Sent& sent : shard.sent)
            if (sent.waiting.contains(peer)) open.push_back(sent.push.key.n);
        for (const SwapNumber n : open)
            settle(shard, peer, n, /*is_taken=*/false, out);
    }
}

// --- what people see -----------------------------------------------------------------------------

bool Pusher::is_settled() const {
    return std::none_of(
        shards_.begin(), shards_.end(), [](const Shard& shard) { return shard.is_busy; });
}

std::vector<EdgeStatus> Pusher::links() const {
    std::vector<EdgeStatus> links;
    for (const auto& [peer, partner] : partners_) {
        EdgeStatus link = partner.status;
        for (const Shard& shard : shards_)
            link.open += unanswered(shard, peer);
        link.codec = config_.recipe.codec;
        links.push_back(link);
    }
    return links;
}

double Pusher::distance_ratio() const {
    double squares = 0;
    std::size_t count = 0;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up() || partner.status.applied == 0) continue;
        squares += partner.status.distance_ratio * partner.status.distance_ratio;
        ++count;
    }
    return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

double Pusher::parameter_norm() const {
    double squares = 0;
    for (const Shard& shard : shards_)
        squares += shard.norm * shard.norm;
    return std::sqrt(squares);
}

}  // namespace p2p::core
