#include "daemon/files.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace p2p::daemon {

using core::Bytes;
using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;

namespace {

std::string next_step(int error_number, const Path& path) {
    const std::string user = std::to_string(::geteuid());
    switch (error_number) {
        case EACCES:
        case EPERM:
            return "let user id " + user + " have it: check with `namei -l " + path.string() + "`";
        case ENOSPC:
        case EDQUOT: return "make room: df -h " + path.parent_path().string();
        case EROFS: return "mount it writable, or choose another folder";
        case ENOENT: return "create it, or name another path";
        default: return "";
    }
}

Path absolute_of(const Path& path) {
    std::error_code ignored;
    Path full = std::filesystem::absolute(path, ignored);
    return full.empty() ? path : full;
}

/// Writes all of `bytes`; 0, or the error number.
int write_all(int fd, ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return 0;
}

/// Fills `out` up to its size or the file's end; the number read, or -1.
ssize_t read_up_to(int fd, core::MutableByteView out) {
    std::size_t have = 0;
    while (have < out.size()) {
        const ssize_t count = ::read(fd, out.data() + have, out.size() - have);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        have += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(have);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = other.release();
    }
    return *this;
}

Descriptor::~Descriptor() {
    close();
}

int Descriptor::release() {
    return std::exchange(fd_, -1);
}

void Descriptor::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error system_error(ErrorCode code, const std::string& what, const Path& path, int error_number) {
    const Path full = absolute_of(path);
    return {
        code,
        what + " " + full.string(),
        std::generic_category().message(error_number),
        next_step(error_number, full)};
}

Result<Bytes> read_file(const Path& path, std::uint64_t bytes_max) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
        const auto code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unreadable;
        return system_error(code, "cannot open", path, errno);
    }

    struct stat info {};

    if (::fstat(file.get(), &info) != 0) {
        return system_error(ErrorCode::unreadable, "cannot read", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return Error{
            ErrorCode::unreadable, absolute_of(path).string() + " is not a regular file", "", ""};
    }
    if (static_cast<std::uint64_t>(info.st_size) > bytes_max) {
        return Error{
            ErrorCode::too_large,
            absolute_of(path).string() + " is too large",
            std::to_string(info.st_size) + " bytes, " + std::to_string(bytes_max) + " at most",
            ""};
    }

    Bytes bytes(static_cast<std::size_t>(info.st_size));
    const ssize_t count = read_up_to(file.get(), bytes);
    if (count < 0) return system_error(ErrorCode::unreadable, "cannot read", path, errno);
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
}

Status write_file(const Path& path, ByteView bytes, mode_t mode) {
    Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!file.is_open()) return system_error(ErrorCode::unwritable, "cannot create", path, errno);

    const int error_number = write_all(file.get(), bytes);
    if (error_number != 0) {
        return system_error(ErrorCode::unwritable, "cannot write", path, error_number);
    }
    if (::fsync(file.get()) != 0) {
        return system_error(ErrorCode::unwritable, "cannot sync", path, errno);
    }
    return {};
}

Status replace_file(const Path& path, ByteView bytes, mode_t mode) {
    const Path temporary = path.string() + ".new";
    if (auto status = write_file(temporary, bytes, mode); !status) return status;
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return system_error(ErrorCode::unwritable, "cannot replace", path, errno);
    }
    return sync_folder(path.parent_path());
}

Status sync_folder(const Path& folder) {
    const Path named = folder.empty() ? Path(".") : folder;
    const Descriptor file(::open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file.is_open() || ::fsync(file.get()) != 0) {
        return system_error(ErrorCode::unwritable, "cannot sync", named, errno);
    }
    return {};
}

Status make_folder(const Path& folder) {
    std::error_code error;
    std::vector<Path> missing;
    for (Path at = folder; !at.empty() && !std::filesystem::is_directory(at, error);
         at = at.parent_path()) {
        missing.push_back(at);
    }
    for (; !missing.empty(); missing.pop_back()) {
        const Path& next = missing.back();
        if (::mkdir(next.c_str(), 0700) != 0 && errno != EEXIST) {
            return system_error(ErrorCode::unwritable, "cannot create", next, errno);
        }
    }
    return {};
}

Result<std::uint64_t> free_bytes(const Path& folder) {
    struct statvfs info {};

    if (::statvfs(folder.c_str(), &info) != 0) {
        return system_error(
            ErrorCode::unreadable, "cannot ask for the free space of", folder, errno);
    }
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace p2p::daemon
