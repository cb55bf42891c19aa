#pragma once

// What systemd is told: ready, status, reloading, stopping, alive (sd_notify(3), by hand).
//
// A datagram to the socket named by NOTIFY_SOCKET; without one, every call does nothing. Nothing
// here can fail the daemon: a supervisor that does not listen is not our fault. Time is an
// argument: the owner calls watchdog() and status() as often as it likes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"

namespace p2p::daemon {

struct ServiceConfig {
    std::string notify_socket;  ///< path, or '@' and an abstract name; empty: none
    std::optional<core::Duration> watchdog_time;  ///< after this long without a sign we are killed
};

/// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of this process's environment.
[[nodiscard]] ServiceConfig service_config_from_environment();

class Service {
  public:
    static constexpr core::Duration status_interval_min = std::chrono::seconds{5};

    explicit Service(ServiceConfig config);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    void ready();
    void stopping();

    /// @param monotonic CLOCK_MONOTONIC now, as systemd wants it; ready() ends the reload.
    void reloading(core::TimePoint monotonic);

    /// One line for `systemctl status`; at most one in five seconds goes out, and only if changed.
    void status(core::TimePoint now, std::string_view text);

    /// To be called from the loop at least every watchdog_interval().
    void watchdog(core::TimePoint now);

    /// Half of what systemd allows; none: no watchdog is wanted.
    [[nodiscard]] std::optional<core::Duration> watchdog_interval() const;

  private:
    void send(std::string_view text) const;

    ServiceConfig config_;
    int fd_ = -1;
    std::string last_status_;
    std::optional<core::TimePoint> last_status_at_;
    std::optional<core::TimePoint> last_watchdog_at_;
};

}  // namespace p2p::daemon
