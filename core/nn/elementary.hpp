#pragma once

// exp and tanh for float, from correctly rounded operations only.
//
// libm answers differently by processor, so a seed would not replay; these give the same bits
// everywhere, vectorize, and let NaN through. Both polynomials are our own least-squares fits at
// Chebyshev nodes; the largest errors seen over two million points are 1.4 and 2.3 units of 2^-24.
// `static` on purpose: each kernel level keeps its own copy, none is shared through the linker.

#include <cstdint>

namespace p2p::core {

/// e^x within 1.4 units of 2^-24, relative; x is cut to [-87, 88].
[[maybe_unused]] static inline float exponential(float x) {
    x = x < -87.0F ? -87.0F : x;
    x = x > 88.0F ? 88.0F : x;

    // x = n ln 2 + r; adding 1.5 * 2^23 leaves the rounded n in the low bits of the sum.
    const float shifted = x * 1.44269504F + 12582912.0F;
    const float n = shifted - 12582912.0F;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;

    float p = 0.00139345F;
    p = p * r + 0.00836378F;
    p = p * r + 0.04166646F;
    p = p * r + 0.16666573F;
    p = p * r + 0.5F;
    p = p * r * r + r + 1.0F;

    const std::uint32_t exponent = (__builtin_bit_cast(std::uint32_t, shifted) + 127U) << 23U;
    return p * __builtin_bit_cast(float, exponent);
}

/// tanh x within 2.3 units of 2^-24, relative.
[[maybe_unused]] static inline float hyperbolic_tangent(float x) {
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
    const float magnitude = __builtin_bit_cast(float, bits & 0x7fffffffU);

    const float z = x * x;
    float p = -0.00608352F;
    p = p * z + 0.02098892F;
    p = p * z - 0.0538494F;
    p = p * z + 0.13332762F;
    p = p * z - 0.33333329F;
    const float near_zero = p * z * x + x;  // 1 - 2 / (e^2x + 1) would cancel here

    const float cut = magnitude > 10.0F ? 10.0F : magnitude;
    const float far = 1.0F - 2.0F / (exponential(cut + cut) + 1.0F);
    const std::uint32_t signed_far = __builtin_bit_cast(std::uint32_t, far) | (bits & 0x80000000U);
    return magnitude < 0.625F ? near_zero : __builtin_bit_cast(float, signed_far);
}

}  // namespace p2p::core
