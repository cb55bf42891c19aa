#pragma once

// 128 bits that stand for a sequence of bytes. How they are computed belongs to codec/hash; swap
// messages only carry and compare them.

#include <cstdint>

namespace p2p::core {

/// Not cryptographic: equal by accident never, by intent easily.
struct Hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const Hash128&) const = default;
};

}  // namespace p2p::core
