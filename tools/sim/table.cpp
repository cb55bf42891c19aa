#include "tools/sim/table.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "proto/json.hpp"

namespace p2p::sim {

using proto::Json;

namespace {

std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string percent(double ratio) {
    return number(100 * ratio, 2);
}

/// The median over an outcome's nodes, or their least and most.
double of_nodes(
    const Outcome& outcome, const std::function<double(const NodeOutcome&)>& value, int which) {
    std::vector<double> values;
    values.reserve(outcome.nodes.size());
    for (const NodeOutcome& node : outcome.nodes)
        values.push_back(value(node));
    if (values.empty()) return 0;
    if (which < 0) return *std::min_element(values.begin(), values.end());
    if (which > 0) return *std::max_element(values.begin(), values.end());
    return median_of(values);
}

bool looks_like_number(const std::string& text) {
    return text.find_first_not_of("0123456789.,-/") == std::string::npos;
}

double accuracy_of(const NodeOutcome& node) {
    return node.accuracy;
}

/// All seeds of one recipe.
using Group = std::vector<const Outcome*>;

double median_over(const Group& group, const std::function<double(const Outcome&)>& value) {
    std::vector<double> values;
    values.reserve(group.size());
    for (const Outcome* outcome : group)
        values.push_back(value(*outcome));
    return median_of(values);
}

/// Of the seeds that got there; "-" where less than half did.
std::string at_target(
    const Group& group,
    double target,
    int decimals,
    const std::function<double(const CurvePoint&)>& value) {
    std::vector<double> values;
    for (const Outcome* outcome : group) {
        if (const auto point = outcome->reached(target)) values.push_back(value(*point));
    }
    if (target <= 0 || 2 * values.size() <= group.size()) return "-";
    return number(median_of(values), decimals);
}

std::vector<std::string> row_of(const Group& group, double target) {
    const auto of = [&](const std::function<double(const Outcome&)>& value, int decimals) {
        return number(median_over(group, value), decimals);
    };
    const auto finished = static_cast<std::size_t>(std::count_if(
        group.begin(), group.end(), [](const Outcome* outcome) { return outcome->is_finished; }));
    return {
        group.front()->recipe,
        at_target(group, target, 1, [](const CurvePoint& p) { return p.seconds; }),
        at_target(group, target, 1, [](const CurvePoint& p) { return p.megabytes; }),
        of([](const Outcome& o) { return 100 * of_nodes(o, accuracy_of, -1); }, 2),
        of([](const Outcome& o) { return 100 * of_nodes(o, accuracy_of, 0); }, 2),
        of([](const Outcome& o) { return 100 * of_nodes(o, accuracy_of, 1); }, 2),
        of(
            [](const Outcome& o) {
                return of_nodes(
                    o, [](const NodeOutcome& n) { return n.loss; }, 0);
            },
            4),
        of([](const Outcome& o) { return o.seconds; }, 1),
        of(
            [](const Outcome& o) {
                return of_nodes(
                    o, [](const NodeOutcome& n) { return n.megabytes; }, 0);
            },
            1),
        of(
            [](const Outcome& o) {
                return 100
                       * of_nodes(
                           o, [](const NodeOutcome& n) { return n.utilization; }, -1);
            },
            1),
        of(
            [](const Outcome& o) {
                return o.curve.empty() ? 0 : o.curve[o.curve.size() / 2].distance_ratio;
            },
            4),
        of([](const Outcome& o) { return o.rho; }, 2),
        std::to_string(finished) + "/" + std::to_string(group.size()),
    };
}

}  // namespace

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string lined_up(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    std::vector<bool> is_number;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        is_number.resize(widths.size(), true);
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
            const bool is_heading = &row == &rows.front();
            if (!is_heading && !looks_like_number(row[i])) is_number[i] = false;
        }
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string gap(widths[i] - row[i].size(), ' ');
            line += (i == 0 ? "" : "  ") + (is_number[i] ? gap + row[i] : row[i] + gap);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string outcome_table(const std::vector<Outcome>& outcomes, double target) {
    std::vector<std::vector<std::string>> rows{
        {"RECIPE",
         "TIME",
         "MB",
         "ACC-MIN",
         "ACC-MED",
         "ACC-MAX",
         "LOSS",
         "END",
         "MB-END",
         "UTIL",
         "DIST",
         "RHO",
         "DONE"}};
    std::vector<Group> groups;
    for (const Outcome& outcome : outcomes) {
        const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return group.front()->recipe == outcome.recipe;
        });
        if (found == groups.end()) {
            groups.push_back({&outcome});
        } else {
            found->push_back(&outcome);
        }
    }
    for (const Group& group : groups)
        rows.push_back(row_of(group, target));
    return lined_up(rows);
}

std::string node_table(const Outcome& outcome) {
    std::vector<std::vector<std::string>> rows{
        {"NODE", "ACCURACY", "LOSS", "SAMPLES", "UTIL", "SWAPS", "MB"}};
    for (std::size_t i = 0; i < outcome.nodes.size(); ++i) {
        const NodeOutcome& node = outcome.nodes[i];
        rows.push_back(
            {"n" + std::to_string(i + 1),
             percent(node.accuracy),
             number(node.loss, 4),
             number(node.samples, 0),
             number(100 * node.utilization, 1),
             std::to_string(node.swaps),
             number(node.megabytes, 1)});
    }
    return lined_up(rows);
}

std::string progress_line(const CurvePoint& point, double progress_ratio) {
    return number(100 * std::min(progress_ratio, 1.0), 0) + " %  at " + number(point.seconds, 1)
           + " s  accuracy " + percent(point.accuracy_median) + "  distance "
           + number(point.distance_ratio, 4);
}

Json outcome_json(const Outcome& outcome) {
    Json json{
        {"schema", "p2psim.outcome/1"},
        {"recipe", outcome.recipe},
        {"stage", outcome.stage},
        {"seed", outcome.seed},
        {"finished", outcome.is_finished},
        {"trouble", outcome.trouble},
        {"seconds", outcome.seconds},
        {"rho", outcome.rho},
        {"digest", outcome.digest},
        {"events", outcome.events},
        {"wall_seconds", outcome.wall_seconds},
        {"curve", Json::array()},
        {"nodes", Json::array()}};
    for (const CurvePoint& point : outcome.curve) {
        json["curve"].push_back(
            {{"seconds", point.seconds},
             {"samples", point.samples},
             {"megabytes", point.megabytes},
             {"loss", point.loss_median},
             {"accuracy_ratio", point.accuracy_median},
             {"distance_ratio", point.distance_ratio}});
    }
    for (const NodeOutcome& node : outcome.nodes) {
        json["nodes"].push_back(
            {{"accuracy_ratio", node.accuracy},
             {"loss", node.loss},
             {"utilization_ratio", node.utilization},
             {"samples", node.samples},
             {"megabytes", node.megabytes},
             {"swaps", node.swaps}});
    }
    return json;
}

Outcome outcome_from_json(const Json& json) {
    Outcome outcome;
    outcome.recipe = json["recipe"];
    outcome.stage = json["stage"];
    outcome.seed = json["seed"];
    outcome.is_finished = json["finished"];
    outcome.trouble = json["trouble"];
    outcome.seconds = json["seconds"];
    outcome.rho = json["rho"];
    outcome.digest = json["digest"];
    outcome.events = json["events"];
    outcome.wall_seconds = json["wall_seconds"];
    for (const Json& point : json["curve"]) {
        outcome.curve.push_back(
            {.seconds = point["seconds"],
             .samples = point["samples"],
             .megabytes = point["megabytes"],
             .loss_median = point["loss"],
             .accuracy_median = point["accuracy_ratio"],
             .distance_ratio = point["distance_ratio"]});
    }
    for (const Json& node : json["nodes"]) {
        outcome.nodes.push_back(
            {.accuracy = node["accuracy_ratio"],
             .loss = node["loss"],
             .utilization = node["utilization_ratio"],
             .samples = node["samples"],
             .megabytes = node["megabytes"],
             .swaps = node["swaps"]});
    }
    return outcome;
}

}  // namespace p2p::sim
