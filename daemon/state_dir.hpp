#pragma once

// The folder that holds all that a node must not forget, and the right to be the only one in it.
//
//   lock          held by the kernel while p2pd lives; says its process id (exit 75)
//   incarnation   how often this node has started; raised and synced before anything is said
//   trust/        what init and joins have written
//   jobs/         run directories (daemon/run_dir)

#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

/// The opened state folder; its lock is given back when this goes.
class StateDir {
  public:
    /// Creates what is missing and takes the lock. Errors: unwritable; in_use (another p2pd).
    static core::Result<StateDir> open(const Path& folder);

    [[nodiscard]] const Path& path() const { return path_; }

    /// One more than any before, on the disk when this returns. Errors: unwritable, unreadable;
    /// malformed (a number that went backwards would let peers take us for the old process).
    core::Result<core::Incarnation> raise_incarnation();

  private:
    StateDir(Path path, Descriptor lock)
        : path_(std::move(path)),
          lock_(std::move(lock)) {}

    Path path_;
    Descriptor lock_;
};

}  // namespace p2p::daemon
