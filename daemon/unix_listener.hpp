#pragma once

// A listening unix socket in the file system, with the mode and group that say who may connect.
//
// A name that a killed p2pd left behind is taken over; one on which somebody answers is not.

#include <string>

#include <sys/types.h>

#include "core/base/result.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

struct UnixPlace {
    Path path;
    mode_t mode = 0660;
    std::string group;  ///< empty: this process's own
};

/// Errors: in_use; unwritable (the folder, the mode or the group); invalid for a path that is
/// longer than a socket's may be.
[[nodiscard]] core::Result<Descriptor> listen_unix(const UnixPlace& place);

}  // namespace p2p::daemon
