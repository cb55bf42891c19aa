// The command `p2psim rank`: several recipes on many stages that nobody chose, and how far each is
// from the best of the others.
//
// What is drawn is drawn.hpp's; what the figures mean is rank_table.hpp's.

#include <algorithm>
#include <cstdio>
#include <utility>

#include "proto/json.hpp"
#include "tools/sim/commands.hpp"
#include "tools/sim/curves.hpp"
#include "tools/sim/drawn.hpp"
#include "tools/sim/parallel.hpp"
#include "tools/sim/rank_table.hpp"
#include "tools/sim/requests.hpp"
#include "tools/sim/say.hpp"
#include "tools/sim/stage_file.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

using core::Result;

namespace {

const std::string free_recipe = "free";

/// One after the other: each stage's runs stand together.
Result<std::vector<RunRequest>> requests_on_drawn(const Options& options) {
    Options first = options;
    first.stage = drawn_name(options.draw);
    first.recipes = free_recipe + "," + options.recipes;
    const auto base = make_request(first);
    if (!base) return base.error();
    std::vector<RunRequest> all;
    for (std::uint64_t i = 0; i < options.stages; ++i) {
        auto stage = read_stage(drawn_name(options.draw + i));
        if (!stage) return stage.error();
        RunRequest here = *base;
        set_stage(here, *std::move(stage), options);
        auto requests = requests_of(here, first);
        if (!requests) return requests.error();
        std::move(requests->begin(), requests->end(), std::back_inserter(all));
    }
    return all;
}

/// In the order asked for, `free` left out: it is there anyway.
std::vector<std::string> recipes_of(const std::vector<Outcome>& outcomes) {
    std::vector<std::string> recipes;
    for (const Outcome& outcome : outcomes) {
        const bool is_known =
            std::find(recipes.begin(), recipes.end(), outcome.recipe) != recipes.end();
        if (outcome.recipe != free_recipe && !is_known) recipes.push_back(outcome.recipe);
    }
    return recipes;
}

StageTimes times_of(
    const std::vector<Outcome>& outcomes, const std::vector<std::string>& recipes, double below) {
    StageTimes times;
    times.stage = outcomes.front().stage;
    times.target = target_of(outcomes, below);
    times.free = seconds_to(outcomes, free_recipe, times.target);
    for (const std::string& recipe : recipes)
        times.seconds.push_back(seconds_to(outcomes, recipe, times.target));
    return times;
}

}  // namespace

int rank(const Options& options) {
    const auto requests = requests_on_drawn(options);
    if (!requests) return tell(requests.error(), exit_usage);
    const auto outcomes = run_each(*requests, options.jobs, [&](const auto& report) {
        say(std::to_string(report.done) + " of " + std::to_string(requests->size())
            + " done: " + report.request->stage.name + ", " + report.request->recipe + ", seed "
            + std::to_string(report.request->seed));
    });
    if (!outcomes) {
        const bool is_asked_wrongly = outcomes.error().code == core::ErrorCode::invalid;
        return tell(outcomes.error(), is_asked_wrongly ? exit_usage : exit_failed);
    }
    const std::vector<std::string> recipes = recipes_of(*outcomes);
    const std::size_t a_stage = outcomes->size() / options.stages;
    std::vector<StageTimes> stages;
    for (std::size_t i = 0; i < outcomes->size(); i += a_stage) {
        const auto begin = outcomes->begin() + static_cast<std::ptrdiff_t>(i);
        const std::vector<Outcome> here(begin, begin + static_cast<std::ptrdiff_t>(a_stage));
        stages.push_back(times_of(here, recipes, options.below));
    }
    const std::string text = options.format == "json"
                                 ? proto::json_text(rank_json(recipes, stages)) + "\n"
                                 : rank_table(recipes, stages);
    std::fputs(text.c_str(), stdout);
    if (options.curves.empty()) return 0;
    const auto kept = write_curves(options.curves, *outcomes);
    return kept ? 0 : tell(kept.error(), exit_failed);
}

}  // namespace p2p::sim
