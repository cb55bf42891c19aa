#pragma once

// Files as the daemon needs them: read whole and bounded, written so that a power cut leaves the
// old or the new one.
//
// Errors name the absolute path and what the operator can do (INTERFACE, complaint 39). What the
// bytes mean is left to the callers.

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace p2p::daemon {

using Path = std::filesystem::path;

/// Owns a file descriptor; closes it.
class Descriptor {
  public:
    Descriptor() = default;

    explicit Descriptor(int fd)
        : fd_(fd) {}

    Descriptor(Descriptor&& other) noexcept
        : fd_(other.release()) {}

    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    [[nodiscard]] int get() const { return fd_; }

    [[nodiscard]] bool is_open() const { return fd_ >= 0; }

    [[nodiscard]] int release();
    void close();

  private:
    int fd_ = -1;
};

/// What a failed system call says of `path`; `code` says what kind of thing it was.
[[nodiscard]] core::Error system_error(
    core::ErrorCode code, const std::string& what, const Path& path, int error_number);

/// The whole file. Errors: not_found, unreadable, too_large beyond `bytes_max`.
[[nodiscard]] core::Result<core::Bytes> read_file(const Path& path, std::uint64_t bytes_max);

/// Creates or overwrites, and is on the disk (the file, not its name in the folder) on return.
core::Status write_file(const Path& path, core::ByteView bytes, mode_t mode = 0600);

/// All or nothing: a temporary file beside it, synced, renamed over it, folder synced.
core::Status replace_file(const Path& path, core::ByteView bytes, mode_t mode = 0600);

/// Makes names created in or removed from `folder` last.
core::Status sync_folder(const Path& folder);

/// Creates `folder` and what is missing above it, 0700; fine where it is there.
core::Status make_folder(const Path& folder);

/// Room under `folder` that this user may fill.
[[nodiscard]] core::Result<std::uint64_t> free_bytes(const Path& folder);

}  // namespace p2p::daemon
