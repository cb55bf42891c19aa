#include "daemon/clock.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

#include "core/base/check.hpp"

namespace p2p::daemon {

core::TimePoint steady_now() {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return core::TimePoint(std::chrono::duration_cast<core::Duration>(since_boot));
}

std::int64_t unix_now_ms() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
}

std::string utc_text(std::int64_t unix_ms) {
    constexpr std::int64_t ms_a_second = 1000;
    std::int64_t seconds = unix_ms / ms_a_second;
    std::int64_t ms = unix_ms % ms_a_second;
    if (ms < 0) {
        ms += ms_a_second;
        seconds -= 1;
    }
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    P2P_CHECK(gmtime_r(&time, &parts) != nullptr);
    char date[32];
    P2P_CHECK(std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts) > 0);
    char text[48];
    std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms));
    return text;
}

}  // namespace p2p::daemon
