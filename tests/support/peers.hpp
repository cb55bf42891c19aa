#pragma once

// Peers by number and times by seconds, for tests of single rooms: no keys, no clock.
// Whole messages are made by tests/support/messages, whole nodes by tests/support/node_world.

#include <cstdint>

#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::test {

inline core::PeerId peer(std::uint8_t number) {
    core::PeerId id;
    id.bytes[0] = number;
    return id;
}

constexpr core::TimePoint at(double seconds) {
    return core::TimePoint{} + core::from_seconds(seconds);
}

}  // namespace p2p::test
