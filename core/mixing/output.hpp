#pragma once

// What mixing wants done: its own small outputs, which the hall lifts into effects.
// Orders, words and notices in the order in which they are to happen.

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/mixing/messages.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

struct SwapEnded {
    JobId job;
    PeerId peer;
    ShardIndex shard;
    SwapNumber n;
    Round round;
    float weight = 0;
    SwapReason why = SwapReason::none;  ///< none: applied
    Duration took{};                    ///< from the own open
    double distance = 0;                ///< L2 between the two values of the shard
    double own_norm = 0;                ///< L2 of the own value
    double displacement_norm = 0;
    CodecId codec = CodecId::fp32;
    bool keyframe = false;
    float gamma = 1;  ///< step size of the codec, in `weight` already
};

/// Something that moved the mean: what JOBS.md calls a line of the ledger.
struct LedgerLine {
    enum class Kind : std::uint8_t { join, death, rollback, adoption, burial, final_model } kind;
    JobId job;
    PeerId peer;  ///< whom it concerns: the other end of a burial, else this node
    double norm = 0;
    StepCount step;
};

/// A word of a swap, to the other end of its edge.
struct SwapSend {
    PeerId to;
    std::variant<SwapOpen, SwapReady, SwapClose, SwapState> message;
};

/// A word of a push, to who takes it in, or back.
struct PushSend {
    PeerId to;
    std::variant<Push, PushAck> message;
};

using SwapOrder = std::variant<
    TakeRoundSnapshot,
    OuterStep,
    Encode,
    StoreChunk,
    Decode,
    Apply,
    DropSwap,
    DropEdge,
    EncodePush,
    AbsorbPush>;

/// The trainer may go as far as this.
struct StepLimit {
    StepCount steps;
};

inline constexpr StepCount no_step_limit{std::numeric_limits<std::uint64_t>::max()};

/// The peer broke the protocol: its session ends, and the swap with it.
struct SwapOffence {
    PeerId peer;
    Error why;
};

/// An edge wants its link to be asked for room (a value waits to be encoded, or chunks to be sent).
struct WantsRoom {
    PeerId peer;
};

/// What a peer has pushed is to be fetched from it.
struct WantsBlob {
    PeerId peer;
    BlobHash hash;
    ByteCount bytes;
};

/// A blob is served from now on, or (without bytes) nobody wants it any more.
struct BlobServed {
    BlobHash hash;
    ByteCount bytes;
};

/// A link over which a job is mixed.
struct EdgeStatus {
    PeerId peer;
    std::uint64_t applied = 0;
    std::uint64_t refused = 0;
    std::uint64_t open = 0;     ///< swaps now unsettled
    double distance_ratio = 0;  ///< last measured
    Duration swap_time{};       ///< smoothed, from open to close
    ByteCount bytes_sent;
    SwapReason last_refusal = SwapReason::none;
    bool is_chosen = true;          ///< swaps are opened over it here
    CodecId codec = CodecId::fp32;  ///< of the newest swap
};

using MixingOutput = std::variant<
    SwapSend,
    PushSend,
    SwapOrder,
    StepLimit,
    SwapOffence,
    WantsRoom,
    WantsBlob,
    BlobServed,
    SwapEnded,
    LedgerLine>;
using MixingOutputs = std::vector<MixingOutput>;

}  // namespace p2p::core
