#include "tools/sim/requests.hpp"

#include <cstdio>
#include <memory>
#include <utility>

#include "core/data/dataset.hpp"
#include "tools/sim/settings.hpp"
#include "tools/sim/stage_file.hpp"

namespace p2p::sim {

using core::Result;

namespace {

/// Parts between `mark`s that stand in no parentheses.
std::vector<std::string> split(const std::string& text, char mark) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char letter : text) {
        depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
        if (letter == mark && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

}  // namespace

void set_stage(RunRequest& request, Stage stage, const Options& options) {
    request.stage = std::move(stage);
    request.links_a_node = options.links;
    if (options.links == 0 && request.stage.crowd)
        request.links_a_node = request.stage.crowd->links;
}

Result<RunRequest> make_request(const Options& options) {
    auto stage = read_stage(options.stage, options.nodes);
    if (!stage) return stage.error();
    auto data = core::load_dataset(options.data);
    if (!data) return data.error();
    auto axes = read_settings(options.axes);
    if (!axes) return axes.error().with_context("--set");
    RunRequest request;
    set_stage(request, *std::move(stage), options);
    request.recipe = options.recipe;
    request.axes = *std::move(axes);
    request.seed = options.seed;
    request.data = std::make_shared<const core::Dataset>(*std::move(data));
    request.limit_seconds = options.limit;
    request.looks = options.looks;
    request.as_bytes = options.depth == "bytes";
    return request;
}

Result<RunRequest> with_recipe(const RunRequest& base, const std::string& text) {
    RunRequest request = base;
    const std::vector<std::string> parts = split(text, ':');
    request.recipe = parts.front();
    request.label = text;
    const auto axes = read_settings({parts.begin() + 1, parts.end()});
    if (!axes) return axes.error();
    for (const auto& [axis, value] : *axes)
        request.axes.insert_or_assign(axis, value);
    return request;
}

Result<std::vector<RunRequest>> requests_of(const RunRequest& base, const Options& options) {
    std::vector<RunRequest> requests;
    for (const std::string& recipe : split(options.recipes, ',')) {
        const auto named = with_recipe(base, recipe);
        if (!named) return named.error();
        for (std::uint64_t i = 0; i < options.seeds; ++i) {
            requests.push_back(*named);
            requests.back().seed = options.seed + i;
        }
    }
    return requests;
}

std::string replay_command(const RunRequest& request, const Options& options) {
    std::string command = "p2psim run --stage " + options.stage + " --recipe " + request.recipe
                          + " --seed " + std::to_string(request.seed);
    for (const auto& [axis, value] : request.axes)
        command += " --set '" + axis + "=" + value + "'";
    if (options.nodes > 0) command += " --nodes " + std::to_string(options.nodes);
    if (options.links > 0) command += " --links " + std::to_string(options.links);
    if (request.as_bytes) command += " --depth bytes";
    char limit[32];
    std::snprintf(limit, sizeof limit, " --limit %g", request.limit_seconds);
    command += limit;
    return command;
}

}  // namespace p2p::sim
