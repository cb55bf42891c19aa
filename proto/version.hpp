#pragma once

// Which protocols this build speaks: what is offered in Hello.
//
// A node speaks its newest protocol and the one before it, so a network is upgraded node by node.
// The release is for people; nothing is decided by it.

#include <cstdint>
#include <string_view>

namespace p2p::proto {

inline constexpr std::uint16_t protocol_oldest = 1;
inline constexpr std::uint16_t protocol_newest = 1;
inline constexpr std::string_view release = P2PTRAIN_VERSION;

}  // namespace p2p::proto
