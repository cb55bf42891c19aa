#pragma once

// Do both ends hold the same bytes? 128 bits that say so, at the speed of memory.
//
// Not cryptographic: it guards against our own mistakes and broken memory; what comes over a link
// is authentic already. Four lanes of 128 bits, each taking 16 bytes with one 64 x 64 bit
// multiplication of which both halves are kept; the multiplication is the idea of wyhash (Wang Yi).
// Words are read little-endian, so the value is the same on every machine and at every level.

#include "core/base/bytes.hpp"
#include "core/base/hash128.hpp"

namespace p2p::core {

/// The hash of `bytes`, going on from `seed`: hash128(hash128({}, a), b) stands for the sequence
/// (a, b), and differs from that of (a + b) in one piece.
[[nodiscard]] Hash128 hash128(Hash128 seed, ByteView bytes);

}  // namespace p2p::core
