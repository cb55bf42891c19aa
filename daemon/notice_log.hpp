#pragma once

// What core says of itself, as log events with stable names and fields.
// One place for both, so that names of events stay stable.

#include "core/node/notice.hpp"
#include "daemon/log.hpp"

namespace p2p::daemon {

/// Swaps are debug, as they come many a second; what a person acts on is info or warn.
[[nodiscard]] LogEvent log_event(const core::Notice& notice);

/// Fields code, what, why and next of an error; empty ones are left out.
[[nodiscard]] std::vector<LogField> log_fields(const core::Error& error);

}  // namespace p2p::daemon
