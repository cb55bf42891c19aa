#include "daemon/control_actions.hpp"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

#include "daemon/checkpoint.hpp"
#include "daemon/clock.hpp"
#include "daemon/run_dir.hpp"
#include "proto/hello.hpp"
#include "proto/spec.hpp"
#include "proto/version.hpp"

namespace p2p::daemon {

namespace {

std::uint64_t bytes_in(const Path& folder) {
    std::uint64_t bytes = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.is_regular_file(ignored)) bytes += entry.file_size(ignored);
    }
    return bytes;
}

std::int64_t changed_at(const Path& path) {
    struct stat facts {};

    return stat(path.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

CheckpointInfo describe(const RunDir& run, const Path& checkpoint) {
    CheckpointInfo info;
    info.job = run.job;
    info.job_name = run.folder.filename();
    info.name = checkpoint.filename();
    info.unix_seconds = changed_at(checkpoint);
    info.bytes = core::ByteCount{bytes_in(checkpoint)};
    const core::Status whole = verify_checkpoint(checkpoint);
    info.is_whole = whole.is_ok();
    if (!whole) {
        info.note = whole.error().text();
        return info;
    }
    if (const auto state = read_checkpoint_state(checkpoint)) {
        info.step = state->steps;
        info.is_final = !state->final_hash.is_zero();
    }
    return info;
}

core::Error no_checkpoint(const RunDir& run) {
    return {
        core::ErrorCode::not_found,
        "job " + run.folder.filename().string() + " has no such checkpoint",
        "nothing whole with that step lies in " + (run.folder / "checkpoints").string(),
        "p2pctl checkpoint list"};
}

core::Result<Path> find_checkpoint(const RunDir& run, const CheckpointChoice& choice) {
    for (const Path& checkpoint : list_checkpoints(run)) {
        if (choice.kind == CheckpointChoice::Kind::latest) return checkpoint;
        const auto state = read_checkpoint_state(checkpoint);
        if (!state) continue;
        const bool fits = choice.kind == CheckpointChoice::Kind::step
                              ? state->steps == choice.step
                              : !state->final_hash.is_zero();
        if (fits) return checkpoint;
    }
    return no_checkpoint(run);
}

core::Result<Path> find_model_file(const RunDir& run, const CheckpointChoice& choice) {
    const Path final_model = final_model_path(run);
    std::error_code ignored;
    const bool has_final = std::filesystem::exists(final_model, ignored);
    if (choice.kind != CheckpointChoice::Kind::step && has_final) return final_model;
    const auto checkpoint = find_checkpoint(run, choice);
    if (!checkpoint) return checkpoint.error();
    const core::Status whole = verify_checkpoint(*checkpoint);
    if (!whole) return whole.error();
    return *checkpoint / "model.safetensors";
}

}  // namespace

Actions::Actions(
    asio::io_context& loop,
    Path state_dir,
    Log& log,
    std::function<core::Result<core::NetworkId>()> found)
    : loop_(loop),
      state_dir_(std::move(state_dir)),
      log_(log),
      found_(std::move(found)) {}

Actions::~Actions() {
    disk_.join();
}

DocumentContext Actions::context() const {
    return {
        .unix_seconds = unix_now_ms() / 1000,
        .release = std::string(proto::release),
        .protocol_min = proto::protocol_oldest,
        .protocol_max = proto::protocol_newest};
}

core::Result<core::SubmitJob> Actions::read_job(std::string_view toml) const {
    auto parsed = proto::parse_spec_toml(toml);
    if (!parsed) return parsed.error();
    return core::SubmitJob{
        .job = parsed->id,
        .spec = std::move(parsed->spec),
        .spec_bytes = std::make_shared<const core::Bytes>(std::move(parsed->canonical)),
        .only_validate = false};
}

template <typename T>
void Actions::on_disk(std::function<core::Result<T>()> read, Reply<T> reply) {
    asio::post(disk_, [this, read = std::move(read), reply = std::move(reply)] {
        asio::post(loop_, [reply, result = read()] { reply(result); });
    });
}

void Actions::list_checkpoints(core::JobId job, Reply<std::vector<CheckpointInfo>> reply) {
    on_disk<std::vector<CheckpointInfo>>(
        [folder = state_dir_, job]() -> core::Result<std::vector<CheckpointInfo>> {
            std::vector<core::Error> broken;
            std::vector<CheckpointInfo> found;
            for (const RunDir& run : list_run_dirs(folder, broken)) {
                if (!job.is_zero() && run.job != job) continue;
                auto checkpoints = daemon::list_checkpoints(run);
                std::reverse(checkpoints.begin(), checkpoints.end());
                for (const Path& each : checkpoints)
                    found.push_back(describe(run, each));
            }
            return found;
        },
        std::move(reply));
}

void Actions::verify_checkpoint(
    core::JobId job, CheckpointChoice choice, Reply<CheckpointInfo> reply) {
    on_disk<CheckpointInfo>(
        [folder = state_dir_, job, choice]() -> core::Result<CheckpointInfo> {
            const auto run = find_run_dir(folder, job);
            if (!run) return run.error();
            const auto checkpoint = find_checkpoint(*run, choice);
            if (!checkpoint) return checkpoint.error();
            const core::Status whole = daemon::verify_checkpoint(*checkpoint);
            if (!whole) return whole.error();
            return describe(*run, *checkpoint);
        },
        std::move(reply));
}

void Actions::find_model(
    core::JobId job, CheckpointChoice choice, Reply<std::filesystem::path> reply) {
    on_disk<std::filesystem::path>(
        [folder = state_dir_, job, choice]() -> core::Result<std::filesystem::path> {
            const auto run = find_run_dir(folder, job);
            if (!run) return run.error();
            return find_model_file(*run, choice);
        },
        std::move(reply));
}

void Actions::on_changed(const ControlRequest& request, unsigned status) {
    log_.write(
        LogLevel::info,
        "control",
        {{.key = "request", .value = request.method + " " + request.path},
         {.key = "status", .value = std::to_string(status)},
         {.key = "uid", .value = std::to_string(request.caller.uid)},
         {.key = "pid", .value = std::to_string(request.caller.pid), .is_detail = true}});
}

}  // namespace p2p::daemon
