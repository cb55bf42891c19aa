#include "daemon/service.hpp"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace p2p::daemon {
namespace {

std::string environment(const char* name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes the environment
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

ServiceConfig service_config_from_environment() {
    ServiceConfig config{.notify_socket = environment("NOTIFY_SOCKET"), .watchdog_time = {}};
    const auto microseconds = number_in(environment("WATCHDOG_USEC"));
    const auto pid = number_in(environment("WATCHDOG_PID"));
    const bool is_for_us = !pid || *pid == static_cast<std::int64_t>(getpid());
    if (microseconds && *microseconds > 0 && is_for_us) {
        config.watchdog_time = std::chrono::microseconds{*microseconds};
    }
    return config;
}

Service::Service(ServiceConfig config)
    : config_(std::move(config)) {
    if (config_.notify_socket.empty()) return;
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

Service::~Service() {
    if (fd_ >= 0) ::close(fd_);
}

void Service::ready() {
    send("READY=1");
}

void Service::stopping() {
    send("STOPPING=1");
}

void Service::reloading(core::TimePoint monotonic) {
    const auto since_boot =
        std::chrono::duration_cast<std::chrono::microseconds>(monotonic.time_since_epoch());
    send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(since_boot.count()));
}

void Service::status(core::TimePoint now, std::string_view text) {
    if (text == last_status_) return;
    if (last_status_at_ && now - *last_status_at_ < status_interval_min) return;
    last_status_ = text;
    last_status_at_ = now;
    send("STATUS=" + last_status_);
}

void Service::watchdog(core::TimePoint now) {
    const auto interval = watchdog_interval();
    if (!interval) return;
    if (last_watchdog_at_ && now - *last_watchdog_at_ < *interval) return;
    last_watchdog_at_ = now;
    send("WATCHDOG=1");
}

std::optional<core::Duration> Service::watchdog_interval() const {
    if (!config_.watchdog_time || config_.notify_socket.empty()) return std::nullopt;
    return *config_.watchdog_time / 2;
}

void Service::send(std::string_view text) const {
    if (fd_ < 0) return;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = config_.notify_socket;
    if (path.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, path.data(), path.size());
    // An abstract name begins with a zero byte and is as long as the address says.
    if (path.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    // A full or absent socket is systemd's trouble; the loop must not wait for it.
    (void)::sendto(
        fd_,
        text.data(),
        text.size(),
        MSG_NOSIGNAL,
        reinterpret_cast<const sockaddr*>(&address),
        length);
}

}  // namespace p2p::daemon
