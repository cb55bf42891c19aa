// p2psim: the same Node that p2pd runs, by the thousand, on a virtual clock.
//
// Reads the command line and hands over: run.hpp runs, table.hpp shows. The one file that includes
// CLI11.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

// GCC 12 sees a null pointer where it inlines CLI11's vectors of strings into this file.
#pragma GCC diagnostic ignored "-Wnull-dereference"

#include <CLI/CLI.hpp>

#include "core/mixing/recipe.hpp"
#include "proto/json.hpp"
#include "tools/sim/parallel.hpp"
#include "tools/sim/run.hpp"
#include "tools/sim/stage_file.hpp"
#include "tools/sim/table.hpp"

namespace {

using p2p::core::Error;
using p2p::core::Result;
using p2p::proto::Json;
using p2p::sim::Outcome;
using p2p::sim::RunRequest;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr double target_below_free = 0.005;

struct Options {
    std::string stage = "three-site-8";
    std::string recipe = "ad-psgd";
    std::string recipes;
    std::vector<std::string> axes;
    std::string format = "table";
    std::string data = "/usr/share/datasets/fashion-mnist";
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;
    double target = 0;
    double limit = 3600;
    std::size_t nodes = 0;
    std::size_t links = 0;
    std::size_t looks = 40;
    std::size_t jobs = 2;
};

void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), stderr);
}

int tell(const Error& error, int code) {
    say("p2psim: " + error.what);
    if (!error.why.empty()) say("  why:  " + error.why);
    if (!error.next.empty()) say("  next: " + error.next);
    return code;
}

bool is_json(const Options& options) {
    return options.format != "table";
}

Result<std::map<std::string, std::string>> read_axes(const std::vector<std::string>& given) {
    std::map<std::string, std::string> axes;
    for (const std::string& text : given) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{
                p2p::core::ErrorCode::invalid,
                "--set " + text,
                "it is not of the form axis=value",
                "write for example --set codec=q8"};
        }
        axes[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return axes;
}

/// The stage's machines over and over, or the first of them, until there are `nodes`.
void resize(p2p::sim::Stage& stage, std::size_t nodes) {
    const auto given = stage.nodes;
    stage.nodes.clear();
    for (std::size_t i = 0; i < nodes; ++i)
        stage.nodes.push_back(given[i % given.size()]);
}

Result<RunRequest> make_request(const Options& options) {
    auto stage = p2p::sim::read_stage(options.stage);
    if (!stage) return stage.error();
    if (options.nodes > 0) resize(*stage, options.nodes);
    auto data = p2p::core::load_dataset(options.data);
    if (!data) return data.error();
    auto axes = read_axes(options.axes);
    if (!axes) return axes.error();
    RunRequest request;
    request.stage = *std::move(stage);
    request.recipe = options.recipe;
    request.axes = *std::move(axes);
    request.seed = options.seed;
    request.data = std::make_shared<const p2p::core::Dataset>(*std::move(data));
    request.limit_seconds = options.limit;
    request.looks = options.looks;
    request.links_a_node = options.links;
    return request;
}

std::string replay_command(const RunRequest& request, const Options& options) {
    std::string command = "p2psim run --stage " + options.stage + " --recipe " + request.recipe
                          + " --seed " + std::to_string(request.seed);
    for (const auto& [axis, value] : request.axes)
        command += " --set '" + axis + "=" + value + "'";
    if (options.nodes > 0) command += " --nodes " + std::to_string(options.nodes);
    if (options.links > 0) command += " --links " + std::to_string(options.links);
    char limit[32];
    std::snprintf(limit, sizeof limit, " --limit %g", request.limit_seconds);
    command += limit;
    return command;
}

int run_one(const Options& options) {
    const auto request = make_request(options);
    if (!request) return tell(request.error(), exit_usage);
    const bool shows = ::isatty(STDERR_FILENO) == 1;
    const auto outcome = p2p::sim::run(*request, [&](const auto& point, double ratio) {
        if (shows) std::fprintf(stderr, "\r\033[K%s", progress_line(point, ratio).c_str());
    });
    if (shows) std::fputs("\r\033[K", stderr);
    if (!outcome) return tell(outcome.error(), exit_usage);
    if (is_json(options)) {
        std::puts(p2p::proto::json_text(p2p::sim::outcome_json(*outcome)).c_str());
    } else {
        std::fputs(p2p::sim::outcome_table({*outcome}, options.target).c_str(), stdout);
        std::fputs(("\n" + p2p::sim::node_table(*outcome)).c_str(), stdout);
        std::printf(
            "\n%.1f virtual seconds, %llu events, %.1f s here, digest %016llx\n",
            outcome->seconds,
            static_cast<unsigned long long>(outcome->events),
            outcome->wall_seconds,
            static_cast<unsigned long long>(outcome->digest));
    }
    if (outcome->is_finished) return 0;
    say("p2psim: " + outcome->trouble);
    say("  replay: " + replay_command(*request, options));
    return exit_failed;
}

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

/// "ad-psgd:codec=delta(q8):when=every(16)": a recipe, and axes of its own over those of --set.
Result<RunRequest> with_recipe(const RunRequest& base, const std::string& text) {
    RunRequest request = base;
    const std::vector<std::string> parts = split(text, ':');
    request.recipe = parts.front();
    request.label = text;
    const auto axes = read_axes({parts.begin() + 1, parts.end()});
    if (!axes) return axes.error();
    for (const auto& [axis, value] : *axes)
        request.axes.insert_or_assign(axis, value);
    return request;
}

/// The target of a comparison: what one model at no cost reaches, less half a point.
double target_of(const std::vector<Outcome>& outcomes) {
    std::vector<double> accuracies;
    for (const Outcome& outcome : outcomes) {
        if (outcome.recipe == "free") accuracies.push_back(outcome.curve.back().accuracy_median);
    }
    return accuracies.empty() ? 0 : p2p::sim::median_of(accuracies) - target_below_free;
}

int compare(const Options& options) {
    const auto base = make_request(options);
    if (!base) return tell(base.error(), exit_usage);
    std::vector<RunRequest> requests;
    for (const std::string& recipe : split(options.recipes, ',')) {
        const auto named = with_recipe(*base, recipe);
        if (!named) return tell(named.error(), exit_usage);
        for (std::uint64_t i = 0; i < options.seeds; ++i) {
            requests.push_back(*named);
            requests.back().seed = options.seed + i;
        }
    }
    const auto outcomes = p2p::sim::run_each(requests, options.jobs, [&](const auto& report) {
        if (is_json(options) && report.outcome) {
            std::puts(p2p::proto::json_text(p2p::sim::outcome_json(*report.outcome)).c_str());
            std::fflush(stdout);
        }
        say(std::to_string(report.done) + " of " + std::to_string(requests.size()) + " done: "
            + report.request->recipe + ", seed " + std::to_string(report.request->seed));
    });
    if (!outcomes) {
        const bool is_asked_wrongly = outcomes.error().code == p2p::core::ErrorCode::invalid;
        return tell(outcomes.error(), is_asked_wrongly ? exit_usage : exit_failed);
    }
    const double target = options.target > 0 ? options.target : target_of(*outcomes);
    if (!is_json(options)) {
        std::printf(
            "stage %s, target %.2f %%, medians of %llu seeds\n\n",
            base->stage.name.c_str(),
            100 * target,
            static_cast<unsigned long long>(options.seeds));
        std::fputs(p2p::sim::outcome_table(*outcomes, target).c_str(), stdout);
    }
    int code = 0;
    for (const Outcome& outcome : *outcomes) {
        if (outcome.is_finished) continue;
        code = exit_failed;
        say("p2psim: " + outcome.recipe + ", seed " + std::to_string(outcome.seed) + ": "
            + outcome.trouble);
    }
    return code;
}

int show_recipes(const Options& options) {
    std::vector<std::vector<std::string>> rows{{"RECIPE", "WHAT"}};
    Json list = Json::array();
    for (const std::string& name : p2p::sim::runnable_recipes()) {
        const auto recipe = p2p::core::resolve_recipe(name, {}, 16);
        const std::string what = recipe ? recipe->text() : "baseline";
        rows.push_back({name, what});
        list.push_back({{"name", name}, {"what", what}, {"baseline", !recipe.has_value()}});
    }
    const Json document{{"schema", "p2psim.recipes/1"}, {"recipes", list}};
    std::fputs(
        (is_json(options) ? p2p::proto::json_text(document) + "\n" : p2p::sim::lined_up(rows))
            .c_str(),
        stdout);
    return 0;
}

int show_stages(const Options& options) {
    std::vector<std::vector<std::string>> rows{{"STAGE", "NODES", "WHAT"}};
    Json list = Json::array();
    for (const std::string& name : p2p::sim::stage_names()) {
        const auto stage = p2p::sim::read_stage(name);
        if (!stage) return tell(stage.error(), exit_failed);
        rows.push_back({name, std::to_string(stage->nodes.size()), stage->description});
        list.push_back(
            {{"name", name}, {"nodes", stage->nodes.size()}, {"what", stage->description}});
    }
    const Json document{{"schema", "p2psim.stages/1"}, {"stages", list}};
    std::fputs(
        (is_json(options) ? p2p::proto::json_text(document) + "\n" : p2p::sim::lined_up(rows))
            .c_str(),
        stdout);
    return 0;
}

void add_common(CLI::App* command, Options& options) {
    command->add_option("-o,--output", options.format, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
}

CLI::Validator not_negative() {
    return {
        [](const std::string& text) {
            return text.starts_with('-') ? text + " is below 0" : std::string{};
        },
        ""};
}

void add_running(CLI::App* command, Options& options) {
    add_common(command, options);
    command->add_option("--stage", options.stage, "a stage by name, or a file")
        ->capture_default_str();
    command->add_option(
        "--set", options.axes, "axis=value, over the recipe's; lr=2 doubles the job's rate");
    command->add_option("--seed", options.seed, "all chance is drawn from it")
        ->check(not_negative())
        ->capture_default_str();
    command->add_option("--nodes", options.nodes, "that many machines, as the stage's, over again")
        ->check(CLI::Range(1, 100'000));
    command->add_option("--links", options.links, "allow each node that many; 0: everybody")
        ->check(not_negative());
    command->add_option("--target", options.target, "accuracy (a ratio) to measure the time to")
        ->check(CLI::Range(0.0, 1.0));
    command->add_option("--data", options.data, "folder of the data set")->capture_default_str();
    command->add_option("--limit", options.limit, "virtual seconds at most")
        ->check(CLI::Range(1e-3, 1e9))
        ->capture_default_str();
    command->add_option("--looks", options.looks, "points of the curve")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"p2psim: how a way of mixing does on machines and wires that you describe"};
    app.require_subcommand(1);
    auto* recipes = app.add_subcommand("recipes", "what can be run by name");
    auto* stages = app.add_subcommand("stages", "the stages that come with the program");
    auto* run = app.add_subcommand("run", "one recipe on one stage");
    auto* both = app.add_subcommand("compare", "several recipes on one stage, over seeds");
    add_common(recipes, options);
    add_common(stages, options);
    add_running(run, options);
    run->add_option("--recipe", options.recipe, "see p2psim recipes")->capture_default_str();
    add_running(both, options);
    both->add_option(
            "--recipes", options.recipes, "a,b:axis=value:axis=value,c; free sets the target")
        ->required();
    both->add_option("--seeds", options.seeds, "how many, from --seed on")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    both->add_option("--jobs", options.jobs, "runs at the same time")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : exit_usage;
    }
    if (recipes->parsed()) return show_recipes(options);
    if (stages->parsed()) return show_stages(options);
    return run->parsed() ? run_one(options) : compare(options);
}
