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
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "core/job/sketch.hpp"
#include "core/job/spec.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

// --- the spec -----------------------------------------------------------------------------------

/// Check that `bytes` are the canonical spec whose hash is `job`, and read them; if they are, they
/// are served as the blob of that hash from now on. -> SpecRead
struct ReadSpec {
    JobId job;
    std::shared_ptr<const Bytes> bytes;
};

struct SpecRead {
    Result<JobSpec> spec;
};

// --- a replica --------------------------------------------------------------------------------

/// Measure the live parameters on the job's test set. -> Evaluated
struct Evaluate {
    JobId job;
};

struct Evaluated {
    bool has_test_set = false;
    double loss = 0;
    double accuracy = 0;  ///< ratio
};

/// Take the sketch of the whole replica, for the reports. -> Sketched
struct TakeSketch {
    JobId job;
};

struct Sketched {
    Sketch sketch;
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

/// Serve the final model of a job that was done before this process began, from its checkpoint.
/// -> Frozen
struct RecallFinal {
    JobId job;
    std::shared_ptr<const JobSpec> spec;
    std::shared_ptr<const Bytes> spec_bytes;  ///< canonical
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
    Sketch sketch{};     ///< of the blob's parameters, where they are such
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
    OuterStep,
    Encode,
    StoreChunk,
    Decode,
    Apply,
    DropSwap,
    DropEdge,
    EncodePush,
    AbsorbPush,
    Evaluate,
    TakeSketch,
    Freeze,
    RecallFinal,
    CheckBlob,
    StoreBlob,
    DropBlob,
    Adopt>;

/// `Error`: the work could not be done (the job is gone here, memory, disk).
using WorkResult = std::variant<
    SpecRead,
    Encoded,
    Decoded,
    Applied,
    PushEncoded,
    Absorbed,
    OuterStepped,
    Evaluated,
    Sketched,
    Frozen,
    BlobChecked,
    Adopted,
    Error>;

}  // namespace p2p::core
