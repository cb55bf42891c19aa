#pragma once

// What a Node wants done, in order; each is fire and forget.
//
// Failure comes back as an event or as silence past a deadline. The driver (daemon) and the world
// (simulator) carry them out.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/learning.hpp"
#include "core/node/command.hpp"
#include "core/node/message.hpp"
#include "core/node/notice.hpp"
#include "core/node/work.hpp"

namespace p2p::core {

/// A whole message to a connected peer; dropped in silence where it is not connected.
struct Send {
    PeerId to;
    Message message;
};

/// A piece of this node's encoded value of a swap, by reference: the doer holds the bytes.
struct SendChunk {
    EdgeKey edge;  ///< edge.peer is the receiver
    SwapNumber n;
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint64_t total = 0;
};

/// A piece of a blob that this node serves, by reference; `total` 0 and `length` 0: not held.
struct SendBlob {
    PeerId to;
    BlobHash hash;
    std::uint64_t offset = 0;
    std::uint32_t length = 0;  ///< the doer sends less at the blob's end
};

/// Dial one of these addresses; answered by on_connected or on_unreachable.
struct Connect {
    PeerId peer;
    std::vector<std::string> addresses;
};

struct Disconnect {
    PeerId peer;
    Error why;
};

/// What a job's trainer is to do.
struct StartTraining {
    JobId job;
    std::shared_ptr<const JobSpec> spec;
    std::shared_ptr<const Bytes> spec_bytes;                ///< canonical, for the run directory
    std::string set_folder_name;                            ///< spec.data.set
    LocalSpec local{};                                      ///< of the recipe that it resolves to
    std::optional<Signed<JobAnnouncement>> announcement{};  ///< kept beside the spec
};

/// How far the trainer may go, and what its learning rate follows.
struct Pace {
    JobId job;
    StepCount step_limit;        ///< stand still once this many steps are done
    SampleCount samples_others;  ///< of the mesh, without this node
    SampleCount samples_total;   ///< where the schedule ends; 0: by `time_total`
    Duration time_total{};       ///< jobs that end by minutes
    std::uint32_t members = 1;   ///< nodes that train, for schedule.scale
};

/// Take no step any more, but go on with snapshots and merges.
struct EndTraining {
    JobId job;
};

/// Give up the trainer and its memory. `remove`: and the run directory.
struct DropTraining {
    JobId job;
    bool remove = false;
};

/// Write a checkpoint; answered by on_saved.
struct Save {
    JobId job;
    bool is_final = false;               ///< of the final model: kept, and exported by default
    JobState state = JobState::running;  ///< as the checkpoint is to say (ResumedJob)
    SampleCount samples_mesh;
    BlobHash final_hash;  ///< zero before the end
};

/// A piece of arithmetic; answered by on_worked(ticket) unless the order says "no answer".
struct Work {
    Ticket ticket;
    WorkOrder order;
};

/// What core says of itself; logs, metrics and events are made of it.
struct Say {
    Notice notice;
};

/// The answer to on_command.
struct Reply {
    CommandId command = 0;
    Result<CommandDone> result;
};

using Effect = std::variant<
    Send,
    SendChunk,
    SendBlob,
    Connect,
    Disconnect,
    StartTraining,
    Pace,
    EndTraining,
    DropTraining,
    Save,
    Work,
    Say,
    Reply>;

using Effects = std::vector<Effect>;

}  // namespace p2p::core
