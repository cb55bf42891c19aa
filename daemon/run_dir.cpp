#include "daemon/run_dir.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include "core/base/limits.hpp"
#include "proto/decode.hpp"
#include "proto/sodium.hpp"
#include "proto/spec.hpp"

namespace p2p::daemon {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::JobId;
using core::Result;
using core::Status;

namespace {

constexpr const char* announcement_file = "job.announcement";

JobId job_of(ByteView spec_bytes) {
    return JobId{proto::blake2b_256(spec_bytes)};
}

/// Names were checked when the spec was read; a path is not built on that alone.
bool is_file_name(const std::string& name) {
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    };
    return !name.empty() && name.size() <= core::limits::name_bytes_max && name.front() != '.'
           && std::all_of(name.begin(), name.end(), is_allowed);
}

/// Nothing where it is missing or does not fit: the job goes on without.
std::optional<core::Signed<core::JobAnnouncement>> read_announcement(
    const Path& folder, JobId job) {
    const auto bytes =
        read_file(folder / announcement_file, core::limits::control_message_bytes_max);
    if (!bytes) return std::nullopt;
    auto message = proto::decode_control(*bytes);
    if (!message) return std::nullopt;
    auto* announcement = std::get_if<core::Signed<core::JobAnnouncement>>(&*message);
    if (announcement == nullptr || announcement->value.job != job) return std::nullopt;
    return std::move(*announcement);
}

Result<RunDir> read_run_dir(const Path& folder) {
    auto spec_bytes = read_file(folder / "job.spec", core::limits::job_spec_bytes_max);
    if (!spec_bytes) return spec_bytes.error();
    const auto id = read_file(folder / "job.id", 64);
    if (!id) return id.error();
    const JobId job = job_of(*spec_bytes);
    if (core::as_text(*id) != job.text() + "\n") {
        return Error{
            ErrorCode::forged,
            folder.string() + "/job.spec does not fit job.id",
            "the file has changed since the job was joined",
            "restore it, or remove the folder"};
    }
    return RunDir{folder, job, *std::move(spec_bytes), read_announcement(folder, job)};
}

Status fill_run_dir(const Path& folder, JobId job, ByteView spec_bytes) {
    if (auto status = make_folder(folder); !status) return status;
    if (auto status = replace_file(folder / "job.spec", spec_bytes); !status) return status;
    if (const auto toml = proto::spec_canonical_to_toml(spec_bytes)) {
        auto status = replace_file(folder / "job.toml", core::as_bytes(*toml));
        if (!status) return status;
    }
    const std::string id = job.text() + "\n";
    return replace_file(folder / "job.id", core::as_bytes(id));
}

}  // namespace

Result<RunDir> open_run_dir(const Path& state_dir, const std::string& name, ByteView spec_bytes) {
    if (!is_file_name(name)) {
        return Error{ErrorCode::invalid, "the job's name is no file name", "", ""};
    }
    const JobId job = job_of(spec_bytes);
    for (const std::string& folder_name : {name, name + "@" + job.short_text()}) {
        const Path folder = state_dir / "jobs" / folder_name;
        auto there = read_run_dir(folder);
        if (there && there->job != job) continue;
        if (there) return there;
        if (auto status = fill_run_dir(folder, job, spec_bytes); !status) return status.error();
        return RunDir{folder, job, core::to_bytes(spec_bytes), std::nullopt};
    }
    return Error{ErrorCode::conflict, "no folder is free for the job " + name, "", ""};
}

Status keep_announcement(const RunDir& run, ByteView announcement) {
    if (announcement.empty() || run.announcement) return {};  // a job has one submitter
    return replace_file(run.folder / announcement_file, announcement);
}

std::vector<RunDir> list_run_dirs(const Path& state_dir, std::vector<Error>& broken) {
    std::vector<RunDir> runs;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(state_dir / "jobs", error)) {
        if (!entry.is_directory(error)) continue;
        auto run = read_run_dir(entry.path());
        if (run) {
            runs.push_back(*std::move(run));
        } else {
            broken.push_back(run.error());
        }
    }
    std::sort(runs.begin(), runs.end(), [](const RunDir& a, const RunDir& b) {
        return a.folder < b.folder;
    });
    return runs;
}

Result<RunDir> find_run_dir(const Path& state_dir, JobId job) {
    std::vector<Error> ignored;
    for (auto& run : list_run_dirs(state_dir, ignored)) {
        if (run.job == job) return std::move(run);
    }
    return Error{
        ErrorCode::not_found,
        "no run folder of the job " + job.short_text(),
        "",
        "p2pctl job list"};
}

Status remove_run_dir(const RunDir& run) {
    std::error_code error;
    std::filesystem::remove_all(run.folder, error);
    if (error) {
        return system_error(ErrorCode::unwritable, "cannot remove", run.folder, error.value());
    }
    return {};
}

Path final_model_path(const RunDir& run) {
    const std::string name = run.folder.filename().string();
    return run.folder / (name.substr(0, name.find('@')) + "-final.safetensors");
}

}  // namespace p2p::daemon
