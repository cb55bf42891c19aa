#pragma once

// What p2pd and p2pctl agree on besides the documents themselves: names of schemas, the shape of an
// error, which HTTP status goes with which cause.
//
// Both programs include this, so that neither has to include the other. The documents are written
// by daemon/status_json and read by tools/p2pctl; sockets and HTTP are theirs too.

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace p2p::proto {

// A document says what it is; new keys may come, a break makes "/2".
namespace schema {
inline constexpr std::string_view status = "p2pd.status/1";
inline constexpr std::string_view health = "p2pd.health/1";
inline constexpr std::string_view peers = "p2pd.peers/1";
inline constexpr std::string_view peer = "p2pd.peer/1";
inline constexpr std::string_view jobs = "p2pd.jobs/1";
inline constexpr std::string_view job = "p2pd.job/1";
inline constexpr std::string_view checkpoints = "p2pd.checkpoints/1";
inline constexpr std::string_view checkpoint = "p2pd.checkpoint/1";
inline constexpr std::string_view version = "p2pd.version/1";
inline constexpr std::string_view id = "p2pd.id/1";
inline constexpr std::string_view done = "p2pd.done/1";  ///< the answer to a change
}  // namespace schema

/// `{"error":{"code","text","why","next"}}` on one line. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string error_document(const core::Error& error);

/// The reverse; nothing where `text` is no such document. An unknown code reads as `invalid`.
[[nodiscard]] std::optional<core::Error> read_error_document(std::string_view text);

/// The HTTP status of an answer that is this error.
[[nodiscard]] unsigned http_status(core::ErrorCode code);

}  // namespace p2p::proto
