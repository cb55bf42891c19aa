#include "tools/sim/table.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "proto/json.hpp"

namespace p2p::sim {

using proto::Json;

namespace {

constexpr std::size_t table_columns_max = 120;
constexpr std::size_t name_columns_min = 12;

std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// With `decimals` where there is room: in thousands nobody reads them.
std::string short_number(double value, int decimals) {
    return number(value, value >= 1000 ? 0 : decimals);
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

/// Of the seeds that got there; nothing where not more than half did.
std::optional<double> median_at_target(
    const Group& group, double target, const std::function<double(const CurvePoint&)>& value) {
    std::vector<double> values;
    for (const Outcome* outcome : group) {
        if (const auto point = outcome->reached(target)) values.push_back(value(*point));
    }
    if (target <= 0 || 2 * values.size() <= group.size()) return std::nullopt;
    return median_of(values);
}

std::optional<double> seconds_to_target(const Group& group, double target) {
    return median_at_target(group, target, [](const CurvePoint& point) { return point.seconds; });
}

std::string at_target(
    const Group& group,
    double target,
    int decimals,
    const std::function<double(const CurvePoint&)>& value) {
    const auto median = median_at_target(group, target, value);
    return median ? short_number(*median, decimals) : "-";
}

/// What a table is to say of its rows, beside the rows.
struct Frame {
    double target = 0;                          ///< an accuracy; 0: none
    std::optional<double> free_seconds_target;  ///< of one model at no cost, at the target
};

struct Column {
    std::string_view heading;
    std::function<std::string(const Group&, const Frame&)> text;
};

using OfOutcome = std::function<double(const Outcome&)>;
using OfNode = std::function<double(const NodeOutcome&)>;

Column median_column(std::string_view heading, int decimals, OfOutcome value) {
    return {heading, [decimals, value = std::move(value)](const Group& group, const Frame&) {
                return short_number(median_over(group, value), decimals);
            }};
}

/// Of the nodes the least (-1), the one in the middle (0) or the most (1).
Column node_column(std::string_view heading, int decimals, int which, OfNode value) {
    return median_column(heading, decimals, [which, value = std::move(value)](const Outcome& one) {
        return of_nodes(one, value, which);
    });
}

Column target_column(
    std::string_view heading, int decimals, std::function<double(const CurvePoint&)> value) {
    return {heading, [decimals, value = std::move(value)](const Group& group, const Frame& frame) {
                return at_target(group, frame.target, decimals, value);
            }};
}

/// Least, median and most of the nodes, each the median over the seeds.
std::string accuracies(const Group& group, const Frame& /*frame*/) {
    std::string text;
    for (const int which : {-1, 0, 1}) {
        const double accuracy = median_over(
            group, [which](const Outcome& one) { return of_nodes(one, accuracy_of, which); });
        text += (text.empty() ? "" : "/") + percent(accuracy);
    }
    return text;
}

/// A free network's time to the target over this one's (design/MEASURES, "effective utilization").
std::string effective_utilization(const Group& group, const Frame& frame) {
    const auto seconds = seconds_to_target(group, frame.target);
    if (!seconds || !frame.free_seconds_target || *seconds <= 0) return "-";
    return number(100 * *frame.free_seconds_target / *seconds, 1);
}

std::string finished(const Group& group, const Frame& /*frame*/) {
    const auto count = std::count_if(
        group.begin(), group.end(), [](const Outcome* outcome) { return outcome->is_finished; });
    return std::to_string(count) + "/" + std::to_string(group.size());
}

/// Long names keep their beginning and their end.
std::string cut_to(const std::string& name, std::size_t columns) {
    if (name.size() <= columns) return name;
    const std::size_t head = columns / 3;
    const std::size_t tail = columns - head - 2;
    return name.substr(0, head) + ".." + name.substr(name.size() - tail);
}

std::vector<Column> columns() {
    return {
        target_column("TIME", 1, [](const CurvePoint& p) { return p.seconds; }),
        target_column("MB", 1, [](const CurvePoint& p) { return p.megabytes; }),
        target_column("KSAMP", 0, [](const CurvePoint& p) { return p.samples / 1e3; }),
        {"EFF", effective_utilization},
        {"ACCURACY", accuracies},
        node_column("LOSS", 4, 0, [](const NodeOutcome& n) { return n.loss; }),
        median_column("END", 1, [](const Outcome& o) { return o.seconds; }),
        node_column("MB-END", 1, 0, [](const NodeOutcome& n) { return n.megabytes; }),
        node_column("UTIL", 1, -1, [](const NodeOutcome& n) { return 100 * n.utilization; }),
        node_column("WAIT", 1, 1, [](const NodeOutcome& n) { return n.waiting_seconds; }),
        median_column(
            "DIST",
            4,
            [](const Outcome& o) {
                return o.curve.empty() ? 0 : o.curve[o.curve.size() / 2].distance_ratio;
            }),
        median_column("RHO", 1, [](const Outcome& o) { return o.rho; }),
        {"DONE", finished}};
}

std::vector<Group> groups_of(const std::vector<Outcome>& outcomes) {
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
    return groups;
}

}  // namespace

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double target_of(const std::vector<Outcome>& outcomes, double below) {
    std::vector<double> accuracies;
    for (const Outcome& outcome : outcomes) {
        if (outcome.recipe == "free") accuracies.push_back(outcome.curve.back().accuracy_median);
    }
    return accuracies.empty() ? 0 : median_of(accuracies) - below;
}

std::optional<double> seconds_to(
    const std::vector<Outcome>& outcomes, const std::string& recipe, double target) {
    Group group;
    for (const Outcome& outcome : outcomes)
        if (outcome.recipe == recipe) group.push_back(&outcome);
    return seconds_to_target(group, target);
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
    const std::vector<Group> groups = groups_of(outcomes);
    Frame frame{.target = target, .free_seconds_target = {}};
    for (const Group& group : groups) {
        if (group.front()->recipe == "free")
            frame.free_seconds_target = seconds_to_target(group, target);
    }
    std::vector<std::vector<std::string>> rows{{"RECIPE"}};
    for (const Group& group : groups)
        rows.push_back({group.front()->recipe});
    std::size_t taken = 0;
    for (const Column& column : columns()) {
        std::size_t width = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(
                i == 0 ? std::string(column.heading) : column.text(groups[i - 1], frame));
            width = std::max(width, rows[i].back().size());
        }
        taken += 2 + width;
    }
    const std::size_t left = table_columns_max - std::min(taken, table_columns_max);
    for (auto& row : rows)
        row[0] = cut_to(row[0], std::max(left, name_columns_min));
    return lined_up(rows);
}

std::string node_table(const Outcome& outcome) {
    std::vector<std::vector<std::string>> rows{
        {"NODE", "ACCURACY", "LOSS", "SAMPLES", "UTIL", "WAIT", "SWAPS", "MB"}};
    for (std::size_t i = 0; i < outcome.nodes.size(); ++i) {
        const NodeOutcome& node = outcome.nodes[i];
        rows.push_back(
            {"n" + std::to_string(i + 1),
             percent(node.accuracy),
             number(node.loss, 4),
             number(node.samples, 0),
             number(100 * node.utilization, 1),
             number(node.waiting_seconds, 1),
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
        {"memory_peak_megabytes", outcome.memory_peak_megabytes},
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
             {"waiting_seconds", node.waiting_seconds},
             {"samples", node.samples},
             {"megabytes", node.megabytes},
             {"swaps", node.swaps}});
    }
    return json;
}

namespace {

/// JSON has no word for what a model that has come apart gives.
double number_from(const Json& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

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
    outcome.memory_peak_megabytes = json["memory_peak_megabytes"];
    for (const Json& point : json["curve"]) {
        outcome.curve.push_back(
            {.seconds = point["seconds"],
             .samples = point["samples"],
             .megabytes = point["megabytes"],
             .loss_median = number_from(point["loss"]),
             .accuracy_median = point["accuracy_ratio"],
             .distance_ratio = number_from(point["distance_ratio"])});
    }
    for (const Json& node : json["nodes"]) {
        outcome.nodes.push_back(
            {.accuracy = node["accuracy_ratio"],
             .loss = number_from(node["loss"]),
             .utilization = node["utilization_ratio"],
             .waiting_seconds = node["waiting_seconds"],
             .samples = node["samples"],
             .megabytes = node["megabytes"],
             .swaps = node["swaps"]});
    }
    return outcome;
}

}  // namespace p2p::sim
