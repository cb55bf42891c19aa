#pragma once

// Time that nobody in core can ask for: it is handed in as an argument.
//
// `NodeClock` has no now(). The daemon maps its steady clock to it, the simulator its virtual one.

#include <chrono>

namespace p2p::core {

struct NodeClock {
    using rep = std::chrono::nanoseconds::rep;
    using period = std::chrono::nanoseconds::period;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<NodeClock>;
    static constexpr bool is_steady = true;
};

using Duration = NodeClock::duration;
using TimePoint = NodeClock::time_point;

[[nodiscard]] constexpr double to_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

[[nodiscard]] constexpr Duration from_seconds(double seconds) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace p2p::core
