#include "daemon/checkpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/limits.hpp"
#include "daemon/checkpoint_files.hpp"
#include "daemon/safetensors.hpp"
#include "proto/evp.hpp"
#include "proto/sodium.hpp"

namespace p2p::daemon {

using core::Bytes;
using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;

namespace {

constexpr const char* model_file = "model.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* state_file = "state.json";
constexpr const char* manifest_file = "MANIFEST.json";
constexpr const char* folder_prefix = "step-";
constexpr const char* temporary_prefix = ".writing-";

struct NamedFile {
    const char* name;
    Bytes bytes;
};

std::string sha256_text(ByteView bytes) {
    proto::Sha256 hash;
    hash.feed(bytes);
    return core::to_hex(hash.finish());
}

std::string folder_name(core::StepCount steps) {
    char name[32];
    std::snprintf(
        name, sizeof name, "%s%08llu", folder_prefix, static_cast<unsigned long long>(steps.value));
    return name;
}

Bytes optimizer_bytes(const Checkpoint& checkpoint) {
    std::vector<TensorView> tensors;
    for (const auto& part : checkpoint.replica.optimizer) {
        for (auto& tensor : cut_tensors(checkpoint.layout, part.values, part.name + ".")) {
            tensors.push_back(std::move(tensor));
        }
    }
    return write_safetensors(tensors, {{"format", "pt"}});
}

CheckpointState state_of(const Checkpoint& checkpoint) {
    const ReplicaState& replica = checkpoint.replica;
    CheckpointState state;
    state.steps = replica.steps;
    state.samples = replica.samples;
    state.samples_mesh = checkpoint.samples_mesh;
    state.optimizer_steps = replica.optimizer_steps;
    for (const auto& part : replica.optimizer)
        state.optimizer.push_back(part.name);
    state.train_loss = replica.train_loss;
    state.training_seconds = replica.training_seconds;
    state.seed = checkpoint.seed;
    state.job_state = checkpoint.job_state;
    state.final_hash = checkpoint.final_hash;
    return state;
}

std::vector<NamedFile> files_of(const Checkpoint& checkpoint) {
    std::vector<NamedFile> files;
    Bytes model = model_bytes(checkpoint.layout, checkpoint.replica.parameters);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto unix_seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    const std::string state = state_text(state_of(checkpoint), unix_seconds);
    files.push_back({model_file, std::move(model)});
    if (!checkpoint.replica.optimizer.empty()) {
        files.push_back({optimizer_file, optimizer_bytes(checkpoint)});
    }
    files.push_back({state_file, core::to_bytes(core::as_bytes(state))});
    return files;
}

/// A model that has broken down must not take the place of the last one that had not.
Status check_finite(const ReplicaState& replica) {
    const auto& all = replica.parameters;
    if (std::all_of(all.begin(), all.end(), [](float x) { return std::isfinite(x); })) return {};
    return Error{
        ErrorCode::not_finite,
        "no checkpoint was written",
        "parameters are NaN or infinite: training has diverged",
        "stop the job and submit it with a smaller schedule.base_lr"};
}

/// What peers fetch by the hash must be what stands in the file.
Status check_final(const Checkpoint& checkpoint, const Bytes& model) {
    if (!checkpoint.is_final || checkpoint.final_hash.is_zero()) return {};
    if (core::BlobHash{proto::blake2b_256(model)} == checkpoint.final_hash) return {};
    return Error{
        ErrorCode::conflict,
        "the final model was not written",
        "the replica has moved since it was agreed on",
        ""};
}

/// Before anything is written, so that a full disk costs nothing but the checkpoint.
Status check_room(
    const RunDir& run, const std::vector<NamedFile>& files, std::uint64_t min_free_bytes) {
    std::uint64_t needed = 0;
    for (const auto& file : files)
        needed += file.bytes.size();
    const auto room = free_bytes(run.folder);
    if (!room) return room.error();
    if (*room >= needed && *room - needed >= min_free_bytes) return {};
    return Error{
        ErrorCode::unwritable,
        "no checkpoint was written to " + run.folder.string(),
        std::to_string(*room) + " bytes are free, it takes " + std::to_string(needed)
            + ", and limits.min_free_bytes keeps " + std::to_string(min_free_bytes),
        "make room there; training goes on"};
}

Status write_files(const Path& folder, const std::vector<NamedFile>& files) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);  // what a kill has left
    if (auto status = make_folder(folder); !status) return status;
    std::vector<ManifestEntry> entries;
    for (const auto& file : files) {
        if (auto status = write_file(folder / file.name, file.bytes); !status) return status;
        entries.push_back({file.name, sha256_text(file.bytes), file.bytes.size()});
    }
    if (auto status = sync_folder(folder); !status) return status;  // the manifest comes after them
    const std::string manifest = manifest_text(entries);
    if (auto status = write_file(folder / manifest_file, core::as_bytes(manifest)); !status) {
        return status;
    }
    return sync_folder(folder);
}

/// The name `to` never stands for half of anything: one that is there already is exchanged for the
/// new one in one step, then removed.
Status put_in_place(const Path& from, const Path& to) {
    std::error_code ignored;
    if (!std::filesystem::exists(to, ignored)) {
        if (::rename(from.c_str(), to.c_str()) == 0) return {};
        return system_error(ErrorCode::unwritable, "cannot create", to, errno);
    }
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
        // Not every file system can exchange; a kill between these two loses the old one only.
        std::filesystem::remove_all(to, ignored);
        if (::rename(from.c_str(), to.c_str()) != 0) {
            return system_error(ErrorCode::unwritable, "cannot replace", to, errno);
        }
        return {};
    }
    std::filesystem::remove_all(from, ignored);
    return {};
}

Status point_latest(const Path& folder, const std::string& name) {
    const Path link = folder / "latest";
    const Path temporary = folder / ".latest.new";
    ::unlink(temporary.c_str());
    if (::symlink(name.c_str(), temporary.c_str()) != 0
        || ::rename(temporary.c_str(), link.c_str()) != 0) {
        return system_error(ErrorCode::unwritable, "cannot write", link, errno);
    }
    return {};
}

void prune(const RunDir& run, std::uint32_t keep_last) {
    const auto folders = list_checkpoints(run);
    const std::size_t kept = std::max<std::size_t>(keep_last, 1);
    std::error_code ignored;
    for (std::size_t i = kept; i < folders.size(); ++i) {
        std::filesystem::remove_all(folders[i], ignored);
    }
}

Status verify_file(const Path& checkpoint, const ManifestEntry& entry) {
    const Path file = checkpoint / entry.file;
    const auto bytes = read_file(file, entry.bytes);
    if (!bytes) return bytes.error();
    if (bytes->size() != entry.bytes) {
        return Error{
            ErrorCode::wrong_size,
            file.string() + " is broken",
            std::to_string(bytes->size()) + " bytes, the manifest says "
                + std::to_string(entry.bytes),
            "an older checkpoint is used instead"};
    }
    if (sha256_text(*bytes) != entry.sha256) {
        return Error{
            ErrorCode::forged,
            file.string() + " is broken",
            "its sha256 is not the manifest's",
            "an older checkpoint is used instead"};
    }
    return {};
}

/// Bytes that a file of `vectors` flat vectors of `layout` can have at most.
std::uint64_t file_bytes_max(const std::vector<core::TensorInfo>& layout, std::size_t vectors) {
    return vectors * core::parameter_count(layout) * sizeof(float)
           + core::limits::safetensors_header_bytes_max + 8;
}

Status read_optimizer(
    const Path& checkpoint,
    const CheckpointState& state,
    const std::vector<core::TensorInfo>& layout,
    std::vector<OptimizerVector>& optimizer) {
    if (state.optimizer.empty()) return {};
    const auto file =
        read_file(checkpoint / optimizer_file, file_bytes_max(layout, state.optimizer.size()));
    if (!file) return file.error();
    const auto header = read_safetensors_header(*file);
    if (!header) return header.error();
    for (const auto& name : state.optimizer) {
        OptimizerVector part{name, std::vector<float>(core::parameter_count(layout))};
        auto status = gather_tensors(*file, *header, layout, name + ".", part.values);
        if (!status) return status;
        optimizer.push_back(std::move(part));
    }
    return {};
}

core::ResumedJob resumed_job(const RunDir& run, std::vector<Error>& broken) {
    core::ResumedJob resumed;
    resumed.job = run.job;
    resumed.spec_bytes = run.spec_bytes;
    resumed.announcement = run.announcement;
    const auto newest = newest_checkpoint(run, broken);
    if (!newest) return resumed;
    const auto state = read_checkpoint_state(*newest);
    if (!state) {
        broken.push_back(state.error());
        return resumed;
    }
    resumed.state = state->job_state;
    resumed.steps = state->steps;
    resumed.samples = state->samples;
    resumed.samples_mesh = state->samples_mesh;
    resumed.final_hash = state->final_hash;
    return resumed;
}

}  // namespace

Bytes model_bytes(const std::vector<core::TensorInfo>& layout, core::FloatView parameters) {
    return write_safetensors(cut_tensors(layout, parameters, ""), {{"format", "pt"}});
}

Status write_checkpoint(
    const RunDir& run, const Checkpoint& checkpoint, const CheckpointRules& rules) {
    if (auto status = check_finite(checkpoint.replica); !status) return status;
    const auto files = files_of(checkpoint);
    if (auto status = check_final(checkpoint, files.front().bytes); !status) return status;
    if (auto status = check_room(run, files, rules.min_free_bytes); !status) return status;

    const Path folder = run.folder / "checkpoints";
    const std::string name = folder_name(checkpoint.replica.steps);
    const Path temporary = folder / (temporary_prefix + name);
    if (auto status = write_files(temporary, files); !status) {
        std::error_code ignored;
        std::filesystem::remove_all(temporary, ignored);  // give a full disk its room back
        return status;
    }
    if (auto status = put_in_place(temporary, folder / name); !status) return status;
    if (auto status = point_latest(folder, name); !status) return status;
    if (auto status = sync_folder(folder); !status) return status;
    prune(run, rules.keep_last);
    if (!checkpoint.is_final) return {};
    return replace_file(final_model_path(run), files.front().bytes, 0644);
}

std::vector<Path> list_checkpoints(const RunDir& run) {
    std::vector<std::pair<std::uint64_t, Path>> found;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(run.folder / "checkpoints", error)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind(folder_prefix, 0) != 0 || !entry.is_directory(error)) continue;
        found.emplace_back(std::strtoull(name.c_str() + 5, nullptr, 10), entry.path());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<Path> folders;
    folders.reserve(found.size());
    for (auto& [steps, path] : found)
        folders.push_back(std::move(path));
    return folders;
}

Status verify_checkpoint(const Path& checkpoint) {
    const auto text = read_file(checkpoint / manifest_file, core::limits::config_bytes_max);
    if (!text) return text.error();
    const auto entries = read_manifest_text(core::as_text(*text));
    if (!entries) return entries.error().with_context(checkpoint.string());
    const auto is_named = [&](const char* file) {
        return std::any_of(
            entries->begin(), entries->end(), [&](const auto& e) { return e.file == file; });
    };
    if (!is_named(model_file) || !is_named(state_file)) {
        return Error{
            ErrorCode::malformed,
            (checkpoint / manifest_file).string() + " names no model or no state",
            "",
            "an older checkpoint is used instead"};
    }
    for (const auto& entry : *entries) {
        if (auto status = verify_file(checkpoint, entry); !status) return status;
    }
    return {};
}

Result<CheckpointState> read_checkpoint_state(const Path& checkpoint) {
    const auto text = read_file(checkpoint / state_file, core::limits::config_bytes_max);
    if (!text) return text.error();
    auto state = read_state_text(core::as_text(*text));
    if (!state) return state.error().with_context(checkpoint.string());
    return state;
}

Result<ReplicaState> read_checkpoint(
    const Path& checkpoint, const std::vector<core::TensorInfo>& layout) {
    const auto state = read_checkpoint_state(checkpoint);
    if (!state) return state.error();
    const auto model = read_file(checkpoint / model_file, file_bytes_max(layout, 1));
    if (!model) return model.error();
    const auto header = read_safetensors_header(*model);
    if (!header) return header.error().with_context((checkpoint / model_file).string());

    ReplicaState replica;
    replica.parameters.resize(core::parameter_count(layout));
    auto status = gather_tensors(*model, *header, layout, "", replica.parameters);
    if (!status) return status.error().with_context((checkpoint / model_file).string());
    status = read_optimizer(checkpoint, *state, layout, replica.optimizer);
    if (!status) return status.error().with_context((checkpoint / optimizer_file).string());
    replica.optimizer_steps = state->optimizer_steps;
    replica.steps = state->steps;
    replica.samples = state->samples;
    replica.train_loss = state->train_loss;
    replica.training_seconds = state->training_seconds;
    return replica;
}

Result<Path> newest_checkpoint(const RunDir& run, std::vector<Error>& broken) {
    for (auto& folder : list_checkpoints(run)) {
        const auto status = verify_checkpoint(folder);
        if (status) return std::move(folder);
        broken.push_back(status.error());
    }
    return Error{ErrorCode::not_found, "no whole checkpoint under " + run.folder.string(), "", ""};
}

Status export_model(const Path& checkpoint, const Path& file) {
    if (auto status = verify_checkpoint(checkpoint); !status) return status;
    std::error_code error;
    const auto bytes_max = std::filesystem::file_size(checkpoint / model_file, error);
    const auto model = read_file(checkpoint / model_file, error ? 0 : bytes_max);
    if (!model) return model.error();
    return replace_file(file, *model, 0644);
}

RunScan scan_runs(const Path& state_dir) {
    RunScan scan;
    for (const auto& run : list_run_dirs(state_dir, scan.broken)) {
        scan.jobs.push_back(resumed_job(run, scan.broken));
    }
    return scan;
}

std::vector<core::ResumedJob> find_resumed(const Path& state_dir) {
    return scan_runs(state_dir).jobs;
}

}  // namespace p2p::daemon
