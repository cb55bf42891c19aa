#pragma once

// The words of an edge swap (design: MIXING, "One primitive"). Every one names job, shard and n.
//
// Two ends exchange Open, chunks, Ready and Close in this order; on a new session between the same
// two incarnations each states with SwapState where it stands, and what is missing is sent again.

#include <cstdint>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/codec_id.hpp"
#include "core/base/hash128.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

/// Which swap: the n-th of this pair of incarnations, for one shard of one job.
struct SwapKey {
    JobId job;
    ShardIndex shard;
    SwapNumber n;

    auto operator<=>(const SwapKey&) const = default;
};

/// The parameters that the job begins with, which each end draws from the spec itself.
inline constexpr SwapNumber initial_reference{~std::uint64_t{0}};

struct SwapOpen {
    SwapKey key;
    Round round;  ///< 0 where the recipe has no rounds
    CodecId codec = CodecId::fp32;
    SwapNumber reference;  ///< n up to which the sender's references stand; initial; 0: none
    float gamma = 1;       ///< step size offered, in (0, 1]; the smaller of both is used
    float share = 0;       ///< part of the sender's budget offered, in (0, 0.75]

    bool operator==(const SwapOpen&) const = default;
};

/// One piece of the sender's encoded value; travels as a bulk frame, `bytes` raw.
struct SwapChunk {
    SwapKey key;
    std::uint64_t offset = 0;            ///< of this piece, a multiple of limits::chunk_bytes_max
    std::uint64_t total = 0;             ///< bytes of the whole encoded value
    std::shared_ptr<const Bytes> bytes;  ///< never null

    bool operator==(const SwapChunk& other) const {
        return key == other.key && offset == other.offset && total == other.total
               && *bytes == *other.bytes;
    }
};

/// Flow control of bulk, of the whole session; decides nothing.
struct SwapAck {
    ByteCount received;  ///< bulk payload bytes that this end has taken since the session began

    bool operator==(const SwapAck&) const = default;
};

/// Why an end does not apply, or answers an open with a close. Travels: never change the numbers.
enum class SwapReason : std::uint8_t {
    none = 0,
    busy = 1,         ///< no budget left for another swap
    unknown_job = 2,  ///< this end does not train that job
    not_running = 3,  ///< paused, not started, or done
    codec = 4,        ///< a codec that this end does not speak
    malformed = 5,    ///< the encoded bytes could not be decoded
    not_finite = 6,   ///< NaN or infinity on either side
    norm = 7,         ///< norms differ beyond the guard's ratio
    hash = 8,         ///< the two ends do not hold the same bytes
    buried = 9,       ///< unsettled for too long
    behind = 10,      ///< this end fetches state first
    round_over = 11,  ///< the round was left behind at its deadline
    theta = 12,       ///< the two ends are further apart than modulo can rebuild
    ascent = 13,      ///< a push that would undo what local steps do (guard "descent")
};

struct SwapReady {
    SwapKey key;
    Hash128 hash;                       ///< over both sides' bytes since the keyframe
    SwapReason why = SwapReason::none;  ///< none: ok

    [[nodiscard]] bool is_ok() const { return why == SwapReason::none; }

    bool operator==(const SwapReady&) const = default;
};

struct SwapClose {
    SwapKey key;
    SwapReason why = SwapReason::none;  ///< none: applied

    bool operator==(const SwapClose&) const = default;
};

/// Where an end stands with swap n. Travels: never change the numbers.
enum class SwapStage : std::uint8_t {
    idle = 0,     ///< n has not been opened by this end
    open = 1,     ///< opened; values under way
    ready = 2,    ///< this end has sent ok with `hash`
    refused = 3,  ///< this end will never apply n
    applied = 4,  ///< this end has applied n
};

/// Sent for each edge when a session begins anew between the same incarnations.
struct SwapState {
    SwapKey key;
    SwapStage stage = SwapStage::idle;
    Hash128 hash;                        ///< meaningful from `ready` on
    SwapReason last = SwapReason::none;  ///< how n - 1 ended here
    SwapNumber reference;                ///< as in SwapOpen
    Bytes chunks_held;                   ///< bitmap of the receiver's chunks, low bit first

    bool operator==(const SwapState&) const = default;
};

/// What a push brings. Travels: never change the numbers.
enum class PushKind : std::uint8_t {
    half = 1,    ///< a replica's shard: the receiver goes half of the way there
    sum = 2,     ///< the same with the weight that goes along (push-sum)
    update = 3,  ///< what a round's steps have done, to be added, from where the round began
};

/// What a pushed blob begins with: a number of its own, so that two pushes of equal values are two
/// blobs, of which one can be forgotten.
inline constexpr std::size_t push_salt_bytes = 8;

/// A value for the receiver alone to take in; it is fetched by its hash (BlobRequest).
struct Push {
    SwapKey key;  ///< n: the sender's pushes of the shard, growing; a gathered update's round
    PushKind kind = PushKind::half;
    CodecId codec = CodecId::fp32;
    double weight = 0;  ///< sum: push-sum weight; update: its share; in (0, 2^32]
    BlobHash hash;
    ByteCount bytes;  ///< of salt and encoded value

    bool operator==(const Push&) const = default;
};

/// The receiver has taken it in, or never will.
struct PushAck {
    SwapKey key;
    SwapReason why = SwapReason::none;  ///< none: taken in

    bool operator==(const PushAck&) const = default;
};

}  // namespace p2p::core
