// One kernel level of modulo's arithmetic (core/codec/kernel_table, encode_modulo and the next);
// compiled as kernels_level.cpp is, with the same rule: no std templates here.
//
// Multiples are found in float32 by the magic number that rounds, so that the loops run straight:
// all of them are integers below 2^23, which a float32 holds, and both ends compute the rebuilt
// value from the integer by the same one multiplication.

#include "core/codec/level_parts.hpp"

namespace p2p::kernels::P2P_KERNEL_NAMESPACE {

namespace {

using std::int32_t;
using std::size_t;
using std::uint32_t;
using std::uint8_t;

constexpr size_t block_floats = core::modulo_block_floats;
constexpr float magic = 0x1.8p23F;  // adding it rounds |x| < 2^22 to an integer
constexpr uint32_t magic_bits = 0x4b400000U;
constexpr float multiple_max = 0x1p21F;
constexpr float step_min = 0x1p-100F;  // below it 1/step could overflow

float magnitude_of(float value) {
    return float_of(bits_of(value) & 0x7fffffffU);
}

/// @pre |value| < 2^22; else some number, the same at every level
float nearest(float value) {
    return (value + magic) - magic;
}

/// Of a number that is whole. @pre as above
int32_t integer_of(float whole) {
    return static_cast<int32_t>(bits_of(whole + magic) - magic_bits);
}

/// In [0, 1), spread evenly over the places.
float offset_of(uint32_t place, uint32_t phase) {
    return static_cast<float>(static_cast<int32_t>((place * 0x9e3779b9U + phase) >> 8U)) * 0x1p-24F;
}

/// A sum, so that its parts may come in any order. The place goes in, else two multiples that
/// change places would not be seen.
uint32_t digest_part(int32_t multiple, uint32_t place) {
    return mixed_bits(static_cast<uint32_t>(multiple) + place * 0x9e3779b9U);
}

/// Code i * stride + j is bits [i * bits, (i + 1) * bits) of byte j, so that the loops run
/// straight.
template <uint32_t bits>
void pack(const uint8_t* __restrict codes, size_t count, uint8_t* __restrict out) {
    const size_t stride = (count * bits + 7) / 8;
    for (size_t j = 0; j < stride; ++j)
        out[j] = codes[j];
    for (uint32_t shift = bits, first = static_cast<uint32_t>(stride); shift < 8;
         shift += bits, first += static_cast<uint32_t>(stride)) {
        if (first >= count) return;
        const size_t left = count - first < stride ? count - first : stride;
        for (size_t j = 0; j < left; ++j)
            out[j] =
                static_cast<uint8_t>(out[j] | (static_cast<uint32_t>(codes[first + j]) << shift));
    }
}

template <uint32_t bits>
void unpack(const uint8_t* __restrict in, size_t count, uint8_t* __restrict codes) {
    const size_t stride = (count * bits + 7) / 8;
    constexpr uint32_t mask = (1U << bits) - 1;
    uint32_t first = 0;
    for (uint32_t shift = 0; shift < 8 && first < count; shift += bits) {
        const size_t left = count - first < stride ? count - first : stride;
        for (size_t j = 0; j < left; ++j)
            codes[first + j] = static_cast<uint8_t>((static_cast<uint32_t>(in[j]) >> shift) & mask);
        first += static_cast<uint32_t>(stride);
    }
}

float units_of(float step) {
    return step < step_min ? 0.0F : 1.0F / step;
}

template <uint32_t bits>
uint32_t encode(
    const float* __restrict values,
    uint32_t count,
    core::ModuloGrid grid,
    uint8_t* __restrict codes,
    float* __restrict rebuilt) {
    const float step = grid.step;
    const float units = units_of(step);
    const float value_max = units > 0 ? step * multiple_max : 0.0F;
    constexpr uint32_t mask = (1U << bits) - 1;
    uint8_t loose[block_floats];
    uint32_t digest = 0;
    uint32_t too_large = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const float offset = offset_of(i, grid.phase);
        const float multiple = nearest(values[i] * units - offset);
        const int32_t whole = integer_of(multiple);
        too_large |= magnitude_of(values[i]) <= value_max ? 0U : 1U;
        rebuilt[i] = step * (multiple + offset);
        loose[i] = static_cast<uint8_t>(static_cast<uint32_t>(whole) & mask);
        digest += digest_part(whole, i);
    }
    pack<bits>(loose, count, codes);
    return too_large == 0 ? digest : ~digest;  // never what the other end finds
}

template <uint32_t bits>
uint32_t decode(
    const uint8_t* __restrict codes,
    const float* __restrict near,
    uint32_t count,
    core::ModuloGrid grid,
    float* __restrict rebuilt) {
    const float step = grid.step;
    const float units = units_of(step);
    constexpr float period = static_cast<float>(1U << bits);
    uint8_t loose[block_floats] = {};
    unpack<bits>(codes, count, loose);
    uint32_t digest = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const auto code = static_cast<float>(static_cast<int32_t>(loose[i]));
        const float offset = offset_of(i, grid.phase);
        const float periods = nearest((near[i] * units - offset - code) * (1.0F / period));
        const float multiple = code + period * periods;
        rebuilt[i] = step * (multiple + offset);
        digest += digest_part(integer_of(multiple), i);
    }
    return digest;
}

}  // namespace

uint32_t encode_modulo(
    const float* values, size_t count, core::ModuloGrid grid, uint8_t* codes, float* rebuilt) {
    const auto floats = static_cast<uint32_t>(count);
    if (grid.bits == 1) return encode<1>(values, floats, grid, codes, rebuilt);
    if (grid.bits == 2) return encode<2>(values, floats, grid, codes, rebuilt);
    if (grid.bits == 4) return encode<4>(values, floats, grid, codes, rebuilt);
    return encode<8>(values, floats, grid, codes, rebuilt);
}

uint32_t decode_modulo(
    const uint8_t* codes, const float* near, size_t count, core::ModuloGrid grid, float* rebuilt) {
    const auto floats = static_cast<uint32_t>(count);
    if (grid.bits == 1) return decode<1>(codes, near, floats, grid, rebuilt);
    if (grid.bits == 2) return decode<2>(codes, near, floats, grid, rebuilt);
    if (grid.bits == 4) return decode<4>(codes, near, floats, grid, rebuilt);
    return decode<8>(codes, near, floats, grid, rebuilt);
}

core::Apart measure_apart(const float* a, const float* b, size_t count) {
    double sums[lanes] = {};
    float largest[lanes] = {};
    float magnitude[lanes] = {};
    for (size_t i = 0; i < count; i += lanes) {
        const size_t width = count - i < lanes ? count - i : lanes;
        for (size_t lane = 0; lane < width; ++lane) {
            const float apart = magnitude_of(a[i + lane] - b[i + lane]);
            const float one = magnitude_of(a[i + lane]);
            const float other = magnitude_of(b[i + lane]);
            const float larger = one > other ? one : other;
            sums[lane] += static_cast<double>(apart);
            largest[lane] = apart > largest[lane] ? apart : largest[lane];
            magnitude[lane] = larger > magnitude[lane] ? larger : magnitude[lane];
        }
    }
    core::Apart all{.sum = 0, .largest = 0, .magnitude = 0};
    for (size_t lane = 0; lane < lanes; ++lane) {
        all.largest = largest[lane] > all.largest ? largest[lane] : all.largest;
        all.magnitude = magnitude[lane] > all.magnitude ? magnitude[lane] : all.magnitude;
    }
    all.sum = sum_of_lanes(sums);
    return all;
}

}  // namespace p2p::kernels::P2P_KERNEL_NAMESPACE
