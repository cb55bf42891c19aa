// The receiving side of pushes (core/mixing/pusher): from the word that tells of one to the answer.

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/mixing/pusher.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t offered_max = 64;  // of a peer and shard, beyond what honest rounds lead to

}  // namespace

void Pusher::on_push(TimePoint now, PeerId from, const Push& push, MixingOutputs& out) {
    Partner& partner = partners_.at(from);
    const SwapKey& key = push.key;
    const bool has_shard = config_.layout.has_shard(key.shard);
    const std::uint64_t floats = has_shard ? config_.layout.shard(key.shard).floats : 0;
    const bool is_ours = push.kind == kind() && push.codec == config_.recipe.codec;
    const auto wanted =
        push_salt_bytes + config_.encoded_bytes(config_.recipe.codec, floats, /*keyframe=*/false);
    if (!has_shard || (is_ours && push.bytes.value != wanted)) {
        out.emplace_back(SwapOffence{
            .peer = from,
            .why = {
                ErrorCode::malformed,
                "a push names a shard or a size that the job does not have",
                "the peer cuts the model otherwise",
                "compare `p2pctl version` on both"}});
        return;
    }
    if (!is_running_) return answer(from, key, SwapReason::not_running, out);
    if (!is_ours) return answer(from, key, SwapReason::codec, out);
    if (key.n <= partner.taken[key.shard.value]) return answer(from, key, SwapReason::none, out);
    if (holds(shards_[key.shard.value], from, key.n)) return;  // answered once it is taken in
    const auto is_same = [&](const Offered& each) {
        return each.push.key == key;
    };
    if (std::any_of(partner.offered.begin(), partner.offered.end(), is_same)) return;
    if (partner.offered.size() >= offered_max * shards_.size()) {
        return answer(from, key, SwapReason::busy, out);
    }
    if (rounds_) rounds_->on_peer_round(Round{key.n.value * Rounds::phases_max});
    partner.offered.push_back({.from = from, .push = push, .since = now});
    if (partner.offered.size() == 1) fetch_next(partner, out);
}

bool Pusher::holds(const Shard& shard, PeerId from, SwapNumber n) {
    const auto is_it = [&](const Offered& each) {
        return each.from == from && each.push.key.n == n;
    };
    return (shard.absorbing && is_it(*shard.absorbing))
           || std::any_of(shard.fetched.begin(), shard.fetched.end(), is_it);
}

void Pusher::fetch_next(const Partner& partner, MixingOutputs& out) const {
    if (partner.offered.empty()) return;
    const Offered& next = partner.offered.front();
    out.emplace_back(
        WantsBlob{.peer = next.from, .hash = next.push.hash, .bytes = next.push.bytes});
}

void Pusher::answer(PeerId to, const SwapKey& key, SwapReason why, MixingOutputs& out) const {
    if (!partners_.at(to).is_linked) return;  // told again on the next session, and answered then
    out.emplace_back(PushSend{to, PushAck{.key = key, .why = why}});
}

void Pusher::on_fetched(TimePoint now, PeerId from, bool is_here, MixingOutputs& out) {
    const auto found = partners_.find(from);
    if (found == partners_.end() || found->second.offered.empty()) return;
    Partner& partner = found->second;
    Offered offered = std::move(partner.offered.front());
    partner.offered.pop_front();
    const ShardIndex index = offered.push.key.shard;
    if (is_here) {
        shards_[index.value].fetched.push_back(std::move(offered));
    } else {
        answer(from, offered.push.key, SwapReason::buried, out);
        if (rounds_) rounds_->on_settled({from, index});
    }
    fetch_next(partner, out);
    plan(now, out);
}

void Pusher::absorb(ShardIndex index, Offered offered, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    const Push& push = offered.push;
    double weight = push.weight;  // of half and update
    if (push.kind == PushKind::sum) weight = push.weight / (shard.weight + push.weight);
    shard.is_busy = true;
    out.emplace_back(SwapOrder{AbsorbPush{
        .job = config_.job,
        .shard = index,
        .range = config_.layout.shard(index),
        .kind = push.kind,
        .codec = push.codec,
        .hash = push.hash,
        .weight = push.kind == PushKind::half ? 0.5 : weight,
        .guard = config_.recipe.guard,
        .steps = std::max<std::uint64_t>(1, (steps_ - shard.looked_at).value)}});
    shard.looked_at = steps_;
    shard.absorbing = std::move(offered);
}

void Pusher::on_absorbed(
    TimePoint now, ShardIndex index, const Absorbed& absorbed, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    P2P_CHECK(shard.absorbing.has_value());
    const Offered offered = *std::exchange(shard.absorbing, std::nullopt);
    const Push& push = offered.push;
    shard.is_busy = false;
    shard.norm = absorbed.own_norm;
    out.emplace_back(BlobServed{push.hash, {}});
    if (offered.is_own()) {
        shard.weight += push.weight;
        return plan(now, out);
    }
    Partner& partner = partners_.at(offered.from);
    if (rounds_) rounds_->on_settled({offered.from, index});
    SwapNumber& taken = partner.taken[index.value];
    taken = std::max(taken, push.key.n);
    EdgeStatus& status = partner.status;
    if (absorbed.why == SwapReason::none) {
        ++absorbed_count_;
        ++status.applied;
        if (push.kind == PushKind::sum) shard.weight += push.weight;
        status.distance_ratio = absorbed.distance / std::max(absorbed.own_norm, 1e-30);
        status.swap_time = now - offered.since;
    } else {
        ++status.refused;
        status.last_refusal = absorbed.why;
    }
    answer(offered.from, push.key, absorbed.why, out);
    out.emplace_back(SwapEnded{
        .job = config_.job,
        .peer = offered.from,
        .shard = index,
        .n = push.key.n,
        .round = rounds_ ? rounds_->current() : Round{},
        .weight = static_cast<float>(push.weight),
        .why = absorbed.why,
        .took = now - offered.since,
        .distance = absorbed.distance,
        .own_norm = absorbed.own_norm,
        .displacement_norm = absorbed.displacement_norm,
        .codec = push.codec});
    plan(now, out);
}

/// The trainer is gone, or memory is: what was under way is answered as not taken in.
void Pusher::on_work_failed(TimePoint now, ShardIndex index, MixingOutputs& out) {
    Shard& shard = shards_[index.value];
    if (shard.absorbing) {
        Absorbed nothing;
        nothing.why = SwapReason::not_running;
        return on_absorbed(now, index, nothing, out);
    }
    PushEncoded nothing;
    nothing.finite = false;
    if (shard.encoding) on_encoded(now, index, nothing, out);
}

}  // namespace p2p::core
