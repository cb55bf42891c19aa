#pragma once

// A signature as it travels: 64 bytes of Ed25519.
//
// Records carry one, so every floor can hold it; making and checking it is proto/keys' alone.

#include <array>
#include <cstdint>

namespace p2p::core {

using Signature = std::array<std::uint8_t, 64>;

}  // namespace p2p::core
