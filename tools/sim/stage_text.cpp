// Where a stage's text comes from: a file, the stages that come with the program, or a seed
// (stage_file.hpp).

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/data/file.hpp"
#include "proto/toml.hpp"
#include "tools/sim/drawn.hpp"
#include "tools/sim/stage_file.hpp"
#include "tools/sim/toml_keys.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::Result;
using proto::TomlTable;

namespace {

/// Where the stages lie: beside the sources, or where they are installed.
std::vector<std::filesystem::path> stage_folders() {
    return {P2PSIM_STAGES_SOURCE, P2PSIM_STAGES_INSTALLED};
}

std::string find_stage(const std::string& name) {
    if (name.find('/') != std::string::npos || name.ends_with(".toml")) return name;
    for (const auto& folder : stage_folders()) {
        const auto path = folder / (name + ".toml");
        if (std::filesystem::exists(path)) return path.string();
    }
    return name;
}

std::optional<std::string> job_file_of(const TomlTable& root) {
    const auto* head = root.find("stage");
    const auto* table = head != nullptr ? head->get<TomlTable>() : nullptr;
    const auto* job = table != nullptr ? table->find("job") : nullptr;
    return job != nullptr ? job->as<std::string>() : std::nullopt;
}

/// With the job file that the stage names, beside it.
Result<StageText> with_job(StageText text) {
    const auto root = proto::parse_toml(text.stage, stage_bytes_max);
    if (!root) return root.error().with_context(text.file);
    const auto name = job_file_of(*root);
    if (!name) return toml_fault(text.file, root->place, "[stage] names no job = \"...job.toml\"");
    const auto path = std::filesystem::path(text.file).parent_path() / *name;
    const auto job = core::read_file(path.string(), stage_bytes_max);
    if (!job) return job.error().with_context(text.file + ": job = \"" + *name + "\"");
    text.job = core::as_text(*job);
    return text;
}

}  // namespace

Result<StageText> read_stage_text(const std::string& path) {
    if (const auto seed = drawn_seed(path)) {
        const auto beside = std::filesystem::path(find_stage("crowd")).parent_path();
        const std::string file = (beside / (path + ".toml")).string();
        return with_job({.file = file, .stage = drawn_stage_text(*seed), .job = {}});
    }
    const std::string file = find_stage(path);
    const auto text = core::read_file(file, stage_bytes_max);
    if (!text) {
        std::string known;
        for (const std::string& name : stage_names())
            known += (known.empty() ? "" : ", ") + name;
        return Error{
            ErrorCode::not_found,
            "there is no stage " + path,
            "neither a file nor a stage that comes with the program",
            "use a file, drawn-1 to drawn-1000000000, or one of: " + known};
    }
    return with_job({.file = file, .stage = std::string(core::as_text(*text)), .job = {}});
}

std::vector<std::string> stage_names() {
    std::vector<std::string> names;
    for (const auto& folder : stage_folders()) {
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
            const std::string name = entry.path().filename().string();
            if (name.ends_with(".toml") && !name.ends_with(".job.toml"))
                names.push_back(entry.path().stem().string());
        }
        if (!names.empty()) break;
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace p2p::sim
