#pragma once

// Who may talk to this node: the operator's allow-list, and the network that init founded.
//
//   peers.toml              [[peer]] id, name, addresses, roles
//   state_dir/trust/network the id of the network, one line
//
// Both ends must list each other. What the entries allow is decided by the Node.

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/config.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

/// The entries of an allow-list; `file` is named in errors, with line and column. Errors:
/// malformed, invalid (an unknown key or role, an id twice).
[[nodiscard]] core::Result<std::vector<core::AllowedPeer>> read_peers(
    std::string_view text, const Path& file);

/// The same from the file; one that is not there is an empty list.
[[nodiscard]] core::Result<std::vector<core::AllowedPeer>> load_peers(const Path& file);

/// What init or a join wrote; nothing where neither has happened.
[[nodiscard]] core::Result<std::optional<core::NetworkId>> read_network(const Path& state_dir);

/// The network of this node: what the file says, pinned by `configured`, or that alone; zero: none.
/// conflict where the two differ.
[[nodiscard]] core::Result<core::NetworkId> settle_network(
    const Path& state_dir, std::optional<core::NetworkId> configured);

/// Founds a network: its id is BLAKE2b of the founder's id and 32 random bytes, so nobody can found
/// the same again. conflict where there is one.
core::Result<core::NetworkId> found_network(const Path& state_dir, core::PeerId founder);

}  // namespace p2p::daemon
