#include "tools/sim/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include "core/mixing/recipe.hpp"
#include "proto/json.hpp"
#include "tools/sim/baseline.hpp"
#include "tools/sim/curves.hpp"
#include "tools/sim/parallel.hpp"
#include "tools/sim/requests.hpp"
#include "tools/sim/run.hpp"
#include "tools/sim/say.hpp"
#include "tools/sim/stage_file.hpp"
#include "tools/sim/table.hpp"
#include "tools/sim/trace.hpp"

namespace p2p::sim {

using proto::Json;

namespace {

bool is_json(const Options& options) {
    return options.format != "table";
}

/// A line that is written over, where somebody looks.
Progress progress_shown() {
    if (::isatty(STDERR_FILENO) != 1) return {};
    return [](const CurvePoint& point, double ratio) {
        std::fprintf(stderr, "\r\033[K%s", progress_line(point, ratio).c_str());
    };
}

void hide_progress() {
    if (::isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
}

/// `trace` must outlive what is given.
OnDigest digests_to(std::optional<TraceWriter>& trace) {
    if (!trace) return {};
    return [&trace](const DigestPoint& point) {
        trace->write(point);
    };
}

void show(const Outcome& outcome, const Options& options) {
    if (is_json(options)) {
        std::puts(proto::json_text(outcome_json(outcome)).c_str());
        return;
    }
    std::fputs(outcome_table({outcome}, options.target).c_str(), stdout);
    std::fputs(("\n" + node_table(outcome)).c_str(), stdout);
    std::printf(
        "\n%.1f virtual seconds, %llu events, %.1f s and %.0f MB here, digest %016llx\n",
        outcome.seconds,
        static_cast<unsigned long long>(outcome.events),
        outcome.wall_seconds,
        outcome.memory_peak_megabytes,
        static_cast<unsigned long long>(outcome.digest));
}

core::Status keep_curves(const std::vector<Outcome>& outcomes, const Options& options) {
    if (options.curves.empty()) return {};
    return write_curves(options.curves, outcomes);
}

/// What a replay may differ by without any fault of the run.
std::vector<std::string> differences(const TraceHead& then, const TraceHead& here) {
    std::vector<std::string> causes;
    const auto look = [&](const std::string& what, const std::string& was, const std::string& is) {
        if (was != is) causes.push_back(what + " was " + was + " and is " + is);
    };
    look("the release", then.release, here.release);
    look("the kernel level", then.kernel_level, here.kernel_level);
    look("the data's hash", then.data_hash, here.data_hash);
    return causes;
}

}  // namespace

int run_one(const Options& options) {
    const auto request = make_request(options);
    if (!request) return tell(request.error(), exit_usage);
    std::optional<TraceWriter> trace;
    if (!options.trace.empty()) {
        auto made = TraceWriter::create(options.trace, trace_head(*request, options.data));
        if (!made) return tell(made.error(), exit_failed);
        trace = *std::move(made);
    }
    const auto outcome = run(*request, progress_shown(), digests_to(trace));
    hide_progress();
    if (!outcome) return tell(outcome.error(), exit_usage);
    show(*outcome, options);
    if (trace) {
        if (auto status = trace->finish(*outcome); !status) {
            return tell(status.error(), exit_failed);
        }
    }
    if (auto status = keep_curves({*outcome}, options); !status) {
        return tell(status.error(), exit_failed);
    }
    if (outcome->is_finished) return 0;
    say("p2psim: " + outcome->trouble);
    say("  replay: " + replay_command(*request, options));
    return exit_failed;
}

int replay(const Options& options) {
    const auto trace = read_trace(options.trace);
    if (!trace) return tell(trace.error(), exit_usage);
    auto data = core::load_dataset(trace->head.data_folder);
    if (!data) return tell(data.error(), exit_usage);
    RunRequest request = trace->head.request;
    request.data = std::make_shared<const core::Dataset>(*std::move(data));
    const TraceHead here = trace_head(request, trace->head.data_folder);
    Comparison comparison(*trace);
    const auto outcome = run(
        request, progress_shown(), [&](const DigestPoint& point) { comparison.on_point(point); });
    hide_progress();
    if (!outcome) return tell(outcome.error(), exit_usage);
    const auto difference = comparison.difference(*outcome);
    if (!difference) {
        std::printf("the same: %zu digests, and what came out\n", trace->points.size());
        return 0;
    }
    std::printf("not the same: %s\n", difference->c_str());
    for (const std::string& cause : differences(trace->head, here))
        say("  why:  " + cause);
    return exit_failed;
}

int compare(const Options& options) {
    const auto base = make_request(options);
    if (!base) return tell(base.error(), exit_usage);
    const auto requests = requests_of(*base, options);
    if (!requests) return tell(requests.error(), exit_usage);
    const auto outcomes = run_each(*requests, options.jobs, [&](const auto& report) {
        if (is_json(options) && report.outcome) {
            std::puts(proto::json_text(outcome_json(*report.outcome)).c_str());
            std::fflush(stdout);
        }
        say(std::to_string(report.done) + " of " + std::to_string(requests->size()) + " done: "
            + report.request->recipe + ", seed " + std::to_string(report.request->seed));
    });
    if (!outcomes) {
        const bool is_asked_wrongly = outcomes.error().code == core::ErrorCode::invalid;
        return tell(outcomes.error(), is_asked_wrongly ? exit_usage : exit_failed);
    }
    const double target =
        options.target > 0 ? options.target : target_of(*outcomes, target_below_free);
    if (!is_json(options)) {
        std::printf(
            "stage %s, target %.2f %%, medians of %llu seeds\n\n",
            base->stage.name.c_str(),
            100 * target,
            static_cast<unsigned long long>(options.seeds));
        std::fputs(outcome_table(*outcomes, target).c_str(), stdout);
    }
    if (auto status = keep_curves(*outcomes, options); !status) {
        return tell(status.error(), exit_failed);
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
    std::vector<std::vector<std::string>> rows{{"RECIPE", "FIDELITY", "SOURCE", "WHAT"}};
    Json list = Json::array();
    for (const core::RecipeRow& row : core::recipe_rows(core::TrainSpec{}.round_steps)) {
        const std::string fidelity(core::fidelity_name(row.fidelity));
        std::string what = row.recipe.text();
        what.erase(0, row.recipe.name.size() + 2);  // "name: "
        rows.push_back({row.recipe.name, fidelity, row.source, what});
        list.push_back(
            {{"name", row.recipe.name},
             {"what", what},
             {"baseline", false},
             {"fidelity", fidelity},
             {"source", row.source},
             {"note", row.note}});
    }
    for (const std::string& name : baseline_names()) {
        rows.push_back({name, "baseline", "-", "by what it would do and cost; no Node takes part"});
        list.push_back({{"name", name}, {"what", "baseline"}, {"baseline", true}});
    }
    const Json document{{"schema", "p2psim.recipes/1"}, {"recipes", list}};
    std::fputs(
        (is_json(options) ? proto::json_text(document) + "\n" : lined_up(rows)).c_str(), stdout);
    return 0;
}

int show_stages(const Options& options) {
    std::vector<std::vector<std::string>> rows{{"STAGE", "NODES", "WHAT"}};
    Json list = Json::array();
    for (const std::string& name : stage_names()) {
        const auto stage = read_stage(name);
        if (!stage) return tell(stage.error(), exit_failed);
        rows.push_back({name, std::to_string(stage->nodes.size()), stage->description});
        list.push_back(
            {{"name", name}, {"nodes", stage->nodes.size()}, {"what", stage->description}});
    }
    const Json document{{"schema", "p2psim.stages/1"}, {"stages", list}};
    std::fputs(
        (is_json(options) ? proto::json_text(document) + "\n" : lined_up(rows)).c_str(), stdout);
    return 0;
}

}  // namespace p2p::sim
