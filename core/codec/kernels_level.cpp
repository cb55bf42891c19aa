// One kernel level of the codec's arithmetic: meson compiles this file once for each level, with
// P2P_KERNEL_NAMESPACE and the level's -march.
//
// Plain loops that GCC and clang turn into vector code; where a loop looks odd (a maximum over the
// bits of floats, rounding by a magic number) it is because the obvious one stays scalar. No std
// template may be used here: its weak symbol would be shared between levels, the linker would keep
// one copy, and old processors would crash. tools/check_weak_symbols.py looks for that.

#include <bit>

#include "core/codec/level_parts.hpp"

static_assert(std::endian::native == std::endian::little, "the encodings are little-endian");

namespace p2p::kernels::P2P_KERNEL_NAMESPACE {

extern const core::Kernels codec_table;

namespace {

using std::int32_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr size_t block_floats = core::q8_block_floats;

/// The largest |x| as bits, which order like the numbers; NaN above infinity. Signed, since SSE2
/// compares nothing else.
int32_t largest_magnitude_bits(const float* values, size_t count) {
    int32_t largest = 0;
    for (size_t i = 0; i < count; ++i) {
        const auto magnitude = static_cast<int32_t>(bits_of(values[i]) & 0x7fffffffU);
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

// bf16

uint16_t to_bf16(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    const uint32_t quiet_nan = (bits >> 16U) | 0x40U;
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    return static_cast<uint16_t>(is_nan ? quiet_nan : rounded);
}

float from_bf16(uint16_t half) {
    return float_of(static_cast<uint32_t>(half) << 16U);
}

// fp16

constexpr int32_t infinity_bits = 0x7f800000;
constexpr int32_t half_infinity = 0x7c00;
constexpr int32_t half_largest = 0x7bff;          // 65504
constexpr int32_t half_smallest_normal = 0x0400;  // 2^-14
constexpr int32_t smallest_normal_bits = 0x38800000;
constexpr int32_t exponent_shift = (127 - 15) << 10;  // between the two biases, in halves

uint16_t to_fp16(float value) {
    const uint32_t bits = bits_of(value);
    const auto magnitude = static_cast<int32_t>(bits & 0x7fffffffU);
    const int32_t normal = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - exponent_shift;
    // One unit of a float between 0.5 and 1 is 2^-24, the smallest half: the addition rounds to it.
    const float shifted = float_of(static_cast<uint32_t>(magnitude)) + 0.5F;
    const auto subnormal = static_cast<int32_t>(bits_of(shifted) - 0x3f000000U);
    const int32_t rounded = magnitude < smallest_normal_bits ? subnormal : normal;
    const int32_t finite = rounded < half_largest ? rounded : half_largest;
    const int32_t quiet_nan = half_infinity | 0x200 | ((magnitude >> 13) & 0x3ff);
    const int32_t special = magnitude == infinity_bits ? half_infinity : quiet_nan;
    const int32_t half = magnitude < infinity_bits ? finite : special;
    return static_cast<uint16_t>(half | static_cast<int32_t>((bits >> 16U) & 0x8000U));
}

float from_fp16(uint16_t half) {
    const auto magnitude = static_cast<int32_t>(half & 0x7fffU);
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16U;
    const float small = static_cast<float>(magnitude) * 0x1p-24F;
    const int32_t normal = (magnitude + exponent_shift) << 13;
    const int32_t special = (magnitude << 13) | infinity_bits;
    const int32_t large = magnitude < half_infinity ? normal : special;
    const uint32_t bits =
        magnitude < half_smallest_normal ? bits_of(small) : static_cast<uint32_t>(large);
    return float_of(bits | sign);
}

// both

template <uint16_t (*cast)(float)>
void encode_half(const float* __restrict values, size_t count, uint8_t* __restrict out) {
    for (size_t i = 0; i < count; ++i) {
        const uint16_t half = cast(values[i]);
        __builtin_memcpy(out + 2 * i, &half, sizeof half);
    }
}

template <float (*cast)(uint16_t)>
void decode_half(const uint8_t* __restrict in, size_t count, float* __restrict out) {
    for (size_t i = 0; i < count; ++i) {
        uint16_t half = 0;
        __builtin_memcpy(&half, in + 2 * i, sizeof half);
        out[i] = cast(half);
    }
}

// q8 and q4. A value in units of the scale becomes a fixed-point number of 15 binary places, 15
// random bits are added, and the places are cut off: what a floor of x/scale + u would give, in
// integers.

constexpr unsigned places = 15;
constexpr int32_t q8_max = 127;
constexpr int32_t q4_max = 7;
constexpr float smallest_block = 0x1p-100F;  // below it 1/scale could overflow
constexpr float magic = 0x1.8p23F;           // adding it rounds |x| < 2^22 to an integer
constexpr uint32_t magic_bits = 0x4b400000U;

/// The key of a block's random numbers (the finalizer of splitmix64: Steele et al. 2014).
uint32_t block_key(uint64_t seed, uint64_t block) {
    uint64_t mixed = seed + (block + 1) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<uint32_t>((mixed ^ (mixed >> 31U)) >> 16U);
}

template <int32_t code_max>
uint8_t code_of(float value, float units, uint32_t random) {
    constexpr int32_t code_top = code_max << places;
    const float fixed = value * units + magic;
    const auto rounded = static_cast<int32_t>(bits_of(fixed) - magic_bits);
    // The largest value may come out one unit above the top, where it would turn negative.
    const int32_t bounded = rounded < code_top ? rounded : code_top;
    return static_cast<uint8_t>((bounded + static_cast<int32_t>(random)) >> places);
}

/// One whole block. Two halves, since 32 random bits are enough for two floats.
template <int32_t code_max>
float encode_block(const float* __restrict values, uint32_t key, uint8_t* __restrict codes) {
    const auto largest_bits = static_cast<uint32_t>(largest_magnitude_bits(values, block_floats));
    const float largest = float_of(largest_bits);
    const bool is_zero = largest < smallest_block;
    const float scale = is_zero ? 0.0F : largest / static_cast<float>(code_max);
    const float units = is_zero ? 0.0F : static_cast<float>(code_max << places) / largest;
    // The index is as wide as the random numbers, else half of the loop is conversion.
    constexpr uint32_t half = block_floats / 2;
    for (uint32_t i = 0; i < half; ++i) {
        const uint32_t random = mixed_bits(key + i * 0x9e3779b9U);
        codes[i] = code_of<code_max>(values[i], units, random & ((1U << places) - 1U));
        codes[i + half] = code_of<code_max>(values[i + half], units, random >> (32U - places));
    }
    return scale;
}

/// A last block of fewer floats is coded as if zeros followed.
template <int32_t code_max>
float encode_short_block(const float* values, size_t count, uint32_t key, uint8_t* codes) {
    float padded[block_floats] = {};
    uint8_t padded_codes[block_floats];
    __builtin_memcpy(padded, values, count * sizeof(float));
    const float scale = encode_block<code_max>(padded, key, padded_codes);
    __builtin_memcpy(codes, padded_codes, count);
    return scale;
}

void encode_q8(
    const float* values, size_t count, core::Q8Position position, uint8_t* scales, uint8_t* codes) {
    for (size_t at = 0; at < count; at += block_floats) {
        const size_t block = at / block_floats;
        const uint32_t key = block_key(position.seed, position.first_block + block);
        const float scale =
            count - at >= block_floats
                ? encode_block<q8_max>(values + at, key, codes + at)
                : encode_short_block<q8_max>(values + at, count - at, key, codes + at);
        __builtin_memcpy(scales + block * sizeof(float), &scale, sizeof scale);
    }
}

void decode_block(
    const uint8_t* __restrict codes, size_t count, float scale, float* __restrict out) {
    for (size_t i = 0; i < count; ++i) {
        out[i] = scale * static_cast<float>(static_cast<std::int8_t>(codes[i]));
    }
}

void decode_q8(const uint8_t* scales, const uint8_t* codes, size_t count, float* out) {
    for (size_t at = 0; at < count; at += block_floats) {
        float scale = 0;
        __builtin_memcpy(&scale, scales + at / block_floats * sizeof(float), sizeof scale);
        if (count - at >= block_floats) {
            decode_block(codes + at, block_floats, scale, out + at);
        } else {
            decode_block(codes + at, count - at, scale, out + at);
        }
    }
}

/// Two codes a byte: one of each half of the block, so that both loops run straight.
void pack_nibbles(const uint8_t* __restrict codes, size_t count, uint8_t* __restrict out) {
    const size_t half = (count + 1) / 2;
    for (size_t i = 0; i < count / 2; ++i)
        out[i] =
            static_cast<uint8_t>((codes[i] & 15U) | (static_cast<uint32_t>(codes[i + half]) << 4U));
    if (count % 2 == 1) out[half - 1] = static_cast<uint8_t>(codes[half - 1] & 15U);
}

void encode_q4(
    const float* values, size_t count, core::Q8Position position, uint8_t* scales, uint8_t* codes) {
    uint8_t block_codes[block_floats];
    for (size_t at = 0; at < count; at += block_floats) {
        const size_t block = at / block_floats;
        const size_t floats = count - at < block_floats ? count - at : block_floats;
        const uint32_t key = block_key(position.seed, position.first_block + block);
        const float scale = floats == block_floats
                                ? encode_block<q4_max>(values + at, key, block_codes)
                                : encode_short_block<q4_max>(values + at, floats, key, block_codes);
        __builtin_memcpy(scales + block * sizeof(float), &scale, sizeof scale);
        pack_nibbles(block_codes, floats, codes + at / 2);
    }
}

float nibble_value(uint32_t nibble, float scale) {
    return scale * static_cast<float>(static_cast<int32_t>((nibble & 15U) ^ 8U) - 8);
}

void decode_q4_block(
    const uint8_t* __restrict codes, size_t count, float scale, float* __restrict out) {
    const size_t half = (count + 1) / 2;
    for (size_t i = 0; i < half; ++i)
        out[i] = nibble_value(codes[i], scale);
    for (size_t i = half; i < count; ++i)
        out[i] = nibble_value(static_cast<uint32_t>(codes[i - half]) >> 4U, scale);
}

void decode_q4(const uint8_t* scales, const uint8_t* codes, size_t count, float* out) {
    for (size_t at = 0; at < count; at += block_floats) {
        float scale = 0;
        __builtin_memcpy(&scale, scales + at / block_floats * sizeof(float), sizeof scale);
        const size_t floats = count - at < block_floats ? count - at : block_floats;
        decode_q4_block(codes + at / 2, floats, scale, out + at);
    }
}

// Sums and merges.

double sum_of_squares(const float* values, size_t count) {
    double sums[lanes] = {};
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (size_t lane = 0; lane < lanes; ++lane) {
            const double value = static_cast<double>(values[i + lane]);
            sums[lane] += value * value;
        }
    }
    for (size_t lane = 0; i + lane < count; ++lane) {
        const double value = static_cast<double>(values[i + lane]);
        sums[lane] += value * value;
    }
    return sum_of_lanes(sums);
}

double sum_of_squared_differences(const float* a, const float* b, size_t count) {
    double sums[lanes] = {};
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (size_t lane = 0; lane < lanes; ++lane) {
            const double difference =
                static_cast<double>(a[i + lane]) - static_cast<double>(b[i + lane]);
            sums[lane] += difference * difference;
        }
    }
    for (size_t lane = 0; i + lane < count; ++lane) {
        const double difference =
            static_cast<double>(a[i + lane]) - static_cast<double>(b[i + lane]);
        sums[lane] += difference * difference;
    }
    return sum_of_lanes(sums);
}

/// Adding one to the exponent carries into the sign bit exactly where it was all ones.
bool is_finite(const float* values, size_t count) {
    uint32_t carries = 0;
    for (size_t i = 0; i < count; ++i)
        carries |= (bits_of(values[i]) & 0x7fffffffU) + 0x00800000U;
    return carries >> 31U == 0;
}

void scaled_difference(
    const float* __restrict a,
    const float* __restrict b,
    float weight,
    size_t count,
    float* __restrict out) {
    for (size_t i = 0; i < count; ++i)
        out[i] = weight * (a[i] - b[i]);
}

void add(const float* __restrict delta, size_t count, float* __restrict values) {
    for (size_t i = 0; i < count; ++i)
        values[i] += delta[i];
}

void subtract(const float* __restrict delta, size_t count, float* __restrict values) {
    for (size_t i = 0; i < count; ++i)
        values[i] -= delta[i];
}

}  // namespace

const core::Kernels codec_table{
    .encode_bf16 = encode_half<to_bf16>,
    .decode_bf16 = decode_half<from_bf16>,
    .encode_fp16 = encode_half<to_fp16>,
    .decode_fp16 = decode_half<from_fp16>,
    .encode_q8 = encode_q8,
    .decode_q8 = decode_q8,
    .encode_q4 = encode_q4,
    .decode_q4 = decode_q4,
    .keep_topk = keep_topk,
    .encode_modulo = encode_modulo,
    .decode_modulo = decode_modulo,
    .measure_apart = measure_apart,
    .sum_of_squares = sum_of_squares,
    .sum_of_squared_differences = sum_of_squared_differences,
    .is_finite = is_finite,
    .scaled_difference = scaled_difference,
    .add = add,
    .subtract = subtract,
};

}  // namespace p2p::kernels::P2P_KERNEL_NAMESPACE
