// One kernel level of the choice of a chunk's largest values (core/codec/kernel_table, keep_topk);
// compiled as kernels_level.cpp is, with the same rule: no std templates here.
//
// Nothing is sorted. The maxima of some groups of floats give a bound that at least `keep` values
// reach; only those few are looked at again, bit by bit. All choices are made on the bits of
// magnitudes, which order as the numbers do, so every level chooses alike.

#include "core/codec/level_parts.hpp"

namespace p2p::kernels::P2P_KERNEL_NAMESPACE {

namespace {

using std::int32_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr size_t chunk_floats = core::topk_chunk_floats;
constexpr size_t kept_max = core::topk_kept_max;
constexpr float kept_max_float = static_cast<float>(kept_max);
constexpr int32_t bound_step = 1 << 18;  // the bound of a chunk is a multiple of it
constexpr int tried_below = 6;           // scales tried, from this many below the mean's
constexpr int tried = 8;

/// A chunk's values that reach its bound, in the order of their places.
struct Candidates {
    size_t count = 0;
    uint16_t places[chunk_floats];
    int32_t magnitudes[chunk_floats + lanes];
};

struct Magnitudes {
    int32_t bits[chunk_floats];
};

size_t rounded_up(size_t count) {
    return (count + lanes - 1) / lanes * lanes;
}

void take_magnitudes(const float* __restrict values, size_t count, Magnitudes& __restrict out) {
    for (size_t i = 0; i < count; ++i)
        out.bits[i] = static_cast<int32_t>(bits_of(values[i]) & 0x7fffffffU);
    for (size_t i = count; i < chunk_floats; ++i)
        out.bits[i] = 0;
}

/// @pre `count` is a multiple of `lanes`
int32_t count_above(const int32_t* values, size_t count, int32_t bound) {
    int32_t above = 0;
    for (size_t i = 0; i < count; ++i)
        above += values[i] > bound ? 1 : 0;
    return above;
}

/// A multiple of `step` that at least `keep` of the values reach: the largest such, or a smaller
/// one that exactly `keep` reach; 0 where too few are positive. @pre `count` is a multiple of
/// `lanes`, `step` a power of two
int32_t bound_for(const int32_t* values, size_t count, size_t keep, int32_t step) {
    int32_t bound = 0;
    for (int32_t bit = 1 << 30; bit >= step; bit >>= 1) {
        const int32_t reaching = count_above(values, count, (bound | bit) - 1);
        if (reaching < static_cast<int32_t>(keep)) continue;
        bound |= bit;
        if (reaching == static_cast<int32_t>(keep)) break;
    }
    return bound;
}

/// A bound that at least `keep` values reach, and on most data few more: `keep` of four times as
/// many groups hold one. Never 0: zeros are not kept.
int32_t bound_of_chunk(const Magnitudes& magnitudes, size_t keep) {
    size_t groups = lanes;
    while (groups < 4 * keep)
        groups *= 2;
    int32_t maxima[4 * kept_max];
    for (size_t group = 0; group < groups; ++group)
        maxima[group] = magnitudes.bits[group];
    for (size_t row = groups; row < chunk_floats; row += groups) {
        for (size_t group = 0; group < groups; ++group) {
            const int32_t magnitude = magnitudes.bits[row + group];
            maxima[group] = magnitude > maxima[group] ? magnitude : maxima[group];
        }
    }
    const int32_t bound = bound_for(maxima, groups, keep, bound_step);
    return bound > 0 ? bound : 1;
}

/// Marks first and gathers the marks into words, whose set bits are few.
void collect(const Magnitudes& magnitudes, int32_t bound, Candidates& out) {
    uint8_t marks[chunk_floats];
    for (size_t i = 0; i < chunk_floats; ++i)
        marks[i] = magnitudes.bits[i] >= bound ? 1 : 0;
    for (size_t at = 0; at < chunk_floats; at += 64) {
        uint64_t set = 0;
        for (size_t part = 0; part < 8; ++part) {
            uint64_t eight = 0;
            __builtin_memcpy(&eight, marks + at + 8 * part, sizeof eight);
            // Each of the eight bytes' bits goes to its place in the top byte of the product.
            set |= eight * 0x0102040810204080U >> 56U << (8 * part);
        }
        for (; set != 0; set &= set - 1) {
            const size_t place = at + static_cast<size_t>(__builtin_ctzll(set));
            out.places[out.count] = static_cast<uint16_t>(place);
            out.magnitudes[out.count] = magnitudes.bits[place];
            ++out.count;
        }
    }
}

/// Leaves the `keep` largest; of equal ones those that stand first.
void leave_largest(Candidates& candidates, size_t keep) {
    if (candidates.count <= keep) return;
    const size_t padded = rounded_up(candidates.count);
    for (size_t i = candidates.count; i < padded; ++i)
        candidates.magnitudes[i] = 0;
    const int32_t least = bound_for(candidates.magnitudes, padded, keep, 1);
    const int32_t larger = count_above(candidates.magnitudes, padded, least);
    auto equals = static_cast<int32_t>(keep) - larger;
    size_t kept = 0;
    for (size_t i = 0; i < candidates.count; ++i) {  // written always, for nothing to be guessed
        const int32_t magnitude = candidates.magnitudes[i];
        const bool is_equal = magnitude == least;
        const bool is_kept = magnitude > least || (is_equal && equals > 0);
        equals -= is_equal ? 1 : 0;
        candidates.places[kept] = candidates.places[i];
        candidates.magnitudes[kept] = magnitude;
        kept += is_kept ? 1 : 0;
    }
    candidates.count = kept;
}

// The scale. Levels are 0 (dropped), one scale and two scales.

float scale_of(int32_t code) {
    return float_of((static_cast<uint32_t>(code) + core::topk_scale_base) << 21U);
}

/// Sum of (x - its nearest level)^2.
float error_of(const float* values, size_t padded, float scale) {
    const float dropped_below = 0.5F * scale;
    const float doubled_from = 1.5F * scale;
    float sums[lanes] = {};
    for (size_t i = 0; i < padded; i += lanes) {
        for (size_t lane = 0; lane < lanes; ++lane) {
            const float value = values[i + lane];
            const float small = value < dropped_below ? 0.0F : scale;
            const float error = value - (value < doubled_from ? small : 2 * scale);
            sums[lane] += error * error;
        }
    }
    return sum_of_lanes(sums);
}

/// The code of the best of the scales around the mean, the lowest of equal ones; 0 where the values
/// are too small for any.
int32_t best_scale(const Candidates& kept) {
    float values[kept_max + lanes] = {};
    float sums[lanes] = {};
    const size_t padded = rounded_up(kept.count);
    for (size_t i = 0; i < kept.count; ++i)
        values[i] = float_of(static_cast<uint32_t>(kept.magnitudes[i]));
    for (size_t i = 0; i < padded; i += lanes) {
        for (size_t lane = 0; lane < lanes; ++lane)  // by 1/256 each, or the sum could overflow
            sums[lane] += values[i + lane] * (1.0F / kept_max_float);
    }
    const float mean = sum_of_lanes(sums) / static_cast<float>(kept.count) * kept_max_float;
    if (mean < core::topk_mean_min) return 0;

    constexpr int32_t code_max = (1 << core::topk_scale_bits) - 1;
    const auto mean_code = static_cast<int32_t>(bits_of(mean) >> 21U)
                           - static_cast<int32_t>(core::topk_scale_base) - tried_below;
    const int32_t lowest = mean_code < 1 ? 1 : mean_code;
    const int32_t first = lowest < code_max ? lowest : code_max;
    const float unit = 1.0F / mean;  // in units of the mean no square overflows
    for (size_t i = 0; i < padded; ++i)
        values[i] *= unit;
    int32_t best = first;
    float least = error_of(values, padded, scale_of(first) * unit);
    for (int32_t code = first + 1; code < first + tried && code <= code_max; ++code) {
        const float error = error_of(values, padded, scale_of(code) * unit);
        if (!(error < least)) continue;
        least = error;
        best = code;
    }
    return best;
}

}  // namespace

void keep_topk(const float* values, size_t count, size_t keep, core::TopkChunk& out) {
    Magnitudes magnitudes;
    take_magnitudes(values, count, magnitudes);
    Candidates kept;
    collect(magnitudes, bound_of_chunk(magnitudes, keep), kept);
    leave_largest(kept, keep);
    out.count = 0;
    const int32_t code = kept.count == 0 ? 0 : best_scale(kept);
    out.scale = static_cast<uint32_t>(code);
    if (code == 0) return;

    const float scale = scale_of(code);
    for (size_t i = 0; i < kept.count; ++i) {
        const float magnitude = float_of(static_cast<uint32_t>(kept.magnitudes[i]));
        if (magnitude < 0.5F * scale) continue;  // nearer to zero than to the scale
        const uint32_t is_negative = bits_of(values[kept.places[i]]) >> 31U;
        const uint32_t is_double = magnitude < 1.5F * scale ? 0 : 1;
        out.places[out.count] = kept.places[i];
        out.codes[out.count] = static_cast<uint8_t>(is_negative | is_double << 1U);
        ++out.count;
    }
    if (out.count == 0) out.scale = 0;
}

}  // namespace p2p::kernels::P2P_KERNEL_NAMESPACE
