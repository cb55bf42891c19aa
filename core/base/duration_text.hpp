#pragma once

// Durations as people write them: "30s", "5m", "200ms", "1h30m", "1.5s".
//
// One parser for the job spec, the daemon's configuration and p2pctl's options; and its inverse.

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"

namespace p2p::core {

/// One or more of number and unit (ns, us, ms, s, m, h, d), without spaces, never negative; "0"
/// alone needs no unit. Nothing where the text is anything else, finer than a nanosecond, or longer
/// than 100 years.
[[nodiscard]] std::optional<Duration> duration_from_text(std::string_view text);

/// The shortest exact form of whole numbers, which `duration_from_text` reads back ("1m30s", "0s").
/// @pre duration >= 0
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace p2p::core
