#pragma once

// Values of the documents: where something is not known, null stands, never 0.
//
// Shared by status_json and job_json only, since it costs the JSON library.

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "core/node/status.hpp"
#include "daemon/status_json.hpp"
#include "proto/json.hpp"

namespace p2p::daemon {

using proto::Json;

/// Null where it is zero.
template <typename Tag>
[[nodiscard]] Json json_id(const core::Id<Tag>& id) {
    return id.is_zero() ? Json{} : Json(id.text());
}

/// Null where it is empty.
[[nodiscard]] inline Json json_text_or_null(std::string_view text) {
    return text.empty() ? Json{} : Json(text);
}

/// Null where it is not `known`, or no finite number.
[[nodiscard]] inline Json json_number(double value, bool known = true) {
    return known && std::isfinite(value) ? Json(value) : Json{};
}

[[nodiscard]] inline Json json_seconds(core::Duration duration) {
    return core::to_seconds(duration);
}

[[nodiscard]] inline Json json_seconds(const std::optional<core::Duration>& duration) {
    return duration ? json_seconds(*duration) : Json{};
}

/// The beginning of every document.
[[nodiscard]] inline Json json_document(
    std::string_view schema_name, const DocumentContext& context) {
    return Json{{"schema", schema_name}, {"time", rfc3339_seconds(context.unix_seconds)}};
}

[[nodiscard]] inline std::string document_text(const Json& document) {
    return proto::json_text(document) + "\n";
}

/// The moment that lies `ago` before now.
[[nodiscard]] inline std::string time_before(const DocumentContext& context, core::Duration ago) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ago).count();
    return rfc3339_seconds(context.unix_seconds - seconds);
}

/// A peer's name, also this node's; empty where it is not known.
[[nodiscard]] inline std::string name_of(const core::NodeStatus& node, const core::PeerId& id) {
    if (id == node.id) return node.name;
    for (const auto& peer : node.peers) {
        if (peer.id == id) return peer.name;
    }
    return {};
}

/// The job's line in lists: what `status`, `job list` and the answers to changes show.
[[nodiscard]] Json json_job_summary(const core::NodeStatus& node, const core::JobStatus& job);

}  // namespace p2p::daemon
