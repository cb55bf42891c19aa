#include "core/mixing/swap.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"

namespace p2p::core {

bool Edge::has_chunk_to_send() const {
    return is_linked_ && is_encoded_ && !own_close_ && !own_chunks_.is_complete();
}

float Edge::share_taken() const {
    if (!own_open_) return 0;
    return peer_open_ ? std::min(own_open_->share, peer_open_->share) : own_open_->share;
}

/// Codecs over one reference change freely: the leaner of the two is used. Else fp32 is.
CodecId Edge::common_codec(CodecId one, CodecId other, std::uint64_t floats) const {
    if (one == other) return one;
    if (!has_reference(one) || !has_reference(other)) return CodecId::fp32;
    const auto bytes = [&](CodecId codec) {
        return spec_.encoded_bytes(codec, floats, /*keyframe=*/false);
    };
    return bytes(one) < bytes(other) ? one : other;
}

Edge::Agreement Edge::agreement() const {
    P2P_CHECK(own_open_ && peer_open_);
    CodecId codec = common_codec(own_open_->codec, peer_open_->codec, spec_.range.floats);
    const SwapNumber reference =
        own_open_->reference == peer_open_->reference ? own_open_->reference : SwapNumber{0};
    const bool from_initial = reference == initial_reference && has_reference(codec);
    // Nearly as exact as a keyframe, however far replicas have gone, and half as large.
    if (from_initial) codec = CodecId::delta_q8;
    const bool is_without = reference == SwapNumber{0} || reference == initial_reference;
    const bool keyframe = has_keyframe(codec) && is_without && !from_initial;
    const float share = std::min(own_open_->share, peer_open_->share);
    float gamma = has_keyframe(codec) ? std::min(own_open_->gamma, peer_open_->gamma) : 1.0F;
    if (!keyframe) gamma = std::min(gamma, gamma_max(codec));
    return {
        .codec = codec,
        .keyframe = keyframe,
        .from_initial = from_initial,
        .gamma = gamma,
        .weight = share * gamma,
        .bytes = spec_.encoded_bytes(codec, spec_.range.floats, keyframe)};
}

void Edge::open(TimePoint now, const SwapTerms& terms, MixingOutputs& out) {
    P2P_CHECK(phase_ == SwapPhase::idle || phase_ == SwapPhase::asked);
    P2P_CHECK(terms.share > 0 && terms.share < 1);
    opened_first_here_ = phase_ == SwapPhase::idle;
    opened_at_ = now;
    of_round_ = terms.of_round;
    own_open_ = SwapOpen{
        .key = swap_key(),
        .round = terms.round,
        .codec = terms.codec,
        .reference = reference_,
        .gamma = step_sizes_[terms.codec].gamma(),
        .share = terms.share};
    say(*own_open_, out);
    phase_ = SwapPhase::opening;
    if (peer_open_) agree(out);
}

void Edge::decline(TimePoint now, SwapReason why, MixingOutputs& out) {
    P2P_CHECK(phase_ == SwapPhase::asked && why != SwapReason::none);
    say(SwapClose{.key = swap_key(), .why = why}, out);
    settle(now, why, out);
}

void Edge::withdraw(TimePoint now, SwapReason why, MixingOutputs& out) {
    P2P_CHECK(phase_ == SwapPhase::agreed && why != SwapReason::none);
    refuse(now, why, out);
}

void Edge::on_open(TimePoint now, const SwapOpen& open, MixingOutputs& out) {
    if (open.key.n < n_) return;  // sent again on a new session, settled here since
    if (!(open.share > 0 && open.share < 1 && open.gamma > 0 && open.gamma <= 1)) {
        return offend("a swap was opened with a share or gamma outside (0, 1]", out);
    }
    if (open.key.n == n_ + SwapNumber{1} && phase_ != SwapPhase::idle) {
        next_open_ = open;  // n is settled there, and here as soon as the work under way is done
        return;
    }
    if (open.key.n > n_) return offend("a swap was opened out of order", out);
    if (peer_open_) return;

    peer_open_ = open;
    if (!opened_at_) opened_at_ = now;
    phase_ = SwapPhase::asked;
    if (own_open_) agree(out);
}

void Edge::agree(MixingOutputs& out) {
    phase_ = SwapPhase::agreed;
    peer_chunks_ = ChunkMap(agreement().bytes);
    out.emplace_back(WantsRoom{.peer = spec_.key.peer});
}

void Edge::encode(MixingOutputs& out) {
    P2P_CHECK(wants_encode());
    const Agreement agreed = agreement();
    phase_ = SwapPhase::encoding;
    ask(
        Encode{
            .edge = spec_.key,
            .n = n_,
            .range = spec_.range,
            .codec = agreed.codec,
            .keyframe = agreed.keyframe,
            .from_initial = agreed.from_initial,
            .of_round = of_round_,
            .seed = mix_key(spec_.seed, n_.value),
            .theta_factor = theta_factor_.factor()},
        out);
}

void Edge::on_encoded(TimePoint now, const Encoded& encoded, MixingOutputs& out) {
    if (!take_result(now, out)) return;
    has_values_ = true;
    if (!encoded.finite) return refuse(now, SwapReason::not_finite, out);

    const Agreement agreed = agreement();
    P2P_CHECK(encoded.bytes_total == agreed.bytes);
    if (has_reference(agreed.codec) && !agreed.keyframe && !agreed.from_initial) {
        step_sizes_[agreed.codec].on_kept(encoded.kept_ratio);
    }
    is_encoded_ = true;
    own_chunks_ = ChunkMap(encoded.bytes_total);
    next_chunk_ = 0;
    phase_ = SwapPhase::exchanging;
    out.emplace_back(WantsRoom{.peer = spec_.key.peer});
    begin_decoding_when_complete(out);
}

Edge::Piece Edge::take_chunk() {
    P2P_CHECK(has_chunk_to_send());
    while (own_chunks_.has(next_chunk_))
        next_chunk_ = (next_chunk_ + 1) % own_chunks_.count();
    const std::uint64_t index = next_chunk_;
    own_chunks_.add(index);
    return {
        .offset = index * ChunkMap::chunk_bytes,
        .length = own_chunks_.length_of(index),
        .total = own_chunks_.total_bytes()};
}

void Edge::on_chunk(const SwapChunk& chunk, MixingOutputs& out) {
    if (chunk.key.n < n_ || (chunk.key.n == n_ && own_close_)) return;
    if (chunk.key.n > n_ || !own_open_ || !peer_open_) {
        return offend("a chunk came for a swap that is not open", out);
    }
    if (chunk.total != peer_chunks_.total_bytes()
        || !peer_chunks_.fits(chunk.offset, chunk.bytes->size())) {
        return offend("a chunk does not have the size that the job's layout gives", out);
    }
    const std::uint64_t index = chunk.offset / ChunkMap::chunk_bytes;
    if (peer_chunks_.has(index)) return;

    peer_chunks_.add(index);
    has_values_ = true;
    out.emplace_back(SwapOrder{StoreChunk{
        .edge = spec_.key,
        .n = n_,
        .offset = chunk.offset,
        .total = chunk.total,
        .bytes = chunk.bytes}});
    begin_decoding_when_complete(out);
}

void Edge::begin_decoding_when_complete(MixingOutputs& out) {
    if (phase_ != SwapPhase::exchanging || !peer_chunks_.is_complete()) return;
    const Agreement agreed = agreement();
    phase_ = SwapPhase::decoding;
    ask(
        Decode{
            .edge = spec_.key,
            .n = n_,
            .range = spec_.range,
            .codec = agreed.codec,
            .keyframe = agreed.keyframe},
        out);
}

void Edge::on_decoded(TimePoint now, const Decoded& decoded, MixingOutputs& out) {
    if (!take_result(now, out)) return;
    const SwapReason verdict = judge(spec_.guard, decoded);
    own_ready_ = SwapReady{.key = swap_key(), .hash = decoded.hash, .why = verdict};
    distance_ = decoded.distance;
    own_norm_ = decoded.own_norm;
    remote_norm_ = decoded.remote_norm;
    peer_theta_factor_ = decoded.peer_theta_factor;
    say(*own_ready_, out);
    if (verdict != SwapReason::none) return refuse(now, verdict, out);

    phase_ = SwapPhase::ready;
    apply_when_agreed(now, out);
}

void Edge::on_ready(TimePoint now, const SwapReady& ready, MixingOutputs& out) {
    if (ready.key.n < n_) return;
    if (ready.key.n == n_ && (own_close_ || phase_ == SwapPhase::applying)) return;
    if (ready.key.n > n_ || !own_open_ || !peer_open_) {
        return offend("a swap that is not open was said to be ready", out);
    }
    peer_ready_ = ready;
    if (!ready.is_ok()) return refuse(now, ready.why, out);
    apply_when_agreed(now, out);
}

void Edge::apply_when_agreed(TimePoint now, MixingOutputs& out) {
    if (phase_ != SwapPhase::ready || !peer_ready_) return;
    if (peer_ready_->hash != own_ready_->hash) return refuse(now, SwapReason::hash, out);
    start_apply(out);
}

void Edge::start_apply(MixingOutputs& out) {
    phase_ = SwapPhase::applying;
    const double smaller_norm = std::min(own_norm_, remote_norm_);
    ask(
        Apply{
            .edge = spec_.key,
            .n = n_,
            .range = spec_.range,
            .weight = agreement().weight * clip_factor(spec_.guard, distance_, smaller_norm),
            .self_is_low = spec_.self_is_low,
            .of_round = of_round_},
        out);
}

void Edge::on_applied(TimePoint now, const Applied& applied, MixingOutputs& out) {
    if (!take_result(now, out)) return;
    is_applied_ = true;
    displacement_norm_ = applied.displacement_norm;
    reference_ = has_keyframe(agreement().codec) ? n_ : SwapNumber{0};
    if (modulo_bits(agreement().codec) > 0) theta_factor_.on_applied(peer_theta_factor_);
    step_sizes_[agreement().codec].on_distance(distance_);
    close(now, SwapReason::none, out);
}

void Edge::on_work_failed(TimePoint now, MixingOutputs& out) {
    const bool was_applying = phase_ == SwapPhase::applying;
    if (!take_result(now, out)) return;
    if (was_applying) note_burial(out);  // the peer applies, this end cannot any more
    phase_ = SwapPhase::ready;
    refuse(now, SwapReason::not_running, out);
}

bool Edge::take_result(TimePoint now, MixingOutputs& out) {
    P2P_CHECK(busy_);
    busy_ = false;
    if (is_result_stale_) {
        is_result_stale_ = false;
        if (phase_ == SwapPhase::agreed) out.emplace_back(WantsRoom{.peer = spec_.key.peer});
        return false;
    }
    if (!refusal_pending_ || phase_ == SwapPhase::applying) {
        refusal_pending_.reset();
        return true;
    }
    has_values_ = true;
    refuse(now, *refusal_pending_, out);
    return false;
}

void Edge::refuse(TimePoint now, SwapReason why, MixingOutputs& out) {
    if (own_close_ || is_applied_ || phase_ == SwapPhase::applying) return;
    if (busy_) {
        refusal_pending_ = why;
        return;
    }
    close(now, why, out);
}

void Edge::close(TimePoint now, SwapReason why, MixingOutputs& out) {
    if (!is_applied_) {
        if (has_values_) out.emplace_back(SwapOrder{DropSwap{.edge = spec_.key, .n = n_}});
        forget_references(why);
    }
    own_close_ = why;
    phase_ = SwapPhase::closing;
    say(SwapClose{.key = swap_key(), .why = why}, out);
    settle_when_closed(now, out);
}

/// Where the two ends hold other values, they may have drawn other first parameters, too.
void Edge::forget_references(SwapReason why) {
    if (why == SwapReason::hash) spec_.knows_initial = false;
    reference_ = spec_.knows_initial ? initial_reference : SwapNumber{0};
}

void Edge::on_close(TimePoint now, const SwapClose& close, MixingOutputs& out) {
    if (close.key.n != n_ || phase_ == SwapPhase::idle) return;
    if (phase_ == SwapPhase::opening || phase_ == SwapPhase::asked) {
        return settle(now, close.why == SwapReason::none ? SwapReason::busy : close.why, out);
    }
    peer_close_ = close.why;
    if (close.why != SwapReason::none) {
        refuse(now, close.why, out);
    } else if (phase_ == SwapPhase::ready) {
        start_apply(out);  // it applied, so it has seen our ok, and its own was lost on the way
    } else if (phase_ != SwapPhase::applying && phase_ != SwapPhase::closing) {
        peer_close_.reset();
        return offend("a swap was said to be applied before this end agreed to it", out);
    }
    settle_when_closed(now, out);
}

void Edge::settle_when_closed(TimePoint now, MixingOutputs& out) {
    if (own_close_ && peer_close_) settle(now, *own_close_, out);
}

void Edge::settle(TimePoint now, SwapReason why, MixingOutputs& out) {
    if (own_open_) {
        out.emplace_back(SwapEnded{
            .job = spec_.key.job,
            .peer = spec_.key.peer,
            .shard = spec_.key.shard,
            .n = n_,
            .round = own_open_->round,
            .weight = peer_open_ ? agreement().weight : 0,
            .why = is_applied_ ? SwapReason::none : why,
            .took = now - *opened_at_,
            .distance = distance_,
            .own_norm = own_norm_,
            .displacement_norm = displacement_norm_,
            .codec = peer_open_ ? agreement().codec : own_open_->codec,
            .keyframe = peer_open_ && (agreement().keyframe || agreement().from_initial),
            .gamma = peer_open_ ? agreement().gamma : 1});
    }
    last_ = is_applied_ ? SwapReason::none : why;
    if (why == SwapReason::theta || peer_close_ == SwapReason::theta) theta_factor_.on_exceeded();
    forget_swap();
    ++n_;
    if (!next_open_) return;
    const SwapOpen next = *std::exchange(next_open_, std::nullopt);
    on_open(now, next, out);
}

void Edge::forget_swap() {
    phase_ = SwapPhase::idle;
    opened_first_here_ = false;
    of_round_ = false;
    opened_at_.reset();
    own_open_.reset();
    peer_open_.reset();
    own_chunks_ = ChunkMap();
    next_chunk_ = 0;
    peer_chunks_ = ChunkMap();
    is_encoded_ = false;
    has_values_ = false;
    is_applied_ = false;
    distance_ = 0;
    own_norm_ = 0;
    remote_norm_ = 0;
    displacement_norm_ = 0;
    peer_theta_factor_ = 0;
    own_ready_.reset();
    peer_ready_.reset();
    own_close_.reset();
    peer_close_.reset();
    refusal_pending_.reset();
}

void Edge::offend(std::string what, MixingOutputs& out) const {
    out.emplace_back(SwapOffence{
        .peer = spec_.key.peer,
        .why = {
            ErrorCode::malformed,
            std::move(what),
            "the peer runs another version, or is hostile",
            "compare `p2pctl version` on both; the connection is dropped and dialled again"}});
}

}  // namespace p2p::core
