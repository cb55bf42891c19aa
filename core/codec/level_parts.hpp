#pragma once

// What the files of one kernel level (kernels_*level.cpp) share, and hand to the level's table.
//
// Only they include it, each compiled with P2P_KERNEL_NAMESPACE, so that what is inline here is of
// one level; the table and what every function promises is core/codec/kernel_table.

#include "core/codec/kernel_table.hpp"

namespace p2p::kernels::P2P_KERNEL_NAMESPACE {

inline constexpr std::size_t lanes = 16;  // of every sum, at every level

inline std::uint32_t bits_of(float value) {
    return __builtin_bit_cast(std::uint32_t, value);
}

inline float float_of(std::uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}

/// 32 mixed bits of a counter: C. Wellons' lowbias32 (2018), which vectorizes.
inline std::uint32_t mixed_bits(std::uint32_t counter) {
    std::uint32_t mixed = counter ^ (counter >> 16U);
    mixed *= 0x7feb352dU;
    mixed ^= mixed >> 15U;
    mixed *= 0x846ca68bU;
    return mixed ^ (mixed >> 16U);
}

/// The fixed tree: lane i and the lane half the width on, until one is left.
template <typename Number>
Number sum_of_lanes(const Number (&sums)[lanes]) {
    Number folded[lanes / 2];
    for (std::size_t lane = 0; lane < lanes / 2; ++lane)
        folded[lane] = sums[lane] + sums[lane + lanes / 2];
    for (std::size_t width = lanes / 4; width > 0; width /= 2) {
        for (std::size_t lane = 0; lane < width; ++lane)
            folded[lane] += folded[lane + width];
    }
    return folded[0];
}

void keep_topk(const float* values, std::size_t count, std::size_t keep, core::TopkChunk& out);

std::uint32_t encode_modulo(
    const float* values,
    std::size_t count,
    core::ModuloGrid grid,
    std::uint8_t* codes,
    float* rebuilt);
std::uint32_t decode_modulo(
    const std::uint8_t* codes,
    const float* near,
    std::size_t count,
    core::ModuloGrid grid,
    float* rebuilt);
core::Apart measure_apart(const float* a, const float* b, std::size_t count);

}  // namespace p2p::kernels::P2P_KERNEL_NAMESPACE
