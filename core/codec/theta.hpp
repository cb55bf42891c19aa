#pragma once

// theta: how far the two ends of a link may be apart for modulo to rebuild (Moniqua, Lu and De Sa
// 2020), learnt for each block of 4096 floats from the swaps before, and never sent.
//
// What is kept is one float a block, the spread: how far the largest float of the block was apart,
// as well as both ends know it. theta is the spread times a factor, which travels with each
// encoding and is chosen elsewhere (core/mixing/theta_factor). The spread is a symmetric function
// of the two rebuilt values, so both ends hold the same bits.
//
// Rounded values show a distance only to a step, which at 1 and 2 bits is theta and more: a largest
// distance that was taken from them would feed on the rounding and grow for ever. So the largest
// counts only for what it is above the rounding; below, four means do (six at 1 bit), since the
// mean of rounded distances is that of the true ones, by the offsets of the grid (the largest of
// 4096 normal numbers is 4.7 times their mean).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/codec/kernel_table.hpp"

namespace p2p::core {

inline constexpr float theta_factor_min = 2;
inline constexpr float theta_factor_max = 16;

using Spreads = std::vector<float>;  ///< of a shard, by block

[[nodiscard]] std::size_t modulo_block_count(std::size_t floats);

/// What shapes the grids of one end's encoding, beside the spreads.
struct ThetaTerms {
    std::uint32_t bits = 8;
    float factor = theta_factor_min;
};

/// What `bits` can be told apart with where values are up to theta = factor * spread apart:
/// theta + step / 2 must stay below step * 2^(bits-1). An eighth is left for the roundings.
[[nodiscard]] float modulo_step(const ThetaTerms& terms, float spread);

/// After a keyframe: what bf16 hides is counted in. @pre both have the same size, all is finite
[[nodiscard]] Spreads spreads_of_keyframe(
    const Kernels& kernels, std::uint32_t bits, FloatView own, FloatView remote);

/// After a swap that `before` and the two ends' factors shaped. A spread falls to no less than half
/// of it (7/8 at 1 bit), since what was seen was rounded, and not at all where the factors differ:
/// values on two grids are apart by their rounding, and so is their mean.
[[nodiscard]] Spreads spreads_after(
    const Kernels& kernels,
    const ThetaTerms& own_terms,
    float remote_factor,
    const Spreads& before,
    FloatView own,
    FloatView remote);

}  // namespace p2p::core
