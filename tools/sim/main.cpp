// p2psim: the same Node that p2pd runs, by the thousand, on a virtual clock.
//
// Reads the command line and hands over to commands.hpp. The one file that includes CLI11.

#include <string>

#include <malloc.h>

// GCC 12 sees a null pointer where it inlines CLI11's vectors of strings into this file.
#pragma GCC diagnostic ignored "-Wnull-dereference"

#include <CLI/CLI.hpp>

#include "tools/sim/commands.hpp"

namespace {

using p2p::sim::Options;

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

void add_stage(CLI::App* command, Options& options) {
    command->add_option("--stage", options.stage, "a stage by name, or a file")
        ->capture_default_str();
    command->add_option("--nodes", options.nodes, "that many machines, as the stage's, over again")
        ->check(CLI::Range(1, 100'000));
    command->add_option("--target", options.target, "accuracy (a ratio) to measure the time to")
        ->check(CLI::Range(0.0, 1.0));
}

void add_running(CLI::App* command, Options& options) {
    add_common(command, options);
    command->add_option(
        "--set", options.axes, "axis=value, over the recipe's; lr=2 doubles the job's rate");
    command->add_option("--seed", options.seed, "all chance is drawn from it")
        ->check(not_negative())
        ->capture_default_str();
    command->add_option("--links", options.links, "allow each node that many; 0: everybody")
        ->check(not_negative());
    command->add_option("--data", options.data, "folder of the data set")->capture_default_str();
    command->add_option("--limit", options.limit, "virtual seconds at most")
        ->check(CLI::Range(1e-3, 1e9))
        ->capture_default_str();
    command
        ->add_option(
            "--depth", options.depth, "messages as values, or as sealed bytes (tens of nodes)")
        ->check(CLI::IsMember({"messages", "bytes"}))
        ->capture_default_str();
    command->add_option("--curves", options.curves, "write each look to this file (plot.py)");
    command->add_option("--looks", options.looks, "points of the curve")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
}

void add_several(CLI::App* command, Options& options) {
    command
        ->add_option(
            "--recipes", options.recipes, "a,b:axis=value:axis=value,c; free sets the target")
        ->required();
    command->add_option("--seeds", options.seeds, "how many, from --seed on")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command->add_option("--jobs", options.jobs, "runs at the same time")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
}

void add_draw(CLI::App* command, Options& options) {
    command->add_option("--stages", options.stages, "how many, drawn-N and on")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command->add_option("--draw", options.draw, "N, the seed of the first stage")
        ->check(CLI::Range(0, 999'990'000))
        ->capture_default_str();
    command->add_option("--below", options.below, "the target: a free network's accuracy less this")
        ->check(CLI::Range(0.0, 0.5))
        ->capture_default_str();
}

void add_claims(CLI::App* command, Options& options) {
    add_common(command, options);
    command->add_option("names", options.names, "files of the folder, without .toml; none: all");
    command->add_option("--folder", options.folder, "of the claims; tests/papers unless given");
    command->add_flag("--small", options.is_small, "no tuning, 3 seeds, only claims with [small]");
    command->add_option("--seeds", options.claim_seeds, "pairs of runs; 5 unless given, or 3")
        ->check(CLI::Range(2, 10'000));
    command->add_option("--jobs", options.jobs, "runs at the same time")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    command->add_option("--data", options.data, "folder of the data set")->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
    // Models' worth of floats come and go with each swap: keep their pages.
    mallopt(M_MMAP_THRESHOLD, 64 << 20);   // NOLINT(concurrency-mt-unsafe): before any thread
    mallopt(M_TRIM_THRESHOLD, 256 << 20);  // NOLINT(concurrency-mt-unsafe)
    Options options;
    CLI::App app{"p2psim: how a way of mixing does on machines and wires that you describe"};
    app.require_subcommand(1);
    auto* recipes = app.add_subcommand("recipes", "what can be run by name");
    auto* stages = app.add_subcommand("stages", "the stages that come with the program");
    auto* run = app.add_subcommand("run", "one recipe on one stage");
    auto* replay = app.add_subcommand("replay", "a traced run again: is it still the same?");
    auto* papers = app.add_subcommand("claims", "what the papers claim of their recipes, tested");
    auto* both = app.add_subcommand("compare", "several recipes on one stage, over seeds");
    auto* rank = app.add_subcommand("rank", "several recipes on stages drawn from a seed");
    auto* calibrate =
        app.add_subcommand("calibrate", "[costs] of a stage file, as this machine has them");
    auto* from_mesh = app.add_subcommand("from-mesh", "a stage file of what a live mesh measured");
    add_common(recipes, options);
    add_common(stages, options);
    add_stage(run, options);
    add_running(run, options);
    run->add_option("--recipe", options.recipe, "see p2psim recipes")->capture_default_str();
    run->add_option("--trace", options.trace, "write what a replay needs to this file");
    replay->add_option("trace", options.trace, "a file that run --trace has written")->required();
    add_claims(papers, options);
    add_stage(both, options);
    add_running(both, options);
    add_several(both, options);
    add_running(rank, options);
    add_several(rank, options);
    add_draw(rank, options);
    from_mesh
        ->add_option(
            "documents",
            options.documents,
            "files with what p2pctl peer list, job show and status print with -o json")
        ->required();
    from_mesh->add_option("--job", options.job, "the job file that the stage is to name")
        ->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : p2p::sim::exit_usage;
    }
    if (recipes->parsed()) return p2p::sim::show_recipes(options);
    if (stages->parsed()) return p2p::sim::show_stages(options);
    if (calibrate->parsed()) return p2p::sim::calibrate(options);
    if (from_mesh->parsed()) return p2p::sim::from_mesh(options);
    if (replay->parsed()) return p2p::sim::replay(options);
    if (rank->parsed()) return p2p::sim::rank(options);
    if (papers->parsed()) return p2p::sim::claims(options);
    return run->parsed() ? p2p::sim::run_one(options) : p2p::sim::compare(options);
}
