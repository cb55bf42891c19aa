#pragma once

// The folder of one job on one node: state_dir/jobs/NAME, or NAME@6 where another job has the name.
//
//   job.spec                the canonical bytes; their hash is the job's id
//   job.id                  that id, for people
//   job.toml                the same keys as text, for people
//   job.announcement        who submitted it: the signed record, as it goes over the wire
//   checkpoints/            daemon/checkpoint
//   NAME-final.safetensors  the model that the job ended with
//
// What the bytes of a spec mean is left to proto/spec.

#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "core/node/message.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

struct RunDir {
    Path folder;
    core::JobId job;
    core::Bytes spec_bytes;
    std::optional<core::Signed<core::JobAnnouncement>> announcement;  ///< where one was kept
};

/// Beside the spec, where none is kept yet; nothing where `announcement` is empty.
core::Status keep_announcement(const RunDir& run, core::ByteView announcement);

/// The job's folder, made where it is missing. Errors: unwritable; invalid for a name that is no
/// file name.
core::Result<RunDir> open_run_dir(
    const Path& state_dir, const std::string& name, core::ByteView spec_bytes);

/// All run folders whose spec fits its id; what is wrong with the others goes to `broken`.
[[nodiscard]] std::vector<RunDir> list_run_dirs(
    const Path& state_dir, std::vector<core::Error>& broken);

/// The folder of `job`; not_found.
[[nodiscard]] core::Result<RunDir> find_run_dir(const Path& state_dir, core::JobId job);

/// With all that it holds.
core::Status remove_run_dir(const RunDir& run);

/// NAME-final.safetensors within it.
[[nodiscard]] Path final_model_path(const RunDir& run);

}  // namespace p2p::daemon
