#pragma once

// Who holds a TCP port of this machine, for the message of a daemon that cannot bind it.
// For an error message only: it looks into /proc and may find nothing.

#include <cstdint>
#include <optional>
#include <string>

namespace p2p::daemon {

/// "p2pd (pid 4711)", from /proc; nothing where the holder's files are hidden from us.
[[nodiscard]] std::optional<std::string> port_holder(std::uint16_t port);

}  // namespace p2p::daemon
