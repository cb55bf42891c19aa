#pragma once

// The arithmetic that a swap asks for, and what comes back (core/node/work.hpp says how).
//
// Mixing decides on these values alone; buffers, codecs and parameters are the doer's.

#include <compare>
#include <cstdint>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/codec_id.hpp"
#include "core/base/hash128.hpp"
#include "core/base/learning.hpp"
#include "core/base/types.hpp"
#include "core/mixing/guard_spec.hpp"
#include "core/mixing/messages.hpp"

namespace p2p::core {

/// One shard of one job on the link to one peer: the key of all buffers of a swap.
struct EdgeKey {
    JobId job;
    PeerId peer;
    ShardIndex shard;

    auto operator<=>(const EdgeKey&) const = default;
};

/// Which floats of the flat vector a shard is.
struct ShardRange {
    std::uint64_t offset = 0;
    std::uint64_t floats = 0;

    bool operator==(const ShardRange&) const = default;
};

/// What all edges of a round's phase encode (Encode with `of_round`) from now on: a copy of the
/// live parameters between two steps, or, where `goes_on`, the last copy moved by what the round's
/// swaps have moved the replica since. No answer.
struct TakeRoundSnapshot {
    JobId job;
    bool goes_on = false;
};

/// Take an outer step between two local ones (core/train/outer). -> OuterStepped
struct OuterStep {
    JobId job;
    bool restarts = false;  ///< only forget the momentum, and count from where the replica stands
    OuterSettings settings;
};

/// What it moved is in the replica, or nothing was.
struct OuterStepped {};

/// Snapshot a shard between two steps (unless it is of a round) and encode it. -> Encoded
struct Encode {
    EdgeKey edge;
    SwapNumber n;
    ShardRange range;
    CodecId codec = CodecId::fp32;
    bool keyframe = false;
    bool from_initial = false;  ///< no keyframe: both references are the job's first parameters
    bool of_round = false;      ///< of the round's snapshot
    std::uint64_t seed = 0;     ///< of stochastic rounding
    float theta_factor = 2;     ///< of modulo: theta over what the last swap showed, in [2, 16]
};

struct Encoded {
    std::uint64_t bytes_total = 0;
    bool finite = true;     ///< false: NaN or infinity among the parameters; nothing was kept
    double kept_ratio = 1;  ///< share of the energy that the coding kept, in [0, 1]
};

/// Keep a piece of the peer's encoded value. Done at once. No answer.
struct StoreChunk {
    EdgeKey edge;
    SwapNumber n;
    std::uint64_t offset = 0;
    std::uint64_t total = 0;  ///< checked by the Node against the layout
    std::shared_ptr<const Bytes> bytes;
};

/// All pieces are there and the own value is encoded: rebuild the peer's, measure both. -> Decoded
struct Decode {
    EdgeKey edge;
    SwapNumber n;
    ShardRange range;
    CodecId codec = CodecId::fp32;
    bool keyframe = false;
};

struct Decoded {
    bool well_formed = true;   ///< false: the bytes do not decode; nothing else counts then
    bool within_theta = true;  ///< false: modulo could not rebuild; nothing else counts then
    bool finite = true;
    double distance = 0;  ///< L2 of own - remote, of this shard
    double own_norm = 0;
    double remote_norm = 0;
    float peer_theta_factor = 0;  ///< that shaped the peer's modulo; 0 where it was none
    Hash128 hash{};               ///< over both sides' bytes since the keyframe
};

/// Add weight * (r_high - r_low), with this end's sign, to the live parameters between two steps,
/// and move the references. -> Applied
struct Apply {
    EdgeKey edge;
    SwapNumber n;
    ShardRange range;
    float weight = 0;
    bool self_is_low = false;
    bool of_round = false;  ///< moves what the round's next phase starts from, too
};

struct Applied {
    double displacement_norm = 0;
};

/// Make what is pushed of a shard, from a snapshot between two steps, and serve it as a blob.
/// -> PushEncoded
///
/// An update is the pseudo-gradient since the last one, with what was not told before times
/// `feedback`; the replica goes back to where the round began and takes its own update in. With
/// n = 0 that is only where rounds begin, and nothing is made.
struct EncodePush {
    JobId job;
    ShardIndex shard;
    SwapNumber n;
    ShardRange range;
    PushKind kind = PushKind::half;
    CodecId codec = CodecId::fp32;
    std::uint64_t seed = 0;  ///< of stochastic rounding
    double feedback = 0;     ///< of updates
    double weight = 0;       ///< of updates: what each counts, the outer rate included
};

struct PushEncoded {
    bool finite = true;  ///< false: nothing is served
    BlobHash hash;
    std::uint64_t bytes = 0;
    double own_norm = 0;  ///< L2 of the snapshot
};

/// Take in what a peer has pushed, now a blob here: x <- x + weight * (r - x), or of an update
/// x <- x - weight * r, between two steps. -> Absorbed
struct AbsorbPush {
    JobId job;
    ShardIndex shard;
    ShardRange range;
    PushKind kind = PushKind::half;
    CodecId codec = CodecId::fp32;
    BlobHash hash;
    double weight = 0;
    GuardSpec guard;
    std::uint64_t steps = 1;  ///< own steps since the last one of the shard, at least 1
};

struct Absorbed {
    SwapReason why = SwapReason::none;  ///< none: it is in the replica
    double distance = 0;                ///< L2 between the two values; of an update its norm
    double own_norm = 0;                ///< L2 of the snapshot
    double displacement_norm = 0;
};

/// Forget the values of a swap that ended otherwise; references go too. No answer.
struct DropSwap {
    EdgeKey edge;
    SwapNumber n;
};

/// Forget everything of an edge (the peer has a new incarnation, the job is over). No answer.
struct DropEdge {
    EdgeKey edge;
};

}  // namespace p2p::core
