#include "core/codec/theta.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

constexpr float slack = 1.125F;
constexpr float bf16_rounding = 0x1p-7F;  // of both ends together, over the larger magnitude
// Multiples of a step stay below 2^17, where a float32 still tells a step in parts of a hundred.
constexpr float finest_step = 0x1p-17F;

/// At 1 bit the swaps' own noise, rare jumps of a step, has longer tails than numbers have.
float means_in_largest(std::uint32_t bits) {
    return bits == 1 ? 6 : 4;
}

/// What is left of a spread after a swap that showed nothing. At 1 bit no largest distance is ever
/// seen, and no swap brings replicas nearer by more than a part in sixteen.
float least_left(std::uint32_t bits) {
    return bits == 1 ? 0.875F : 0.5F;
}

/// Steps between the receiver's own value and the furthest that it can rebuild.
float steps_of_theta(std::uint32_t bits) {
    return (static_cast<float>(1U << (bits - 1)) - 0.5F) / slack;
}

float least_spread(std::uint32_t bits, float magnitude) {
    return magnitude * finest_step * steps_of_theta(bits) / theta_factor_min;
}

/// `rounding`: what a distance may be off by, as it was measured.
float seen_spread(std::uint32_t bits, const Apart& apart, std::size_t floats, float rounding) {
    const double mean = apart.sum / static_cast<double>(floats);
    return std::max(means_in_largest(bits) * static_cast<float>(mean), apart.largest - rounding);
}

/// spread_of(apart, floats in the block, its index), for each block.
template <typename SpreadOf>
Spreads spreads_by_block(
    const Kernels& kernels, FloatView own, FloatView remote, const SpreadOf& spread_of) {
    P2P_CHECK(own.size() == remote.size());
    Spreads spreads(modulo_block_count(own.size()));
    for (std::size_t block = 0; block < spreads.size(); ++block) {
        const std::size_t first = block * modulo_block_floats;
        const std::size_t floats = std::min(modulo_block_floats, own.size() - first);
        const Apart apart =
            kernels.measure_apart(own.data() + first, remote.data() + first, floats);
        spreads[block] = spread_of(apart, floats, block);
    }
    return spreads;
}

}  // namespace

std::size_t modulo_block_count(std::size_t floats) {
    return (floats + modulo_block_floats - 1) / modulo_block_floats;
}

float modulo_step(const ThetaTerms& terms, float spread) {
    return terms.factor * spread / steps_of_theta(terms.bits);
}

Spreads spreads_of_keyframe(
    const Kernels& kernels, std::uint32_t bits, FloatView own, FloatView remote) {
    const auto spread_of = [bits](const Apart& apart, std::size_t floats, std::size_t /*block*/) {
        const float rounding = bf16_rounding * apart.magnitude;
        const float hidden = rounding / theta_factor_min;
        return std::max(
            {seen_spread(bits, apart, floats, rounding),
             hidden,
             least_spread(bits, apart.magnitude)});
    };
    return spreads_by_block(kernels, own, remote, spread_of);
}

Spreads spreads_after(
    const Kernels& kernels,
    const ThetaTerms& own_terms,
    float remote_factor,
    const Spreads& before,
    FloatView own,
    FloatView remote) {
    const bool is_one_grid = own_terms.factor == remote_factor;
    const ThetaTerms terms{
        .bits = own_terms.bits, .factor = std::max(own_terms.factor, remote_factor)};
    const auto spread_of = [&](const Apart& apart, std::size_t floats, std::size_t block) {
        const float step = modulo_step(terms, before[block]);
        const float least = least_spread(terms.bits, apart.magnitude);
        if (!is_one_grid) return std::max({before[block], apart.largest - step, least});
        // A few floats may show nothing for long: as if one more of them had been a step apart.
        const float unseen = means_in_largest(terms.bits) * step / static_cast<float>(floats);
        return std::max(
            {seen_spread(terms.bits, apart, floats, step),
             least_left(terms.bits) * before[block],
             std::min(before[block], unseen),
             least});
    };
    P2P_CHECK(before.size() == modulo_block_count(own.size()));
    return spreads_by_block(kernels, own, remote, spread_of);
}

}  // namespace p2p::core
