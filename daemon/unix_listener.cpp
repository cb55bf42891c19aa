#include "daemon/unix_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;

namespace {

constexpr int backlog = 16;

Descriptor new_socket() {
    return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* as_sockaddr(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// Removes a socket on which nobody listens.
Status clear_name(const sockaddr_un& address, const Path& path) {
    struct stat info {};

    if (::lstat(path.c_str(), &info) != 0) return {};
    if (!S_ISSOCK(info.st_mode)) {
        return Error{
            ErrorCode::in_use, path.string() + " is there and is no socket", "", "remove it"};
    }
    const Descriptor probe = new_socket();
    const bool is_dead =
        ::connect(probe.get(), as_sockaddr(address), sizeof address) != 0 && errno == ECONNREFUSED;
    if (!is_dead) {
        return Error{
            ErrorCode::in_use,
            "somebody listens on " + path.string(),
            "another p2pd runs",
            "stop it, or give this one another path"};
    }
    ::unlink(path.c_str());
    return {};
}

Status set_access(const UnixPlace& place) {
    if (!place.group.empty()) {
        group entry{};
        group* found = nullptr;
        std::vector<char> buffer(16384);
        ::getgrnam_r(place.group.c_str(), &entry, buffer.data(), buffer.size(), &found);
        if (found == nullptr) {
            return Error{
                ErrorCode::invalid,
                "there is no group " + place.group + " for " + place.path.string(),
                "",
                "create it, or set control.socket_group"};
        }
        if (::chown(place.path.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0) {
            return system_error(
                ErrorCode::unwritable, "cannot give the group " + place.group, place.path, errno);
        }
    }
    if (::chmod(place.path.c_str(), place.mode) != 0) {
        return system_error(ErrorCode::unwritable, "cannot set the mode of", place.path, errno);
    }
    return {};
}

}  // namespace

Result<Descriptor> listen_unix(const UnixPlace& place) {
    const std::string name = place.path.string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) {
        return Error{
            ErrorCode::invalid,
            "the socket path " + name + " is too long",
            std::to_string(name.size()) + " bytes, 107 at most",
            "choose a shorter one"};
    }
    std::copy(name.begin(), name.end(), address.sun_path);
    if (auto status = clear_name(address, place.path); !status) return status.error();

    Descriptor socket = new_socket();
    if (::bind(socket.get(), as_sockaddr(address), sizeof address) != 0) {
        return system_error(ErrorCode::unwritable, "cannot create the socket", place.path, errno);
    }
    // Nobody can connect before listen(), so the mode is right from the first moment.
    if (auto status = set_access(place); !status) return status.error();
    if (::listen(socket.get(), backlog) != 0) {
        return system_error(ErrorCode::unwritable, "cannot listen on", place.path, errno);
    }
    return socket;
}

}  // namespace p2p::daemon
