#pragma once

// Where unpredictable bytes come from: the kernel, and nowhere else.
// Seeds of keys, handshakes and generators; nothing else in this program draws from it.

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace p2p::daemon {

/// Fills `out` from getrandom(2); waits for the pool to be ready at early boot. Cannot fail on a
/// kernel that we run on, so a failure aborts.
void fill_entropy(core::MutableByteView out);

/// 32 fresh bytes: a key's or a handshake's seed.
[[nodiscard]] std::array<std::uint8_t, 32> entropy_seed();

/// A fresh key for a core::Rng.
[[nodiscard]] std::uint64_t entropy_u64();

}  // namespace p2p::daemon
