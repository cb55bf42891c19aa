#pragma once

// A replica on the disk, such that a kill at any instant leaves the last whole one.
//
//   checkpoints/step-00022400/{model.safetensors, optimizer.safetensors, state.json}
//   checkpoints/step-00022400/MANIFEST.json   sha256 and size of each; written last
//   checkpoints/latest -> step-00022400
//
// Written into a temporary folder, synced, renamed. No manifest, or one that does not fit: no
// checkpoint; it is named and skipped. When to save, and what a resumed job does next, is decided
// by the Node.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/tensor.hpp"
#include "core/node/config.hpp"
#include "daemon/run_dir.hpp"
#include "daemon/trainer.hpp"

namespace p2p::daemon {

/// What stands in state.json: all that resuming needs besides the tensors.
struct CheckpointState {
    core::StepCount steps;
    core::SampleCount samples;       ///< drawn here: the data cursor
    core::SampleCount samples_mesh;  ///< of the whole mesh, as known then
    std::uint64_t optimizer_steps = 0;
    std::vector<std::string> optimizer;  ///< names of the vectors in optimizer.safetensors
    double train_loss = 0;
    double training_seconds = 0;
    std::uint64_t seed = 0;
    core::JobState job_state = core::JobState::running;
    core::BlobHash final_hash;  ///< of the final model's bytes; zero before the end
};

/// One to be written. `layout` names the parts of the flat vectors.
struct Checkpoint {
    ReplicaState replica;
    std::vector<core::TensorInfo> layout;
    core::SampleCount samples_mesh;
    std::uint64_t seed = 0;
    core::JobState job_state = core::JobState::running;
    core::BlobHash final_hash;  ///< zero before the end
    bool is_final = false;      ///< the model is exported, and must be the one of `final_hash`
};

struct CheckpointRules {
    std::uint32_t keep_last = 3;
    std::uint64_t min_free_bytes = 0;  ///< must be left free after writing
};

/// The bytes of a model alone; the same parameters give the same bytes on every node.
[[nodiscard]] core::Bytes model_bytes(
    const std::vector<core::TensorInfo>& layout, core::FloatView parameters);

/// Writes it, points `latest` at it, removes what keep_last does not keep. A final one is also
/// exported as NAME-final.safetensors. Errors: unwritable (with the room that is missing);
/// not_finite; conflict for a final one whose model is not that of its hash.
core::Status write_checkpoint(
    const RunDir& run, const Checkpoint& checkpoint, const CheckpointRules& rules);

/// Folders of checkpoints, whole or not, newest first.
[[nodiscard]] std::vector<Path> list_checkpoints(const RunDir& run);

/// Every file against the manifest. Errors name the file: not_found, forged, wrong_size, malformed.
core::Status verify_checkpoint(const Path& checkpoint);

/// Its state.json. @pre it has been verified
[[nodiscard]] core::Result<CheckpointState> read_checkpoint_state(const Path& checkpoint);

/// All of it. Errors: what is not of this layout. @pre it has been verified
[[nodiscard]] core::Result<ReplicaState> read_checkpoint(
    const Path& checkpoint, const std::vector<core::TensorInfo>& layout);

/// The newest whole one; errors of those that were skipped go to `broken`. not_found: none.
[[nodiscard]] core::Result<Path> newest_checkpoint(
    const RunDir& run, std::vector<core::Error>& broken);

/// Copies the model of a checkpoint, once verified, to `file`.
core::Status export_model(const Path& checkpoint, const Path& file);

/// What a node was in when it stopped.
struct RunScan {
    std::vector<core::ResumedJob> jobs;
    std::vector<core::Error> broken;  ///< checkpoints and folders that were skipped, by name
};

[[nodiscard]] RunScan scan_runs(const Path& state_dir);

/// The jobs alone, for NodeConfig::resumed.
[[nodiscard]] std::vector<core::ResumedJob> find_resumed(const Path& state_dir);

}  // namespace p2p::daemon
