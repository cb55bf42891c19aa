#include "core/base/rng.hpp"

#include <cmath>
#include <numbers>

namespace p2p::core {

std::array<std::uint32_t, 4> philox(
    std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
    constexpr std::uint64_t multiplier_0 = 0xD2511F53;
    constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
    auto c0 = static_cast<std::uint32_t>(counter_low);
    auto c1 = static_cast<std::uint32_t>(counter_low >> 32U);
    auto c2 = static_cast<std::uint32_t>(counter_high);
    auto c3 = static_cast<std::uint32_t>(counter_high >> 32U);
    auto k0 = static_cast<std::uint32_t>(key);
    auto k1 = static_cast<std::uint32_t>(key >> 32U);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = multiplier_0 * c0;
        const std::uint64_t p1 = multiplier_1 * c2;
        const auto next_0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k0;
        const auto next_2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k1;
        c1 = static_cast<std::uint32_t>(p1);
        c3 = static_cast<std::uint32_t>(p0);
        c0 = next_0;
        c2 = next_2;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return {c0, c1, c2, c3};
}

std::uint64_t mix_key(std::uint64_t seed, std::uint64_t value) {
    const auto block = philox(seed, value, 0x6d69782d6b657921);
    return (static_cast<std::uint64_t>(block[1]) << 32U) | block[0];
}

std::uint64_t mix_key(std::uint64_t seed, ByteView bytes) {
    std::uint64_t key = mix_key(seed, bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        for (std::size_t i = at; i < bytes.size() && i < at + 8; ++i) {
            word |= static_cast<std::uint64_t>(bytes[i]) << (8 * (i - at));
        }
        key = mix_key(key, word);
    }
    return key;
}

std::uint32_t Rng::next_u32() {
    if (used_ == 4) {
        block_ = philox(key_, counter_++, stream_);
        used_ = 0;
    }
    return block_[used_++];
}

std::uint64_t Rng::next_u64() {
    const std::uint64_t high = next_u32();
    return (high << 32U) | next_u32();
}

std::uint64_t Rng::below(std::uint64_t bound) {
    P2P_CHECK(bound > 0);
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        const std::uint64_t draw = next_u64();
        if (draw >= threshold) return draw % bound;
    }
}

double Rng::uniform() {
    return static_cast<double>(next_u64() >> 11U) * 0x1.0p-53;
}

double Rng::normal() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_normal_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_normal_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
}

double Rng::gamma(double shape) {  // NOLINT(misc-no-recursion): one level, shape + 1 >= 1
    P2P_CHECK(shape > 0);
    if (shape < 1) {
        const double boost = std::pow(1.0 - uniform(), 1.0 / shape);
        return gamma(shape + 1) * boost;
    }
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
        const double x = normal();
        const double v = std::pow(1.0 + c * x, 3);
        if (v <= 0) continue;
        if (std::log(1.0 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

}  // namespace p2p::core
