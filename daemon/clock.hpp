#pragma once

// The two clocks of the machine. Everything else is told the time.
// The Node and the simulator's world know neither; the driver asks here.

#include <cstdint>
#include <string>

#include "core/base/time.hpp"

namespace p2p::daemon {

/// The steady clock; never falls, knows no date. Equals std::chrono::steady_clock's epoch.
[[nodiscard]] core::TimePoint steady_now();

/// Milliseconds since 1970 in UTC; may jump.
[[nodiscard]] std::int64_t unix_now_ms();

/// "2026-11-30T14:02:11.345Z" (RFC 3339, UTC).
[[nodiscard]] std::string utc_text(std::int64_t unix_ms);

}  // namespace p2p::daemon
