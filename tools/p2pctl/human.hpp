#pragma once

// Numbers and texts as people read them on a terminal: "0.4 ms", "41 MB/s", "9 m", "96.8 %".
//
// Pure functions. All results are printable ASCII, whatever came from other nodes.

#include <cstdint>
#include <string>
#include <string_view>

namespace p2p::tools {

/// "" becomes itself; every byte that is not printable ASCII becomes \xNN, a backslash two: a name
/// from another node can move no cursor, set no title and turn no text around.
[[nodiscard]] std::string printable(std::string_view text);

/// "38 s", "9 m", "1h 7m", "3d 4h"; from a second on.
[[nodiscard]] std::string human_duration(double seconds);

/// "0.4 ms", "78 ms", "1.2 s": of a round trip or a swap.
[[nodiscard]] std::string human_delay(double seconds);

/// "999 B", "9.8 kB", "41 MB", "2.1 GB"; powers of 1000.
[[nodiscard]] std::string human_bytes(double bytes);

/// "71 %", "96.8 %".
[[nodiscard]] std::string human_percent(double ratio, int decimals = 0);

/// "424,310"
[[nodiscard]] std::string human_count(std::uint64_t count);

/// Three significant digits: "0.214", "0.0041", "21300".
[[nodiscard]] std::string human_number(double value);

/// "14:02" of the local time of "2026-11-30T14:02:00Z"; the text itself where it is no such time.
[[nodiscard]] std::string human_clock(const std::string& rfc3339);

}  // namespace p2p::tools
