#pragma once

// What tests of the codec's kernels share: numbers to try, and blocks coded by one table.
// The kernels themselves are core/codec/kernels.

#include <cstring>
#include <limits>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/rng.hpp"
#include "core/codec/kernels.hpp"

namespace p2p::core {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float largest_float = std::numeric_limits<float>::max();
inline constexpr float smallest_float = std::numeric_limits<float>::denorm_min();

inline const Kernels& best() {
    return kernels(best_kernel_level());
}

inline std::vector<float> normal_floats(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(rng.normal());
    }
    return values;
}

struct Q8 {
    Bytes scales;
    Bytes codes;

    bool operator==(const Q8&) const = default;

    [[nodiscard]] float scale(std::size_t block) const {
        float value = 0;
        std::memcpy(&value, scales.data() + block * sizeof value, sizeof value);
        return value;
    }
};

inline std::size_t block_count(std::size_t floats) {
    return (floats + q8_block_floats - 1) / q8_block_floats;
}

inline Q8 encode_q8(const Kernels& table, const std::vector<float>& values, std::uint64_t seed) {
    Q8 coded{Bytes(block_count(values.size()) * 4), Bytes(values.size())};
    table.encode_q8(
        values.data(), values.size(), {seed, 0}, coded.scales.data(), coded.codes.data());
    return coded;
}

inline std::vector<float> decode_q8(const Kernels& table, const Q8& coded) {
    std::vector<float> values(coded.codes.size());
    table.decode_q8(coded.scales.data(), coded.codes.data(), values.size(), values.data());
    return values;
}

/// Scales and packed codes, as q8's.
using Q4 = Q8;

inline Q4 encode_q4(const Kernels& table, const std::vector<float>& values, std::uint64_t seed) {
    Q4 coded{Bytes(block_count(values.size()) * 4), Bytes((values.size() + 1) / 2)};
    table.encode_q4(
        values.data(), values.size(), {seed, 0}, coded.scales.data(), coded.codes.data());
    return coded;
}

inline std::vector<float> decode_q4(const Kernels& table, const Q4& coded, std::size_t floats) {
    std::vector<float> values(floats);
    table.decode_q4(coded.scales.data(), coded.codes.data(), floats, values.data());
    return values;
}

}  // namespace p2p::core
