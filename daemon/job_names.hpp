#pragma once

// The words for a job's states and reasons, the same in logs and in JSON documents.
// Stable: people and scripts match on them.

#include <optional>
#include <string_view>

#include "core/node/notice.hpp"

namespace p2p::daemon {

[[nodiscard]] std::string_view job_state_name(core::JobState state);
[[nodiscard]] std::optional<core::JobState> job_state_from(std::string_view name);
[[nodiscard]] std::string_view end_reason_name(core::EndReason reason);

/// "applied" for `none`.
[[nodiscard]] std::string_view swap_reason_name(core::SwapReason reason);
[[nodiscard]] std::string_view ledger_kind_name(core::LedgerLine::Kind kind);

}  // namespace p2p::daemon
