#pragma once

// The 128-bit, not cryptographic hash by which two ends see that they hold the same values.
//
// The type only; core/codec/hash computes it.

#include <compare>
#include <cstdint>

namespace p2p::core {

struct Hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    auto operator<=>(const Hash128&) const = default;
};

}  // namespace p2p::core
