#pragma once

// Which addresses a node tells others to dial when its configuration names none.
// A guess from the interfaces of this machine; what an operator writes goes before it.

#include <string>
#include <vector>

#include "daemon/host_port.hpp"

namespace p2p::daemon {

/// A concrete listen address stands for itself; a wildcard for every address of its family on an
/// interface that is up, without link-local ones and those of container bridges. Loopback counts
/// only where nothing else is left. At most limits::addresses_a_peer_max.
[[nodiscard]] std::vector<std::string> own_addresses(const std::vector<HostPort>& listening);

}  // namespace p2p::daemon
