#pragma once

// From an address in words to a connected socket, or why not.
//
// One attempt at one address; which addresses, how often and when again is decided in core/mesh.

#include <string>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "daemon/asio.hpp"

namespace p2p::daemon {

inline constexpr core::Duration connect_time_max = std::chrono::seconds{5};

/// Resolves "host:port" where it is a name, and connects. Errors: invalid (no address), not_found
/// (no such name), unreachable, timed_out; each names the address.
awaitable<core::Result<Tcp::socket>> connect_to(std::string address);

}  // namespace p2p::daemon
