#pragma once

// The arithmetic of the codecs and the merge, as one table of functions a kernel level.
//
// kernels_level.cpp is compiled once for each level and fills one table; all tables give the same
// bits, since meshes mix processors: float sums run in 16 fixed lanes and a fixed tree, nothing is
// fused. A NaN stays a NaN, but which of its bit patterns is not promised.
// This header holds no std template, so that no level's compilation leaves a weak symbol.

#include <cstddef>
#include <cstdint>

namespace p2p::core {

/// Floats that share one scale in q8 and q4.
inline constexpr std::size_t q8_block_floats = 256;

/// Where a run of q8 blocks stands in the stream of random numbers of its seed.
struct Q8Position {
    std::uint64_t seed;         ///< of the whole encoding; travels in its header
    std::uint64_t first_block;  ///< index of the run's first block in the whole encoding
};

/// Floats of which topk keeps the largest few, and how many at most.
inline constexpr std::size_t topk_chunk_floats = 4096;
inline constexpr std::size_t topk_kept_max = 256;

/// A scale of topk is 2^-96 to 2^32 in steps of a quarter octave: the code and what is added to it
/// make the top of a float32's bits.
inline constexpr std::uint32_t topk_scale_bits = 9;
inline constexpr std::uint32_t topk_scale_base = 124;
inline constexpr float topk_mean_min = 0x1p-94F;  ///< of the kept magnitudes; below, all is zero

/// What topk keeps of a chunk.
struct TopkChunk {
    std::uint32_t count;                  ///< at most what was asked for
    std::uint32_t scale;                  ///< code of it, 0 where nothing is kept
    std::uint16_t places[topk_kept_max];  ///< rising
    std::uint8_t codes[topk_kept_max];    ///< bit 0: negative; bit 1: two scales instead of one
};

/// Floats that share one theta, and so one grid, in modulo.
inline constexpr std::size_t modulo_block_floats = 4096;

/// What the values of a block are rounded to, and how many bits of each multiple travel.
struct ModuloGrid {
    std::uint32_t bits;   ///< 1, 2, 4 or 8
    float step;           ///< finite, not negative; below 2^-100 only zeros can be told
    std::uint32_t phase;  ///< draws the offset of each place, the same at both ends
};

/// How far two blocks are apart.
struct Apart {
    double sum;       ///< of |a - b|
    float largest;    ///< |a - b|
    float magnitude;  ///< the largest |a| or |b|
};

/// Ranges never overlap but where a function says that it works in place. Bytes are little-endian
/// and may lie anywhere.
struct Kernels {
    /// 2 bytes a float, rounded to nearest even; NaN stays NaN.
    void (*encode_bf16)(const float* values, std::size_t count, std::uint8_t* out);
    void (*decode_bf16)(const std::uint8_t* in, std::size_t count, float* out);

    /// IEEE binary16, rounded to nearest even. A finite number too large for it becomes the largest
    /// that it has, 65504 with its sign; infinities stay infinite, NaN stays NaN. In integers, so
    /// that no processor's own conversion has a say.
    void (*encode_fp16)(const float* values, std::size_t count, std::uint8_t* out);
    void (*decode_fp16)(const std::uint8_t* in, std::size_t count, float* out);

    /// One float32 scale a block, max|x|/127, and one code a float, floor(x/scale + u) with u
    /// uniform in [0,1): the mean over seeds of scale * code is x, to float rounding. A block whose
    /// largest value is below 2^-100 gets scale 0. @pre all values are finite, else codes and
    /// scales mean nothing (a block with NaN or infinity gets a scale that is not finite)
    void (*encode_q8)(
        const float* values,
        std::size_t count,
        Q8Position position,
        std::uint8_t* scales,
        std::uint8_t* codes);
    /// out = scale * code.
    void (*decode_q8)(
        const std::uint8_t* scales, const std::uint8_t* codes, std::size_t count, float* out);

    /// As q8 in 4 bits: scale max|x|/7, codes -7 to 7. Of a block of n floats the first half, which
    /// is (n + 1) / 2, are the low nibbles of as many bytes, the rest the high ones.
    void (*encode_q4)(
        const float* values,
        std::size_t count,
        Q8Position position,
        std::uint8_t* scales,
        std::uint8_t* codes);
    void (*decode_q4)(
        const std::uint8_t* scales, const std::uint8_t* codes, std::size_t count, float* out);

    /// Of at most topk_chunk_floats values the `keep` largest by magnitude (of equal ones the
    /// first), less those nearer to 0 than to the scale, each to the nearer of one and two scales.
    /// The scale is the one of least error among eight around the mean of those magnitudes. So
    /// |rebuilt - x| is at most |x| for each, and in all less than before where anything was to
    /// tell.
    /// @pre 0 < keep <= topk_kept_max, all values are finite (else what is kept means nothing)
    void (*keep_topk)(const float* values, std::size_t count, std::size_t keep, TopkChunk& out);

    /// Of a block: rebuilt = step * (q + u) with the integer q = round(x / step - u), and the low
    /// `bits` of each q, packed. u in [0, 1) is the offset of the place: by it the error of a value
    /// is uniform whatever the value, and the mean of rounded distances is that of the true ones.
    /// Returns a digest of all q; where one passes 2^21, a digest that no decoding finds. Off by at
    /// most step / 2 and a rounding of x. @pre all values are finite
    std::uint32_t (*encode_modulo)(
        const float* values,
        std::size_t count,
        ModuloGrid grid,
        std::uint8_t* codes,
        float* rebuilt);
    /// Rebuilds what encode_modulo() did, to the bit, wherever `near` is off from the values by
    /// less than step * (2^(bits-1) - 1/2), less |x| * 2^-21 for the roundings; elsewhere other
    /// values. Returns the digest of what it found.
    std::uint32_t (*decode_modulo)(
        const std::uint8_t* codes,
        const float* near,
        std::size_t count,
        ModuloGrid grid,
        float* rebuilt);
    /// The same for (b, a). @pre all values are finite
    Apart (*measure_apart)(const float* a, const float* b, std::size_t count);

    /// Sum of x^2 in double; not finite exactly where some x is not.
    double (*sum_of_squares)(const float* values, std::size_t count);
    /// Sum of (a - b)^2 in double; the same double for (b, a).
    double (*sum_of_squared_differences)(const float* a, const float* b, std::size_t count);
    /// False where any value is NaN or infinite.
    bool (*is_finite)(const float* values, std::size_t count);

    /// out = weight * (a - b); exactly its negative for (b, a).
    void (*scaled_difference)(
        const float* a, const float* b, float weight, std::size_t count, float* out);
    /// In place: values += delta.
    void (*add)(const float* delta, std::size_t count, float* values);
    /// In place: values -= delta.
    void (*subtract)(const float* delta, std::size_t count, float* values);
};

}  // namespace p2p::core
