#pragma once

// Arithmetic that a Node asks for, and what comes back.
//
// The Node never touches a parameter: it names an edge, a swap or a job, and the doer (the daemon's
// workers and trainer, the simulator) knows the buffers. For one edge at most one piece of work is
// under way at a time; StoreChunk is done at once, in order. Every Work is answered by exactly one
// on_worked with its ticket, but for those marked "no answer".

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/codec_id.hpp"
#include "core/base/hash128.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "core/job/spec.hpp"

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

// --- the spec -----------------------------------------------------------------------------------

/// Check that `bytes` are the canonical spec whose hash is `job`, and read them. -> SpecRead
struct ReadSpec {
    JobId job;
    std::shared_ptr<const Bytes> bytes;
};

struct SpecRead {
    Result<JobSpec> spec;
};

// --- a swap -------------------------------------------------------------------------------------

/// Copy the live parameters between two steps, once for all edges of a round. No answer; an Encode
/// with `from_round_snapshot` that follows uses the newest one.
struct TakeRoundSnapshot {
    JobId job;
};

/// Snapshot a shard between two steps (unless the round's is asked for) and encode it. -> Encoded
struct Encode {
    EdgeKey edge;
    SwapNumber n;
    ShardRange range;
    CodecId codec = CodecId::fp32;
    bool keyframe = false;
    bool from_round_snapshot = false;
    std::uint64_t seed = 0;  ///< of stochastic rounding
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
    bool well_formed = true;  ///< false: the bytes do not decode; nothing else counts then
    bool finite = true;
    double distance = 0;  ///< L2 of own - remote, of this shard
    double own_norm = 0;
    double remote_norm = 0;
    Hash128 hash;  ///< over both sides' bytes since the keyframe
};

/// Add weight * (r_high - r_low), with this end's sign, to the live parameters between two steps,
/// and move the references. -> Applied
struct Apply {
    EdgeKey edge;
    SwapNumber n;
    ShardRange range;
    float weight = 0;
    bool self_is_low = false;
};

struct Applied {
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

// --- a job's replica
// ------------------------------------------------------------------------------

/// Measure the live parameters on the job's test set. -> Evaluated
struct Evaluate {
    JobId job;
};

struct Evaluated {
    bool has_test_set = false;
    double loss = 0;
    double accuracy = 0;  ///< ratio
};

/// Copy the parameters (and, where `with_optimizer`, the optimizer's state) into a blob that is
/// served by its hash from now on. -> Frozen
struct Freeze {
    JobId job;
    bool with_optimizer = false;
};

struct Frozen {
    BlobHash hash;
    std::uint64_t bytes = 0;
};

/// A blob has come whole (the Node has seen every piece go by): check its hash and measure how far
/// its parameters lie from the replica. -> BlobChecked
struct CheckBlob {
    JobId job;
    BlobHash hash;
};

struct BlobChecked {
    Result<double>
        distance_ratio;  ///< over the replica's norm; an error: forged or not of this job
};

/// Keep a piece of a blob that was asked for. Done at once. No answer.
struct StoreBlob {
    JobId job;
    BlobHash hash;
    std::uint64_t offset = 0;
    std::uint64_t total = 0;
    std::shared_ptr<const Bytes> bytes;
};

/// Forget a blob, whole or in pieces. No answer.
struct DropBlob {
    BlobHash hash;
};

/// Replace the replica by a checked blob between two steps. -> Adopted
struct Adopt {
    JobId job;
    BlobHash hash;
};

struct Adopted {
    double displacement_norm = 0;  ///< L2 of new - old: a ledger line
};

using WorkOrder = std::variant<
    ReadSpec,
    TakeRoundSnapshot,
    Encode,
    StoreChunk,
    Decode,
    Apply,
    DropSwap,
    DropEdge,
    Evaluate,
    Freeze,
    CheckBlob,
    StoreBlob,
    DropBlob,
    Adopt>;

/// `Error`: the work could not be done (the job is gone here, memory, disk).
using WorkResult = std::
    variant<SpecRead, Encoded, Decoded, Applied, Evaluated, Frozen, BlobChecked, Adopted, Error>;

}  // namespace p2p::core
