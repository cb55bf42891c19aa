#pragma once

// A caller of a unix socket that says exactly what it is told to say, also what no HTTP client
// would, and hears one answer at a time.

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace p2p::tests {

class RawClient {
  public:
    explicit RawClient(const std::filesystem::path& path)
        : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(
            static_cast<char*>(address.sun_path), path.c_str(), sizeof(address.sun_path) - 1);
        is_connected_ =
            ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address))
            == 0;
    }

    ~RawClient() { ::close(descriptor_); }

    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    [[nodiscard]] bool is_connected() const { return is_connected_; }

    void say(std::string_view text) const {
        (void)::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
    }

    /// The answer up to its end (or the connection's), or what came within five seconds.
    [[nodiscard]] std::string hear() const {
        std::string text;
        while (!is_whole(text) && can_hear(std::chrono::milliseconds{5000})) {
            char piece[4096];
            const auto got = ::recv(descriptor_, piece, sizeof(piece), 0);
            if (got <= 0) break;
            text.append(piece, static_cast<std::size_t>(got));
        }
        return text;
    }

    [[nodiscard]] bool can_hear(std::chrono::milliseconds wait) const {
        pollfd watched{descriptor_, POLLIN, 0};
        return ::poll(&watched, 1, static_cast<int>(wait.count())) > 0;
    }

    [[nodiscard]] std::string ask(std::string_view text) const {
        say(text);
        return hear();
    }

  private:
    static bool is_whole(const std::string& text) {
        const auto head = text.find("\r\n\r\n");
        const auto length = text.find("Content-Length: ");
        if (head == std::string::npos || length == std::string::npos) return false;
        return text.size() >= head + 4 + std::stoul(text.substr(length + 16));
    }

    int descriptor_;
    bool is_connected_ = false;
};

}  // namespace p2p::tests
