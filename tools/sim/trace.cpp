#include "tools/sim/trace.hpp"

#include <cstdio>
#include <utility>

#include "core/base/cpu.hpp"
#include "core/codec/hash.hpp"
#include "core/data/file.hpp"
#include "proto/json.hpp"
#include "proto/version.hpp"
#include "tools/sim/stage_file.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::Json;
using proto::json_member;

namespace {

constexpr std::string_view schema = "p2psim.trace/1";
constexpr std::size_t trace_bytes_max = 1024 * core::mib;
constexpr std::size_t line_bytes_max = 4 * core::mib;

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

std::optional<std::uint64_t> hex_member(const Json& json, std::string_view name) {
    const auto text = json_member<std::string>(json, name);
    const auto bytes = text ? core::from_hex(*text) : std::nullopt;
    if (!bytes || bytes->size() != 8) return std::nullopt;
    std::uint64_t value = 0;
    for (const std::uint8_t byte : *bytes)
        value = value << 8U | byte;
    return value;
}

Json head_json(const TraceHead& head) {
    const RunRequest& request = head.request;
    return {
        {"schema", schema},
        {"release", head.release},
        {"kernels", head.kernel_level},
        {"data", {{"folder", head.data_folder}, {"hash", head.data_hash}}},
        {"recipe", request.recipe},
        {"axes", request.axes},
        {"label", request.label},
        {"seed", request.seed},
        {"limit_seconds", request.limit_seconds},
        {"looks", request.looks},
        {"links", request.links_a_node},
        {"nodes", request.stage.nodes.size()},
        {"as_bytes", request.as_bytes},
        {"stage",
         {{"file", request.stage.text.file},
          {"text", request.stage.text.stage},
          {"job", request.stage.text.job}}}};
}

/// Takes members of an object into places; remembers whether each was there.
class Members {
  public:
    explicit Members(const Json& json)
        : json_(json) {}

    template <typename T>
    void take(std::string_view name, T& out) {
        auto value = json_member<T>(json_, name);
        if (value) {
            out = *std::move(value);
        } else {
            are_all_there_ = false;
        }
    }

    /// The object `name`; an empty one where it is missing.
    [[nodiscard]] Members inside(std::string_view name) {
        static const Json nothing = Json::object();
        const auto found = json_.find(name);
        return Members(found == json_.end() ? nothing : *found);
    }

    [[nodiscard]] bool are_all_there() const { return are_all_there_; }

  private:
    const Json& json_;
    bool are_all_there_ = true;
};

bool take_axes(const Json& json, std::map<std::string, std::string>& axes) {
    const auto found = json.find("axes");
    if (found == json.end() || !(found->is_object() || found->is_null())) return false;
    for (const auto& [name, value] : found->items()) {
        if (!value.is_string()) return false;
        axes[name] = value.get<std::string>();
    }
    return true;
}

/// None where it is no head; an error of its own where the stage in it does not read.
std::optional<Result<TraceHead>> read_head(const Json& json) {
    TraceHead head;
    RunRequest& request = head.request;
    StageText text;
    std::size_t nodes = 0;
    Members whole(json);
    Members data = whole.inside("data");
    Members stage = whole.inside("stage");
    whole.take("release", head.release);
    whole.take("kernels", head.kernel_level);
    data.take("folder", head.data_folder);
    data.take("hash", head.data_hash);
    whole.take("recipe", request.recipe);
    whole.take("label", request.label);
    whole.take("seed", request.seed);
    whole.take("limit_seconds", request.limit_seconds);
    whole.take("looks", request.looks);
    whole.take("links", request.links_a_node);
    whole.take("nodes", nodes);
    whole.take("as_bytes", request.as_bytes);
    stage.take("file", text.file);
    stage.take("text", text.stage);
    stage.take("job", text.job);
    const bool is_whole = whole.are_all_there() && data.are_all_there() && stage.are_all_there()
                          && take_axes(json, request.axes);
    if (!is_whole || request.looks == 0 || !(request.limit_seconds > 0)) return std::nullopt;
    auto read = parse_stage(text, nodes);
    if (!read) return read.error();
    request.stage = *std::move(read);
    return head;
}

std::optional<DigestPoint> read_point(const Json& json) {
    const auto events = json_member<std::uint64_t>(json, "events");
    const auto nanoseconds = json_member<std::int64_t>(json, "at_ns");
    const auto digest = hex_member(json, "digest");
    if (!events || !nanoseconds || !digest) return std::nullopt;
    return DigestPoint{
        .events = *events,
        .at = core::TimePoint{std::chrono::nanoseconds{*nanoseconds}},
        .digest = *digest};
}

Error broken(const std::string& path, std::size_t line, std::string why) {
    return {
        ErrorCode::malformed,
        path + ", line " + std::to_string(line),
        std::move(why),
        "give a file that p2psim run --trace has written to its end"};
}

/// Reads line after line; members hold what the whole is made of.
class TraceReader {
  public:
    explicit TraceReader(std::string path)
        : path_(std::move(path)) {}

    Result<Trace> read(std::string_view rest) {
        for (std::size_t line = 1; !rest.empty(); ++line) {
            const std::size_t end = rest.find('\n');
            if (end == std::string_view::npos) return broken(path_, line, "the line is torn");
            if (has_ended_) return broken(path_, line, "there is more after the last line");
            const auto json = proto::parse_json(rest.substr(0, end), line_bytes_max);
            if (!json) return broken(path_, line, "it is no line of JSON");
            if (auto taken = line == 1 ? on_head(*json) : on_line(*json, line); !taken) {
                return taken.error();
            }
            rest.remove_prefix(end + 1);
        }
        if (!has_ended_) return broken(path_, 0, "its last line is missing: the run did not end");
        return std::move(trace_);
    }

  private:
    Status on_head(const Json& json) {
        const auto named = json_member<std::string>(json, "schema").value_or("");
        if (!named.starts_with("p2psim.trace/")) return broken(path_, 1, "it is no trace");
        if (named != schema) {
            return Error{
                ErrorCode::unsupported,
                path_,
                "it is a " + named + ", and this program reads " + std::string(schema),
                "replay it with p2psim of the release that wrote it"};
        }
        auto head = read_head(json);
        if (!head) return broken(path_, 1, "a part of the request is missing");
        if (!*head) return head->error().with_context(path_);
        trace_.head = **std::move(head);
        return {};
    }

    Status on_line(const Json& json, std::size_t line) {
        if (const auto outcome = hex_member(json, "outcome")) {
            trace_.outcome_digest = *outcome;
            has_ended_ = true;
            return {};
        }
        const auto point = read_point(json);
        if (!point) return broken(path_, line, "it is neither a digest nor the end");
        trace_.points.push_back(*point);
        return {};
    }

    std::string path_;
    Trace trace_;
    bool has_ended_ = false;
};

std::string place_of(const DigestPoint& point) {
    char text[80];
    std::snprintf(
        text,
        sizeof text,
        "event %llu (%.6f s)",
        static_cast<unsigned long long>(point.events),
        core::to_seconds(point.at.time_since_epoch()));
    return text;
}

}  // namespace

std::string hash_of_data(const core::Dataset& data) {
    core::Hash128 hash;
    for (const core::Bytes* part :
         {&data.train.images, &data.train.labels, &data.test.images, &data.test.labels})
        hash = core::hash128(hash, *part);
    return hex(hash.low) + hex(hash.high);
}

std::uint64_t outcome_digest(const Outcome& outcome) {
    Outcome same = outcome;
    same.wall_seconds = 0;
    same.memory_peak_megabytes = 0;
    return core::hash128({}, core::as_bytes(proto::json_text(outcome_json(same)))).low;
}

TraceHead trace_head(const RunRequest& request, const std::string& data_folder) {
    return {
        .release = std::string(proto::release),
        .kernel_level = std::string(core::kernel_level_name(core::best_kernel_level())),
        .data_folder = core::absolute_path(data_folder),
        .data_hash = hash_of_data(*request.data),
        .request = request};
}

Result<TraceWriter> TraceWriter::create(const std::string& path, const TraceHead& head) {
    std::ofstream file(path, std::ios::trunc);
    file << proto::json_text(head_json(head)) << std::endl;
    if (!file) {
        return Error{
            ErrorCode::unwritable,
            path,
            "a trace cannot be written there",
            "name a file in a folder that you may write to"};
    }
    return TraceWriter(path, std::move(file));
}

void TraceWriter::write(const DigestPoint& point) {
    const Json json{
        {"events", point.events},
        {"at_ns", point.at.time_since_epoch().count()},
        {"digest", hex(point.digest)}};
    file_ << proto::json_text(json) << '\n';
}

Status TraceWriter::finish(const Outcome& outcome) {
    const Json json{{"outcome", hex(outcome_digest(outcome))}};
    file_ << proto::json_text(json) << std::endl;
    if (file_) return {};
    return Error{ErrorCode::unwritable, path_, "not all of the trace was written", "free space"};
}

Result<Trace> read_trace(const std::string& path) {
    const auto bytes = core::read_file(path, trace_bytes_max);
    if (!bytes) return bytes.error();
    if (bytes->empty()) return broken(path, 1, "the file is empty");
    return TraceReader(path).read(core::as_text(*bytes));
}

void Comparison::on_point(const DigestPoint& point) {
    if (parted_) return;
    if (matched_ < trace_.points.size() && trace_.points[matched_] == point) {
        ++matched_;
    } else {
        parted_ = point;
    }
}

std::optional<std::string> Comparison::difference(const Outcome& outcome) const {
    if (parted_ || matched_ < trace_.points.size()) {
        const std::string after =
            matched_ == 0 ? "the beginning" : place_of(trace_.points[matched_ - 1]);
        const std::string before = matched_ < trace_.points.size()
                                       ? place_of(trace_.points[matched_])
                                       : "the end of the trace";
        return "the runs part between " + after + " and " + before;
    }
    if (outcome_digest(outcome) == trace_.outcome_digest) return std::nullopt;
    return "all " + std::to_string(matched_)
           + " digests are the same, and what came out is not (losses, bytes or looks)";
}

}  // namespace p2p::sim
