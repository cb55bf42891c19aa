#pragma once

// What p2pctl can ask a Node to do. Reading needs none of these: it looks at NodeStatus.
// The operator's wishes as values; who may send them is for the control sockets to say.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/types.hpp"
#include "core/job/spec.hpp"

namespace p2p::core {

using CommandId = std::uint64_t;

/// Announce a job to the mesh and join it here. Same id again: nothing changes. Same name with
/// another spec: conflict. Once it is done, the doer serves `spec_bytes` as the blob named by
/// `job`.
struct SubmitJob {
    JobId job;
    JobSpec spec;
    std::shared_ptr<const Bytes> spec_bytes;  ///< canonical
    bool only_validate = false;
};

struct JoinJob {
    JobId job;
};

struct PauseJob {
    JobId job;
};

struct ResumeJob {
    JobId job;
};

/// For the whole mesh: a signed JobControl.
struct StopJob {
    JobId job;
};

/// Frees memory and disk here. @pre the job has ended here, or it is stopped here by this
struct RemoveJob {
    JobId job;
};

/// Tell peers, take no new swap, checkpoint: what SIGTERM means. Done when all jobs are saved.
struct Shutdown {};

/// The allow-list was read again, or a network was founded.
struct AdoptConfig {
    std::shared_ptr<const struct NodeConfig> config;
};

using Command = std::
    variant<SubmitJob, JoinJob, PauseJob, ResumeJob, StopJob, RemoveJob, Shutdown, AdoptConfig>;

struct CommandDone {
    JobId job;         ///< of job commands
    std::string text;  ///< one line for a person
};

}  // namespace p2p::core
