#include "daemon/identity_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/sodium.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::Identity;
using proto::SecretKey;

namespace {

std::string octal(mode_t mode) {
    std::string text;
    for (unsigned shift = 9; shift > 0; shift -= 3) {
        text += static_cast<char>('0' + ((mode >> (shift - 3)) & 7U));
    }
    return "0" + text;
}

Error insecure(const Path& file, const std::string& why, const std::string& next) {
    return {ErrorCode::insecure, "the key file " + file.string() + " is not safe", why, next};
}

/// Modes and owner, asked of the open file so that it cannot be exchanged in between.
Status check_secrecy(int fd, const Path& file) {
    struct stat info {};

    if (::fstat(fd, &info) != 0) {
        return system_error(ErrorCode::unreadable, "cannot read", file, errno);
    }
    if (!S_ISREG(info.st_mode)) return insecure(file, "it is not a regular file", "");
    if (info.st_uid != ::geteuid()) {
        return insecure(
            file,
            "it belongs to user id " + std::to_string(info.st_uid) + ", p2pd runs as "
                + std::to_string(::geteuid()),
            "chown " + std::to_string(::geteuid()) + " " + file.string());
    }
    const mode_t mode = info.st_mode & 07777U;
    if ((mode & 0177U) != 0) {
        return insecure(
            file,
            "its mode is " + octal(mode) + ", so others may have read it",
            "chmod 0600 " + file.string() + ", or remove it to get a new identity");
    }
    if (info.st_size != static_cast<off_t>(identity_file_bytes)) {
        return Error{
            ErrorCode::wrong_size,
            "the key file " + file.string() + " is not one of p2pd's",
            std::to_string(info.st_size) + " bytes, not " + std::to_string(identity_file_bytes),
            "restore it from a backup, or remove it to get a new identity"};
    }
    return {};
}

Result<Identity> identity_of(const std::array<std::uint8_t, identity_file_bytes>& seed) {
    return Identity::from_seed(SecretKey(seed));
}

}  // namespace

Result<Identity> read_identity(const Path& file) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!opened.is_open()) {
        if (errno == ELOOP) return insecure(file, "it is a symbolic link", "name the file itself");
        const auto code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unreadable;
        return system_error(code, "cannot open the key file", file, errno);
    }
    if (auto status = check_secrecy(opened.get(), file); !status) return status.error();

    std::array<std::uint8_t, identity_file_bytes> seed{};
    const ssize_t count = ::read(opened.get(), seed.data(), seed.size());
    if (count != static_cast<ssize_t>(seed.size())) {
        return system_error(ErrorCode::unreadable, "cannot read the key file", file, errno);
    }
    if (std::all_of(seed.begin(), seed.end(), [](auto byte) { return byte == 0; })) {
        return Error{
            ErrorCode::malformed,
            "the key file " + file.string() + " holds only zeros",
            "",
            "restore it from a backup, or remove it to get a new identity"};
    }
    auto identity = identity_of(seed);
    proto::wipe(seed);
    return identity;
}

Result<Identity> create_identity(const Path& file) {
    if (auto status = make_folder(file.parent_path()); !status) return status.error();
    const Descriptor created(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!created.is_open()) {
        const auto code = errno == EEXIST ? ErrorCode::conflict : ErrorCode::unwritable;
        return system_error(code, "cannot create the key file", file, errno);
    }

    std::array<std::uint8_t, identity_file_bytes> seed{};
    proto::fill_random(seed);
    const bool is_written =
        ::write(created.get(), seed.data(), seed.size()) == static_cast<ssize_t>(seed.size())
        && ::fsync(created.get()) == 0;
    auto identity = identity_of(seed);
    proto::wipe(seed);
    if (!is_written) {
        const int error_number = errno;
        ::unlink(file.c_str());  // half a key would be refused at the next start
        return system_error(ErrorCode::unwritable, "cannot write the key file", file, error_number);
    }
    if (auto status = sync_folder(file.parent_path()); !status) return status.error();
    return identity;
}

Result<Identity> load_or_create_identity(const Path& file) {
    auto identity = read_identity(file);
    if (identity || identity.error().code != ErrorCode::not_found) return identity;
    return create_identity(file);
}

}  // namespace p2p::daemon
