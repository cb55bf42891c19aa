#include "tools/p2pctl/screens.hpp"

#include <algorithm>
#include <vector>

#include "proto/json.hpp"
#include "tools/p2pctl/columns.hpp"
#include "tools/p2pctl/human.hpp"
#include "tools/p2pctl/render.hpp"

namespace p2p::tools {

namespace {

constexpr std::size_t status_label_width = 11;
constexpr std::size_t job_label_width = 14;  // "slowest link" and two blanks
constexpr std::string_view part_gap = "   ";

/// Parts of a line that are known, three blanks apart.
std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) {
        if (part.empty()) continue;
        if (!text.empty()) text += part_gap;
        text += part;
    }
    return text;
}

/// `before` + the number at `path` as people read it + `after`; empty where it is not known.
template <typename Human>
std::string known(
    const Json& document,
    std::string_view path,
    Human human,
    std::string_view before,
    std::string_view after = "") {
    const auto value = number_at(document, path);
    return value ? std::string(before) + human(*value) + std::string(after) : std::string{};
}

std::string count_text(const Json& document, std::string_view path) {
    const double value = number_at(document, path).value_or(0);
    return human_count(static_cast<std::uint64_t>(std::max(value, 0.0)));
}

std::string short_id(const Json& document, std::string_view path) {
    return printable(text_at(document, path)).substr(0, 6);
}

std::string with_id(const Json& document, std::string_view name, std::string_view id) {
    return printable(text_at(document, name)) + " (" + short_id(document, id) + ")";
}

std::string protocol_text(const Json& document) {
    const Json& speaks = list_at(document, "node.protocol.speaks");
    if (speaks.size() != 2 || !speaks[0].is_number() || !speaks[1].is_number()) return "";
    const std::string low = human_number(speaks[0].get<double>());
    const std::string high = human_number(speaks[1].get<double>());
    return ", protocol " + high + (low == high ? "" : " (speaks " + low + "-" + high + ")");
}

std::string peers_text(const Json& document) {
    std::string text = count_text(document, "peers.connected") + " of "
                       + count_text(document, "peers.known") + " peers connected";
    for (const char* state : {"suspect", "failed", "left"}) {
        const std::string path = std::string("peers.") + state;
        if (number_at(document, path).value_or(0) > 0) {
            text += ", " + count_text(document, path) + " " + state;
        }
    }
    return text;
}

std::string network_line(const Json& document) {
    if (text_at(document, "network.id").empty()) {
        return "none yet   next: p2pctl init, or list peers in peers.toml";
    }
    return joined({short_id(document, "network.id"), peers_text(document)});
}

std::string epochs_text(const Json& job) {
    const auto epochs = number_at(job, "epochs");
    if (!epochs)
        return known(
            job, "progress_ratio", [](double r) { return human_percent(r); }, "");
    std::string done = human_number(number_at(job, "epoch").value_or(0));
    const auto dot = done.find('.');
    if (dot != std::string::npos) done.resize(dot + 2);
    return "epoch " + done + " of " + human_number(*epochs);
}

std::string job_line(const Json& job, bool has_color) {
    const std::string reason = printable(text_at(job, "reason"));
    return joined(
        {printable(text_at(job, "label")),
         painted(printable(text_at(job, "state")), has_color),
         epochs_text(job),
         known(job, "train_loss", human_number, "loss "),
         known(
             job, "accuracy", [](double r) { return human_percent(r, 1); }, "accuracy "),
         known(job, "time_left_seconds", human_duration, "", " left"),
         reason});
}

/// "1 warning", "2 errors, 1 warning", "ok"
std::string health_summary(const Json& problems) {
    std::size_t errors = 0;
    std::size_t warnings = 0;
    for (const Json& problem : problems) {
        ++(text_at(problem, "severity") == "error" ? errors : warnings);
    }
    const auto counted = [](std::size_t count, const std::string& word) {
        if (count == 0) return std::string{};
        return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
    };
    if (errors == 0 && warnings == 0) return "ok";
    const std::string second = counted(warnings, "warning");
    const std::string first = counted(errors, "error");
    return first.empty() || second.empty() ? first + second : first + ", " + second;
}

std::string problem_lines(const Json& problems) {
    std::string text;
    for (const Json& problem : problems) {
        const std::string code = printable(text_at(problem, "code"));
        const std::string indent(code.size() + 2, ' ');
        text += code + "  since " + human_clock(text_at(problem, "since")) + "  "
                + printable(text_at(problem, "text")) + "\n";
        const std::string next = printable(text_at(problem, "next"));
        if (!next.empty()) text += indent + "next: " + next + "\n";
    }
    return text;
}

std::string line(std::string_view name, std::size_t width, const std::string& content) {
    return content.empty() ? std::string{} : label(name, width) + content + "\n";
}

std::string detail(std::string_view name, const std::string& content) {
    return line(name, job_label_width, content);
}

std::string progress_text(const Json& job) {
    const auto mesh = number_at(job, "samples_mesh");
    std::string samples;
    if (mesh) samples = " (" + count_text(job, "samples_mesh");
    if (mesh && number_at(job, "samples_total"))
        samples += " of " + count_text(job, "samples_total");
    if (mesh) samples += " samples by the mesh)";
    return epochs_text(job) + samples
           + known(job, "time_left_seconds", human_duration, ", ", " left");
}

std::string mixing_text(const Json& job) {
    std::string text = printable(text_at(job, "recipe"));
    if (!text.empty()) text += "; ";
    double cut = 0;
    for (const Json& edge : list_at(job, "edges"))
        cut += number_at(edge, "refused").value_or(0);
    return text + std::to_string(list_at(job, "edges").size()) + " links, "
           + count_text(job, "swaps_total") + " swaps, "
           + human_count(static_cast<std::uint64_t>(cut)) + " cut";
}

/// Only where links differ by more than half: else none of them is slow.
std::string slowest_link_text(const Json& job) {
    const Json* slowest = nullptr;
    double most = 0;
    double second = 0;
    for (const Json& edge : list_at(job, "edges")) {
        const double seconds = number_at(edge, "swap_seconds").value_or(0);
        if (seconds > most) {
            second = most;
            most = seconds;
            slowest = &edge;
        } else {
            second = std::max(second, seconds);
        }
    }
    if (slowest == nullptr || second <= 0 || most < 1.5 * second) return "";
    const std::string name = printable(text_at(*slowest, "peer"));
    return (name.empty() ? short_id(*slowest, "peer_id") : name) + ": a swap takes "
           + human_delay(most) + ", the next slowest " + human_delay(second);
}

/// What mixing decided, a line each, the name on the first.
std::string choices_text(const Json& job) {
    std::string text;
    for (const Json& choice : list_at(job, "choices")) {
        if (!choice.is_string()) continue;
        text += detail(text.empty() ? "chosen" : "", printable(choice.get<std::string>()));
    }
    return text;
}

std::string end_text(const Json& job) {
    const std::string reason = printable(text_at(job, "end_reason"));
    const std::string hash = printable(text_at(job, "final_hash"));
    if (reason.empty() && hash.empty()) return "";
    return joined({reason, hash.empty() ? "" : "final model " + hash.substr(0, 12)});
}

std::string heading_text(const Json& job, bool has_color) {
    return joined(
        {printable(text_at(job, "label")),
         "spec " + printable(text_at(job, "spec")),
         painted(printable(text_at(job, "state")), has_color) + " since "
             + human_clock(text_at(job, "since")),
         printable(text_at(job, "reason"))});
}

}  // namespace

std::string status_screen(const Json& document, bool /*is_wide*/, bool has_color) {
    const auto add = [](std::string_view name, const std::string& content) {
        return line(name, status_label_width, content);
    };
    std::string text =
        add("node",
            joined(
                {with_id(document, "node.name", "node.id"),
                 "p2pd " + printable(text_at(document, "node.version")) + protocol_text(document),
                 known(document, "node.uptime_seconds", human_duration, "up ")}));
    text += add("network", network_line(document));
    if (text_at(document, "state") == "stopping")
        text += add("state", painted("stopping", has_color));
    std::string_view name = "jobs";
    for (const Json& job : list_at(document, "jobs")) {
        text += add(name, job_line(job, has_color));
        name = "";
    }
    if (list_at(document, "jobs").empty()) text += add("jobs", "none");
    const Json& problems = list_at(document, "health");
    text += add("health", health_summary(problems));
    return problems.empty() ? text : text + "\n" + problem_lines(problems);
}

std::string health_screen(const Json& document, bool /*is_wide*/, bool has_color) {
    const Json& problems = list_at(document, "problems");
    std::string text = flag_at(document, "healthy") ? "healthy" : "not healthy";
    const std::string state = text_at(document, "state");
    if (state != "ready") text += part_gap.data() + painted(printable(state), has_color);
    if (!problems.empty()) text += part_gap.data() + health_summary(problems);
    return text + "\n" + problem_lines(problems);
}

std::string id_screen(const Json& document, bool /*is_wide*/, bool /*has_color*/) {
    return printable(text_at(document, "id")) + "\n";
}

std::string job_screen(const Json& document, bool is_wide, bool has_color) {
    const Json& job = value_at(document, "job");
    std::string text = detail("job", heading_text(job, has_color));
    text += detail("progress", progress_text(job));
    text += detail(
        "loss",
        joined(
            {known(job, "train_loss", human_number, "train "),
             known(job, "eval_loss", human_number, "eval "),
             known(
                 job, "accuracy", [](double r) { return human_percent(r, 1); }, "accuracy ")}));
    text += detail("mixing", mixing_text(job));
    text += choices_text(job);
    text += detail(
        "distance", known(job, "distance_ratio", human_number, "", " of the parameter norm"));
    text += detail(
        "time",
        known(
            job,
            "utilization",
            [](double r) { return human_percent(r); },
            "in steps ",
            " of the time allotted"));
    text += detail("slowest link", slowest_link_text(job));
    text += detail("ended", end_text(job));

    Look look;
    look.format = is_wide ? Format::wide : Format::table;
    look.has_color = has_color;
    text += "\n" + render_table(member_columns(), list_at(job, "members"), look);
    const Json& edges = list_at(job, "edges");
    if (!edges.empty()) text += "\n" + render_table(edge_columns(), edges, look);
    const Json& ledger = list_at(job, "ledger");
    if (is_wide && !ledger.empty()) text += "\n" + render_table(ledger_columns(), ledger, look);
    return text;
}

}  // namespace p2p::tools
