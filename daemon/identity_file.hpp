#pragma once

// The key that is this node: 32 bytes of seed in one file that nobody else may read.
//
// The public half is the PeerId, so losing the file is losing the name, and sharing it is sharing
// it. A file with other modes, another owner or another size is refused (exit 77), never mended
// in silence: somebody may have read it already.

#include "core/base/result.hpp"
#include "daemon/files.hpp"
#include "proto/keys.hpp"

namespace p2p::daemon {

inline constexpr std::size_t identity_file_bytes = 32;

/// Reads the identity. Errors: not_found; insecure (modes, owner, or a link); wrong_size;
/// unreadable.
[[nodiscard]] core::Result<proto::Identity> read_identity(const Path& file);

/// Makes a new identity and its file, 0600 and synced. Errors: conflict where the file is there;
/// unwritable.
core::Result<proto::Identity> create_identity(const Path& file);

/// Reads it, or makes it where there is none.
core::Result<proto::Identity> load_or_create_identity(const Path& file);

}  // namespace p2p::daemon
