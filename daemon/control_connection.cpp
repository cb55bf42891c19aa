#include "daemon/control_connection.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace p2p::daemon {

Caller caller_of(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
    return {.uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
}

std::chrono::milliseconds time_left(const Connections& connections, SteadyTime now) {
    using std::chrono::milliseconds;
    auto wait = milliseconds{60'000};
    for (const auto& [key, connection] : connections) {
        if (connection->phase == Phase::answering) continue;
        const auto left = std::chrono::ceil<milliseconds>(connection->deadline - now);
        wait = std::clamp(left, milliseconds{0}, wait);
    }
    return wait;
}

void end_connection(const Connection& connection, std::string_view last_words) {
    [[maybe_unused]] const auto sent = ::send(
        connection.descriptor, last_words.data(), last_words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(connection.descriptor, SHUT_RDWR);
}

OpenFile open_file(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return {};

    struct stat found {};

    if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode)) {
        return {descriptor, static_cast<std::uint64_t>(found.st_size)};
    }
    ::close(descriptor);
    return {};
}

}  // namespace p2p::daemon
