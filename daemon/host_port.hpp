#pragma once

// "host:port" and "[v6]:port" taken apart and put together; nothing is resolved here.
// Parsing and printing only; names are resolved by the dialer.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace p2p::daemon {

struct HostPort {
    std::string host;  ///< without brackets: a name, or an address of either family
    std::uint16_t port = 0;

    bool operator==(const HostPort&) const = default;

    /// With brackets around what holds a colon.
    [[nodiscard]] std::string text() const;
};

/// `invalid`, saying what would do, where `text` has no host, no port, or a port beyond 65535.
/// Port 0 is allowed: to listen on, it means "any".
[[nodiscard]] core::Result<HostPort> host_port_from(std::string_view text);

}  // namespace p2p::daemon
