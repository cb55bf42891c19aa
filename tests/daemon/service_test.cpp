#include "daemon/service.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

constexpr core::TimePoint start{std::chrono::hours{1}};

/// What systemd's end would be: a datagram socket, by path ("/...") or abstract ("@...").
class NotifySocket {
  public:
    explicit NotifySocket(const std::string& name)
        : name_(name),
          fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name.front() == '@') address.sun_path[0] = '\0';
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(0, bind(fd_, reinterpret_cast<const sockaddr*>(&address), length));
    }

    ~NotifySocket() {
        close(fd_);
        if (name_.front() != '@') unlink(name_.c_str());
    }

    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;

    /// The next message, or "" when there is none.
    [[nodiscard]] std::string next() const {
        char buffer[512];
        const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
        return count <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(count));
    }

  private:
    std::string name_;
    int fd_;
};

std::string own_name(const char* prefix) {
    return prefix + std::string("p2pd-service-test-") + std::to_string(getpid());
}

TEST(Service, SpeaksToASocketWithAPath) {
    const NotifySocket systemd(own_name("/tmp/"));
    Service service({.notify_socket = own_name("/tmp/"), .watchdog_time = {}});
    service.ready();
    service.stopping();
    EXPECT_EQ("READY=1", systemd.next());
    EXPECT_EQ("STOPPING=1", systemd.next());
}

TEST(Service, SpeaksToAnAbstractSocket) {
    const NotifySocket systemd(own_name("@"));
    Service service({.notify_socket = own_name("@"), .watchdog_time = {}});
    service.reloading(core::TimePoint(std::chrono::microseconds{1234567}));
    EXPECT_EQ("RELOADING=1\nMONOTONIC_USEC=1234567", systemd.next());
}

TEST(Service, SaysItsStatusAtMostEveryFiveSecondsAndOnlyWhenItChanged) {
    const NotifySocket systemd(own_name("@"));
    Service service({.notify_socket = own_name("@"), .watchdog_time = {}});
    service.status(start, "0/7 peers");
    service.status(start + std::chrono::seconds{4}, "1/7 peers");
    service.status(start + std::chrono::seconds{5}, "2/7 peers");
    service.status(start + std::chrono::seconds{50}, "2/7 peers");
    EXPECT_EQ("STATUS=0/7 peers", systemd.next());
    EXPECT_EQ("STATUS=2/7 peers", systemd.next());
    EXPECT_EQ("", systemd.next());
}

TEST(Service, ShowsLifeTwiceInTheTimeThatTheWatchdogGrants) {
    const NotifySocket systemd(own_name("@"));
    Service service({.notify_socket = own_name("@"), .watchdog_time = std::chrono::seconds{30}});
    ASSERT_EQ(core::Duration(std::chrono::seconds{15}), service.watchdog_interval());
    service.watchdog(start);
    service.watchdog(start + std::chrono::seconds{14});
    service.watchdog(start + std::chrono::seconds{15});
    EXPECT_EQ("WATCHDOG=1", systemd.next());
    EXPECT_EQ("WATCHDOG=1", systemd.next());
    EXPECT_EQ("", systemd.next());
}

TEST(Service, IsSilentWithoutASocket) {
    Service service({});
    service.ready();
    service.watchdog(start);
    EXPECT_FALSE(service.watchdog_interval().has_value());
}

TEST(Service, IgnoresAWatchdogMeantForAnotherProcess) {
    setenv("NOTIFY_SOCKET", "@x", 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    EXPECT_FALSE(service_config_from_environment().watchdog_time.has_value());
    setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
    EXPECT_EQ(
        core::Duration(std::chrono::seconds{30}), service_config_from_environment().watchdog_time);
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
    unsetenv("NOTIFY_SOCKET");
    EXPECT_EQ("", service_config_from_environment().notify_socket);
}

}  // namespace
}  // namespace p2p::daemon
