#pragma once

// Form of modulo(b) for b of 1, 2, 4 and 8: the last b bits of each value's multiple of a step.
//
// After Moniqua (Lu and De Sa 2020, algorithm 1), rebuilt by integers: the paper's float formula
// differs between two ends in up to a quarter of the elements. The receiver takes the integer of
// those bits that is nearest to its own value; a digest of each block of 4096 integers tells it
// whether that was the right one (32 bits of 4096: 0.008 bits a parameter). At 1 bit this is the
// paper's remark on biased rounding: nearest, on a grid of two thetas and a slack.
//
// The grid of each place is shifted by a part of a step that both ends draw from their history (the
// paper's shared randomness). On one grid for all, values smaller than half a step all become 0:
// nothing would move, and the distance that theta follows would look like none.
//
//   a block:  digest u32 | codes, 8 / b a byte, (floats x b) bits rounded up to bytes
//   seed      of the header: the factor of theta as float32, low half; high half 0
//
// A payload means something only beside the receiver's own value and the spreads of its link, so
// the two functions stand here and not in the Form's row; theta is core/codec/theta, who keeps the
// spreads core/codec/edge.

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/codec/kernel_table.hpp"
#include "core/codec/theta.hpp"

namespace p2p::core {

/// What both ends know of a link before a swap.
struct ModuloBase {
    const Spreads& spreads;   ///< of the shard
    std::uint32_t phase = 0;  ///< another one each swap
};

/// The header's seed of an encoding whose thetas are `factor` times the spreads.
[[nodiscard]] std::uint64_t modulo_seed(float factor);

/// The terms of an encoding of modulo that is no keyframe. @pre check_encoding() was ok for it
[[nodiscard]] ThetaTerms modulo_terms(ByteView encoding);

/// Encodes a whole shard behind the header that start_encoding() made; `rebuilt` gets what the
/// other end will find. @pre the spreads are the shard's
void encode_modulo(
    const Kernels& kernels,
    FloatView values,
    const ModuloBase& base,
    MutableByteView encoding,
    MutableFloatView rebuilt);

/// Rebuilds a whole shard near `own`; false where a block's digest differs, that is where theta was
/// exceeded: `rebuilt` means nothing then. @pre check_encoding() was ok, the spreads are
/// the shard's
[[nodiscard]] bool decode_modulo(
    const Kernels& kernels,
    ByteView encoding,
    FloatView own,
    const ModuloBase& base,
    MutableFloatView rebuilt);

}  // namespace p2p::core
