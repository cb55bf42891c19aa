// p2psim from-mesh: reads p2pctl's documents and a job file, prints a stage file. What is made of
// them is from_mesh.cpp's.

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/data/file.hpp"
#include "proto/spec.hpp"
#include "tools/sim/commands.hpp"
#include "tools/sim/from_mesh.hpp"

namespace p2p::sim {

using core::Error;
using core::Result;

namespace {

constexpr std::size_t file_bytes_max = 64 * core::mib;

Result<std::string> read_text(const std::string& path, const char* next) {
    const auto bytes = core::read_file(path, file_bytes_max);
    if (!bytes) return Error{bytes.error().code, path, bytes.error().why, next};
    return std::string(core::as_text(*bytes));
}

Result<std::string> stage_of(const Options& options) {
    const auto job = read_text(options.job, "give --job the file that the job was submitted with");
    if (!job) return job.error();
    const auto parsed = proto::parse_spec_toml(*job);
    if (!parsed) return parsed.error().with_context(options.job);
    std::vector<MeshDocument> documents;
    for (const std::string& path : options.documents) {
        auto text = read_text(path, "write it with: p2pctl peer list -o json > peers.json");
        if (!text) return text.error();
        documents.push_back({.name = path, .text = *std::move(text)});
    }
    const auto job_path = std::filesystem::absolute(options.job).lexically_normal();
    return stage_from_mesh(documents, job_path.string(), parsed->spec);
}

}  // namespace

int from_mesh(const Options& options) {
    const auto stage = stage_of(options);
    if (stage) {
        std::fputs(stage->c_str(), stdout);
        return 0;
    }
    const Error& error = stage.error();
    std::string text = "p2psim: " + error.what + "\n";
    if (!error.why.empty()) text += "  why:  " + error.why + "\n";
    if (!error.next.empty()) text += "  next: " + error.next + "\n";
    std::fputs(text.c_str(), stderr);
    return exit_usage;
}

}  // namespace p2p::sim
