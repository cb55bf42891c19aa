#include "daemon/control_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/bytes.hpp"

namespace p2p::daemon {

namespace {

using core::Error;
using core::ErrorCode;

constexpr int listen_backlog = 128;

std::string error_text(int number) {
    return std::generic_category().message(number);
}

Error socket_error(ErrorCode code, const std::filesystem::path& path, int number) {
    if (number == ENOENT) {
        const std::string folder = path.parent_path().string();
        return {
            code,
            "cannot open the control socket " + path.string(),
            "the folder " + folder + " does not exist",
            "mkdir " + folder + ", set [control], or start p2pd as a service, which makes it"};
    }
    return {
        code,
        "cannot open the control socket " + path.string(),
        error_text(number),
        "look at the owner and mode of " + path.parent_path().string() + ", or set [control]"};
}

sockaddr_un address_of(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.native().size());
    return address;
}

/// 0: somebody answers; else the errno of connect(). Does not wait where a backlog is full.
int try_connect(const sockaddr_un& address) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) return errno;
    const int done = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    const int number = done == 0 ? 0 : errno;
    ::close(probe);
    return number;
}

/// Makes room for bind(): a dead socket goes, anything else stays and is the error.
core::Status clear_stale(const std::filesystem::path& path, const sockaddr_un& address) {
    struct stat found {};

    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return socket_error(ErrorCode::unwritable, path, errno);
    }
    if (!S_ISSOCK(found.st_mode)) {
        return Error{
            ErrorCode::conflict,
            "a file that is no socket stands at " + path.string(),
            "",
            "move it away, or set another path in [control]"};
    }
    const int number = try_connect(address);
    if (number == ECONNREFUSED) {
        if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
        return socket_error(ErrorCode::unwritable, path, errno);
    }
    if (number == ENOENT) return {};
    if (number == 0 || number == EAGAIN) {
        return Error{
            ErrorCode::in_use,
            "another process answers on " + path.string(),
            "a p2pd is running already",
            "p2pctl --socket " + path.string() + " status"};
    }
    return socket_error(ErrorCode::not_permitted, path, number);
}

std::optional<gid_t> find_group(const std::string& name) {
    std::vector<char> buffer(16 * core::kib);
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0) {
        return std::nullopt;
    }
    return found == nullptr ? std::nullopt : std::optional<gid_t>(entry.gr_gid);
}

core::Status set_group(const ControlSocketConfig& config) {
    if (config.group.empty()) return {};
    const auto gid = find_group(config.group);
    if (!gid) {
        return Error{
            ErrorCode::invalid,
            "there is no group '" + config.group + "' for " + config.path.string(),
            "",
            "groupadd --system " + config.group + ", or set control.socket_group"};
    }
    if (::chown(config.path.c_str(), static_cast<uid_t>(-1), *gid) == 0) return {};
    return socket_error(ErrorCode::not_permitted, config.path, errno);
}

}  // namespace

ControlSocket::ControlSocket(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor),
      path_(std::move(path)) {}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      device_(other.device_),
      inode_(std::exchange(other.inode_, 0)) {}

ControlSocket& ControlSocket::operator=(ControlSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
}

ControlSocket::~ControlSocket() {
    remove_file();
    if (descriptor_ >= 0) ::close(descriptor_);
}

/// Only the file that this listener made: a successor may have replaced it meanwhile.
void ControlSocket::remove_file() const {
    struct stat found {};

    if (inode_ == 0 || ::lstat(path_.c_str(), &found) != 0) return;
    if (found.st_ino == inode_ && found.st_dev == device_) ::unlink(path_.c_str());
}

core::Result<ControlSocket> ControlSocket::open(const ControlSocketConfig& config) {
    if (config.path.native().size() >= sizeof(sockaddr_un::sun_path)) {
        return Error{
            ErrorCode::invalid,
            "the path of a unix socket is too long: " + config.path.string(),
            "the system allows " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes",
            "set a shorter path in [control]"};
    }
    const sockaddr_un address = address_of(config.path);
    if (const auto cleared = clear_stale(config.path, address); !cleared) return cleared.error();

    ControlSocket listener(
        ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), config.path);
    if (listener.descriptor_ < 0) return socket_error(ErrorCode::unwritable, config.path, errno);
    const auto* raw = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(listener.descriptor_, raw, sizeof(address)) != 0) {
        return socket_error(ErrorCode::unwritable, config.path, errno);
    }

    struct stat made {};

    if (::lstat(config.path.c_str(), &made) == 0) {
        listener.device_ = made.st_dev;
        listener.inode_ = made.st_ino;
    }
    if (::chmod(config.path.c_str(), config.mode) != 0) {
        return socket_error(ErrorCode::unwritable, config.path, errno);
    }
    if (const auto grouped = set_group(config); !grouped) return grouped.error();
    if (::listen(listener.descriptor_, listen_backlog) != 0) {
        return socket_error(ErrorCode::unwritable, config.path, errno);
    }
    return listener;
}

}  // namespace p2p::daemon
