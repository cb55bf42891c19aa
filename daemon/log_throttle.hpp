#pragma once

// Which of many identical events are written: the first at once, then a count a minute.
//
// Bounded: at most `keys_max` kinds of events are remembered; the one that began first is closed
// early for a new one, so that an attacker who varies a field costs a line each, never memory.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "daemon/log.hpp"

namespace p2p::daemon {

class LogThrottle {
  public:
    static constexpr core::Duration window = std::chrono::minutes{1};
    static constexpr std::size_t keys_max = 256;

    /// The events to write now for `event`: itself when it is the first of its kind, else none;
    /// and the counts of windows that are over.
    [[nodiscard]] std::vector<LogEvent> admit(core::TimePoint now, LogEvent event);

    /// Counts whose minute is over.
    [[nodiscard]] std::vector<LogEvent> take_due(core::TimePoint now);

    /// All counts, for the end of the program.
    [[nodiscard]] std::vector<LogEvent> take_all();

  private:
    struct Kind {
        core::TimePoint since;
        std::uint64_t held_back = 0;
        LogEvent newest;
    };

    void close(std::map<std::string, Kind>::iterator kind, std::vector<LogEvent>& out);

    std::map<std::string, Kind> kinds_;
};

}  // namespace p2p::daemon
