#include "tools/sim/stage_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <utility>

#include "core/base/bytes.hpp"
#include "proto/spec.hpp"
#include "proto/toml.hpp"
#include "tools/sim/crowd.hpp"
#include "tools/sim/toml_keys.hpp"

namespace p2p::sim {

using core::Duration;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::TomlArray;
using proto::TomlTable;
using proto::TomlValue;

namespace {

constexpr std::size_t nodes_max = 100'000;
constexpr std::size_t sites_max = 1'000;

template <typename Value, std::size_t count>
using Words = std::array<std::pair<std::string_view, Value>, count>;

constexpr Words<Mishap, 6> mishaps{
    {{"kill", Mishap::kill},
     {"freeze", Mishap::freeze},
     {"cut", Mishap::cut},
     {"clog", Mishap::clog},
     {"slow", Mishap::slow},
     {"join", Mishap::join}}};
constexpr Words<Way, 3> ways{{{"both", Way::both}, {"out", Way::out}, {"in", Way::in}}};

template <typename Value, std::size_t count>
std::optional<Value> named(const Words<Value, count>& words, std::string_view name) {
    for (const auto& [word, value] : words)
        if (word == name) return value;
    return std::nullopt;
}

template <typename Value, std::size_t count>
std::string names_of(const Words<Value, count>& words) {
    std::string names;
    for (const auto& [word, value] : words)
        names += (names.empty() ? "" : ", ") + std::string(word);
    return names;
}

/// Reads one file; members hold what later tables refer to.
class StageReader {
  public:
    StageReader(std::string file, const std::string& job_text)
        : file_(std::move(file)),
          job_text_(job_text) {}

    Result<Stage> read(const TomlTable& root) {
        std::string schema;
        const std::vector<TomlKey> keys{
            text_key("schema", schema),
            table_key("stage", [this](const TomlTable& table) { return read_head(table); }),
            table_key("crowd", [this](const TomlTable& table) { return read_crowd(table); }),
            table_key("costs", [this](const TomlTable& table) { return read_costs(table); }),
            array_key("site", [this](const TomlTable& table) { return read_site(table); }),
            array_key("between", [this](const TomlTable& table) { return keep_wire(table); }),
            array_key("event", [this](const TomlTable& table) { return read_event(table); })};
        const Status status = read_toml_keys(file_, root, keys);
        if (inner_) return *inner_;
        if (!status) return status.error();
        if (schema != "p2psim.stage/1") {
            return toml_fault(file_, root.place, "schema is not \"p2psim.stage/1\"");
        }
        if (stage_.step_time <= Duration::zero()) {
            return toml_fault(
                file_, root.place, "a step takes no time: stage.step wants more than 0s");
        }
        if (stage_.report_every < std::chrono::milliseconds{100}) {
            return toml_fault(file_, root.place, "stage.report_every wants 100ms or more");
        }
        if (stage_.crowd) {
            if (!stage_.nodes.empty() || !wires_.empty())
                return toml_fault(
                    file_, root.place, "a [crowd] draws all: no [[site]], no [[between]]");
            draw_crowd(stage_, stage_.crowd->nodes);
        }
        if (stage_.nodes.empty())
            return toml_fault(file_, root.place, "there is no [[site]] with nodes");
        for (const TomlTable* wire : wires_) {
            if (auto wired = read_wire(*wire); !wired) return wired.error();
        }
        if (auto job = read_job(); !job) return job.error();
        return std::move(stage_);
    }

  private:
    using ReadTable = std::function<Status(const TomlTable&)>;

    TomlKey table_key(std::string_view name, ReadTable read) {
        return {name, "a table", [this, read = std::move(read)](const TomlValue& value) {
                    const auto* table = value.get<TomlTable>();
                    return table != nullptr && take(read(*table));
                }};
    }

    TomlKey array_key(std::string_view name, ReadTable read) {
        return {name, "tables", [this, read = std::move(read)](const TomlValue& value) {
                    const auto* array = value.get<TomlArray>();
                    if (array == nullptr) return false;
                    return std::all_of(array->begin(), array->end(), [&](const TomlValue& each) {
                        const auto* table = each.get<TomlTable>();
                        return table != nullptr && take(read(*table));
                    });
                }};
    }

    /// The error of a table inside is the one to tell.
    bool take(const Status& status) {
        if (!status && !inner_) inner_ = status.error();
        return status.is_ok();
    }

    Status read_head(const TomlTable& table) {
        return read_toml_keys(
            file_,
            table,
            {text_key("description", stage_.description),
             text_key("job", job_file_),
             time_key("step", stage_.step_time),
             time_key("report_every", stage_.report_every),
             number_key("step_jitter", stage_.step_jitter, 0, 1),
             number_key("message_scale", stage_.message_scale, 1, 1e6)});
    }

    Status read_crowd(const TomlTable& table) {
        Crowd crowd;
        double seed = 1;
        double nodes = 100;
        double nodes_a_site = 5;
        double links = static_cast<double>(crowd.links);
        auto status = read_toml_keys(
            file_,
            table,
            {number_key("seed", seed, 0, 1e9),
             number_key("nodes", nodes, 1, nodes_max),
             number_key("nodes_a_site", nodes_a_site, 1, 1000),
             number_key("links", links, 0, 1000),
             time_key("round_trip", crowd.round_trip),
             number_key("round_trip_spread", crowd.round_trip_spread, 0, 3),
             rate_key("megabits_least", crowd.bytes_per_second_least),
             rate_key("megabits_most", crowd.bytes_per_second_most),
             number_key("speed_spread", crowd.speed_spread, 0, 3)});
        if (!status) return status;
        if (crowd.bytes_per_second_most < crowd.bytes_per_second_least)
            return toml_fault(file_, table.place, "megabits_most is below megabits_least");
        crowd.seed = static_cast<std::uint64_t>(seed);
        crowd.nodes = static_cast<std::size_t>(nodes);
        crowd.nodes_a_site = static_cast<std::size_t>(nodes_a_site);
        crowd.links = static_cast<std::size_t>(links);
        stage_.crowd = crowd;
        return {};
    }

    Status read_costs(const TomlTable& table) {
        Costs& costs = stage_.costs;
        return read_toml_keys(
            file_,
            table,
            {seconds_key("order_us", costs.order_seconds, 1e-6),
             seconds_key("encode_ns_a_float", costs.encode_seconds_a_float, 1e-9),
             seconds_key("decode_ns_a_float", costs.decode_seconds_a_float, 1e-9),
             seconds_key("apply_ns_a_float", costs.apply_seconds_a_float, 1e-9)});
    }

    Status read_site(const TomlTable& table) {
        Site site;
        std::vector<double> speeds;
        const TomlKey speeds_key{
            "speeds", "a list of numbers above 0", [&](const TomlValue& value) {
                return read_speeds(value, speeds);
            }};
        auto status = read_toml_keys(
            file_,
            table,
            {text_key("name", site.name),
             speeds_key,
             rate_key("inside_megabits", site.inside_bytes_per_second),
             time_key("inside_round_trip", site.inside_round_trip),
             rate_key("up_megabits", site.up_bytes_per_second),
             rate_key("down_megabits", site.down_bytes_per_second)});
        if (!status) return status;
        if (stage_.sites.size() >= sites_max || stage_.nodes.size() + speeds.size() > nodes_max) {
            return toml_fault(file_, table.place, "more sites or nodes than this program takes");
        }
        for (const double speed : speeds)
            stage_.nodes.push_back({.site = stage_.sites.size(), .speed = speed});
        stage_.sites.push_back(site);
        return {};
    }

    static bool read_speeds(const TomlValue& value, std::vector<double>& speeds) {
        const auto* array = value.get<TomlArray>();
        if (array == nullptr || array->empty()) return false;
        for (const TomlValue& each : *array) {
            const auto speed = toml_number(each);
            if (!speed || !(*speed > 0 && *speed <= 1000)) return false;
            speeds.push_back(*speed);
        }
        return true;
    }

    Status keep_wire(const TomlTable& table) {
        wires_.push_back(&table);
        return {};
    }

    [[nodiscard]] std::optional<std::size_t> site_named(const std::string& name) const {
        for (std::size_t i = 0; i < stage_.sites.size(); ++i)
            if (stage_.sites[i].name == name) return i;
        return std::nullopt;
    }

    bool read_ends(const TomlValue& value, std::vector<std::size_t>& ends) const {
        const auto* array = value.get<TomlArray>();
        if (array == nullptr) return false;
        for (const TomlValue& each : *array) {
            const auto* name = each.get<std::string>();
            const auto site = name != nullptr ? site_named(*name) : std::nullopt;
            if (!site) return false;
            ends.push_back(*site);
        }
        return ends.size() == 2 && ends[0] != ends[1];
    }

    Status read_wire(const TomlTable& table) {
        Between wire;
        std::vector<std::size_t> ends;
        const TomlKey sites_key{"sites", "the names of two sites", [&](const TomlValue& value) {
                                    return read_ends(value, ends);
                                }};
        auto status = read_toml_keys(
            file_,
            table,
            {sites_key,
             time_key("round_trip", wire.round_trip),
             time_key("jitter", wire.jitter),
             number_key("loss", wire.loss_ratio, 0, 0.5)});
        if (!status) return status;
        if (ends.size() != 2) return toml_fault(file_, table.place, "a [[between]] names no sites");
        fill_wires();
        stage_.wires[ends[0] * stage_.sites.size() + ends[1]] = wire;
        stage_.wires[ends[1] * stage_.sites.size() + ends[0]] = wire;
        return {};
    }

    void fill_wires() {
        const std::size_t sites = stage_.sites.size();
        if (stage_.wires.size() == sites * sites) return;
        stage_.wires.assign(sites * sites, {.round_trip = std::chrono::milliseconds{50}});
        for (std::size_t i = 0; i < sites; ++i)
            stage_.wires[i * sites + i] = {.round_trip = stage_.sites[i].inside_round_trip};
    }

    Status read_event(const TomlTable& table) {
        StageEvent event;
        std::string word;
        std::string way = "both";
        double target = -1;
        auto status = read_toml_keys(
            file_,
            table,
            {text_key("what", word),
             time_key("at", event.at),
             time_key("every", event.every),
             time_key("lasts", event.lasts),
             number_key("target", target, 0, nodes_max),
             number_key("factor", event.factor, 0.001, 1000),
             text_key("way", way)});
        if (!status) return status;
        const auto what = named(mishaps, word);
        if (!what) return toml_fault(file_, table.place, "what is none of " + names_of(mishaps));
        const auto held = named(ways, way);
        if (!held) return toml_fault(file_, table.place, "way is none of " + names_of(ways));
        event.what = *what;
        event.way = *held;
        if (target >= 0) event.target = static_cast<std::size_t>(target);
        if (event.what == Mishap::join
            && (event.target == StageEvent::drawn || event.every > Duration::zero())) {
            return toml_fault(file_, table.place, "a join wants a target, and happens once");
        }
        stage_.events.push_back(event);
        return {};
    }

    Status read_job() {
        fill_wires();
        auto parsed = proto::parse_spec_toml(job_text_);
        if (!parsed) return parsed.error().with_context(file_ + ": its job");
        if (parsed->spec.model.kind != core::ModelKind::mlp) {
            return Error{
                ErrorCode::invalid,
                file_ + ": its job: model.kind",
                "the simulator trains the models that p2pd trains itself",
                "use model.kind = \"mlp\""};
        }
        stage_.job = parsed->spec;
        return {};
    }

    std::string file_;
    const std::string& job_text_;
    std::string job_file_;
    Stage stage_;
    std::vector<const TomlTable*> wires_;  // read last: they name sites
    std::optional<Error> inner_;
};

}  // namespace

Result<Stage> parse_stage(const StageText& text, std::size_t nodes) {
    const auto root = proto::parse_toml(text.stage, stage_bytes_max);
    if (!root) return root.error().with_context(text.file);
    auto stage = StageReader(text.file, text.job).read(*root);
    if (!stage) return stage;
    stage->name = std::filesystem::path(text.file).stem().string();
    stage->text = text;
    if (nodes > 0) resize(*stage, nodes);
    return stage;
}

Result<Stage> read_stage(const std::string& path, std::size_t nodes) {
    const auto text = read_stage_text(path);
    if (!text) return text.error();
    return parse_stage(*text, nodes);
}

}  // namespace p2p::sim
