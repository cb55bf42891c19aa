#pragma once

// A listening unix socket with the mode and group that it should have.
//
// A file left behind by a daemon that was killed is replaced; one that somebody still answers on is
// not. Nobody can connect before mode and group stand: listen() comes last.

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "core/base/result.hpp"

namespace p2p::daemon {

struct ControlSocketConfig {
    std::filesystem::path path;
    mode_t mode = 0600;
    std::string group;  ///< empty: the process's own
};

/// Owns the descriptor and the file: both go with it. Movable only.
class ControlSocket {
  public:
    /// in_use: another process answers there; conflict: a file that is no socket stands there;
    /// unwritable, invalid (path too long, no such group), not_permitted otherwise.
    [[nodiscard]] static core::Result<ControlSocket> open(const ControlSocketConfig& config);

    ControlSocket(ControlSocket&& other) noexcept;
    ControlSocket& operator=(ControlSocket&& other) noexcept;
    ~ControlSocket();

    [[nodiscard]] int descriptor() const { return descriptor_; }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    ControlSocket(int descriptor, std::filesystem::path path);

    void remove_file() const;

    int descriptor_ = -1;
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;  ///< zero: the file is not ours yet
};

}  // namespace p2p::daemon
