#include "daemon/checkpoint_files.hpp"

#include <cmath>
#include <ctime>
#include <utility>

#include "core/base/limits.hpp"
#include "daemon/job_names.hpp"
#include "proto/json.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using proto::Json;
using proto::json_member;

namespace {

constexpr const char* state_schema = "p2pd.checkpoint/1";
constexpr const char* manifest_schema = "p2pd.manifest/1";
constexpr std::size_t manifest_files_max = 64;

Error malformed(const std::string& file, const std::string& why) {
    return {ErrorCode::malformed, file + " cannot be used", why, ""};
}

std::string utc_text(std::int64_t unix_seconds) {
    const std::time_t seconds = unix_seconds;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text, length};
}

Result<Json> read_object(std::string_view text, const char* schema, const std::string& file) {
    auto root = proto::parse_json(text, core::limits::config_bytes_max);
    if (!root) return root.error().with_context(file);
    const auto found = json_member<std::string>(*root, "schema");
    if (!found || *found != schema) {
        return malformed(file, std::string("its schema is not ") + schema);
    }
    return root;
}

}  // namespace

std::string state_text(const CheckpointState& state, std::int64_t unix_seconds) {
    Json root;
    root["schema"] = state_schema;
    root["version"] = P2PTRAIN_VERSION;
    root["time"] = utc_text(unix_seconds);
    root["job_state"] = job_state_name(state.job_state);
    root["steps"] = state.steps.value;
    root["samples"] = state.samples.value;
    root["samples_mesh"] = state.samples_mesh.value;
    root["seed"] = state.seed;
    root["optimizer"] = state.optimizer;
    root["optimizer_steps"] = state.optimizer_steps;
    root["train_loss"] = std::isfinite(state.train_loss) ? Json(state.train_loss) : Json(nullptr);
    root["training_seconds"] = state.training_seconds;
    root["final_hash"] = state.final_hash.is_zero() ? Json(nullptr) : Json(state.final_hash.text());
    return proto::json_pretty_text(root) + "\n";
}

Result<CheckpointState> read_state_text(std::string_view text) {
    const auto root = read_object(text, state_schema, "state.json");
    if (!root) return root.error();
    const auto steps = json_member<std::uint64_t>(*root, "steps");
    const auto samples = json_member<std::uint64_t>(*root, "samples");
    const auto samples_mesh = json_member<std::uint64_t>(*root, "samples_mesh");
    const auto optimizer_steps = json_member<std::uint64_t>(*root, "optimizer_steps");
    const auto seed = json_member<std::uint64_t>(*root, "seed");
    const auto job_state = json_member<std::string>(*root, "job_state");
    if (!steps || !samples || !samples_mesh || !optimizer_steps || !seed || !job_state) {
        return malformed("state.json", "a count is missing");
    }

    CheckpointState state;
    state.steps = core::StepCount{*steps};
    state.samples = core::SampleCount{*samples};
    state.samples_mesh = core::SampleCount{*samples_mesh};
    state.optimizer_steps = *optimizer_steps;
    state.seed = *seed;
    state.train_loss = json_member<double>(*root, "train_loss").value_or(0);
    state.training_seconds = json_member<double>(*root, "training_seconds").value_or(0);
    const auto named = job_state_from(*job_state);
    if (!named) return malformed("state.json", "no such job_state");
    state.job_state = *named;
    if (const auto hash = json_member<std::string>(*root, "final_hash")) {
        const auto id = core::BlobHash::from_text(*hash);
        if (!id) return malformed("state.json", "final_hash is no hash");
        state.final_hash = *id;
    }
    const auto names = root->find("optimizer");
    if (names == root->end() || !names->is_array() || names->size() > manifest_files_max) {
        return malformed("state.json", "the optimizer's parts are missing");
    }
    for (const auto& name : *names) {
        const auto text_of = proto::json_as<std::string>(name);
        if (!text_of) return malformed("state.json", "a part of the optimizer has no name");
        state.optimizer.push_back(*text_of);
    }
    return state;
}

std::string manifest_text(const std::vector<ManifestEntry>& entries) {
    Json files = Json::object();
    for (const auto& entry : entries) {
        files[entry.file] = {{"sha256", entry.sha256}, {"bytes", entry.bytes}};
    }
    Json root;
    root["schema"] = manifest_schema;
    root["files"] = std::move(files);
    return proto::json_pretty_text(root) + "\n";
}

Result<std::vector<ManifestEntry>> read_manifest_text(std::string_view text) {
    const auto root = read_object(text, manifest_schema, "MANIFEST.json");
    if (!root) return root.error();
    const auto files = root->find("files");
    if (files == root->end() || !files->is_object() || files->empty()
        || files->size() > manifest_files_max) {
        return malformed("MANIFEST.json", "it names no files");
    }
    std::vector<ManifestEntry> entries;
    for (const auto& [name, value] : files->items()) {
        const auto sha256 = json_member<std::string>(value, "sha256");
        const auto bytes = json_member<std::uint64_t>(value, "bytes");
        if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos || !sha256
            || !bytes) {
            return malformed("MANIFEST.json", "an entry needs a plain name, sha256 and bytes");
        }
        entries.push_back({name, *sha256, *bytes});
    }
    return entries;
}

}  // namespace p2p::daemon
