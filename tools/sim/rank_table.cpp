#include "tools/sim/rank_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "proto/json.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

using proto::Json;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::string figure(const std::optional<double>& value, int decimals, double times = 1) {
    if (!value) return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, times * *value);
    return text;
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Of all but one.
double best_other(const StageTimes& stage, std::size_t but) {
    double best = never;
    for (std::size_t i = 0; i < stage.seconds.size(); ++i)
        if (i != but) best = std::min(best, stage.seconds[i].value_or(never));
    return best;
}

bool is_counted(const StageTimes& stage) {
    return std::any_of(stage.seconds.begin(), stage.seconds.end(), [](const auto& seconds) {
        return seconds.has_value();
    });
}

/// Of values some of which may be infinite.
double middle(std::vector<double> values) {
    if (values.empty()) return never;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const bool is_odd = values.size() % 2 == 1;
    return is_odd ? values[half] : (values[half - 1] + values[half]) / 2;
}

Standing standing_of(
    const std::string& recipe, std::size_t index, const std::vector<StageTimes>& stages) {
    Standing standing{.recipe = recipe, .median = {}, .worst = {}, .of_free = {}};
    std::vector<double> ratios;
    std::vector<double> of_free;
    for (const StageTimes& stage : stages) {
        if (!is_counted(stage)) continue;
        ++standing.stages;
        const double own = stage.seconds[index].value_or(never);
        const double other = best_other(stage, index);
        if (std::isfinite(own)) ++standing.reached;
        if (own < other) ++standing.won;
        ratios.push_back(std::isfinite(own) ? (std::isfinite(other) ? own / other : 0) : never);
        if (stage.free) of_free.push_back(*stage.free / own);
    }
    standing.median = finite(middle(ratios));
    if (!ratios.empty()) standing.worst = finite(*std::max_element(ratios.begin(), ratios.end()));
    standing.of_free = finite(middle(of_free));
    return standing;
}

Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::vector<Standing> standings(
    const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages) {
    std::vector<Standing> all;
    for (std::size_t i = 0; i < recipes.size(); ++i)
        all.push_back(standing_of(recipes[i], i, stages));
    return all;
}

std::string rank_table(
    const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages) {
    std::vector<std::vector<std::string>> times{{"STAGE", "TARGET", "FREE"}};
    times.front().insert(times.front().end(), recipes.begin(), recipes.end());
    for (const StageTimes& stage : stages) {
        times.push_back({stage.stage, figure(100 * stage.target, 2), figure(stage.free, 1)});
        for (const auto& seconds : stage.seconds)
            times.back().push_back(figure(seconds, 1));
    }
    std::vector<std::vector<std::string>> rows{
        {"RECIPE", "REACHED", "FIRST", "MEDIAN", "WORST", "EFF"}};
    for (const Standing& each : standings(recipes, stages)) {
        const std::string of = "/" + std::to_string(each.stages);
        rows.push_back(
            {each.recipe,
             std::to_string(each.reached) + of,
             std::to_string(each.won) + of,
             figure(each.median, 2),
             figure(each.worst, 2),
             figure(each.of_free, 1, 100)});
    }
    return lined_up(times) + "\n" + lined_up(rows);
}

Json rank_json(const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages) {
    Json rows = Json::array();
    for (const Standing& each : standings(recipes, stages)) {
        rows.push_back(
            {{"recipe", each.recipe},
             {"stages", each.stages},
             {"reached", each.reached},
             {"first", each.won},
             {"ratio_median", number_or_null(each.median)},
             {"ratio_worst", number_or_null(each.worst)},
             {"effective_utilization_median", number_or_null(each.of_free)}});
    }
    Json times = Json::array();
    for (const StageTimes& stage : stages) {
        Json seconds = Json::object();
        for (std::size_t i = 0; i < recipes.size(); ++i)
            seconds[recipes[i]] = number_or_null(stage.seconds[i]);
        times.push_back(
            {{"stage", stage.stage},
             {"target", stage.target},
             {"free_seconds", number_or_null(stage.free)},
             {"seconds", seconds}});
    }
    return {{"schema", "p2psim.rank/1"}, {"recipes", rows}, {"stages", times}};
}

}  // namespace p2p::sim
