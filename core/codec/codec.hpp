#pragma once

// One shard as bytes: fp32, bf16, fp16, q8, q4 and topk, behind a header of 16 bytes.
//
// What is here keeps no state: `delta(...)` finds the coding of its difference and of its keyframe
// here, the references belong to codec/edge; how each payload is laid out is codec/form. Nothing is
// allocated by a number from the bytes: the caller knows the count from the job's layout, and bytes
// that say otherwise are refused.
//
//   codec u8 | keyframe u8 | 0 u16 | floats u32 | seed u64 | payload        (little-endian)
//   payload:  fp32  floats x 4 bytes
//             bf16  floats x 2 bytes (also every keyframe)
//             fp16  floats x 2 bytes
//             q8    one float32 scale a block of 256, then floats x 1 byte (also delta(q8))
//             q4    the same with half a byte a float, rounded up (also delta(q4))
//             topk  the k largest of each 4096 floats, each in 2 bits, with their places in a
//                   fixed number of bits (codec/form_topk); only delta(topk(k))
//             modulo(b)  the last b bits of each, for who holds a value near (codec/form_modulo);
//                   not coded by encode() and decode() here, which know of no other value

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/codec_id.hpp"
#include "core/base/result.hpp"
#include "core/codec/kernel_table.hpp"

namespace p2p::core {

inline constexpr std::size_t encoding_header_bytes = 16;

/// What both ends agreed on for a swap.
struct Coding {
    CodecId codec = CodecId::fp32;
    bool keyframe = false;  ///< whole values; only codecs that have keyframes look at it

    bool operator==(const Coding&) const = default;
};

/// The same coding with `keyframe` cleared where the codec has no keyframes.
[[nodiscard]] Coding normalized(Coding coding);

/// The exact length of an encoding, header included.
[[nodiscard]] std::size_t encoded_bytes(CodecId codec, std::size_t floats, bool keyframe);

/// Encodes all of `values` (for a delta: the difference to the reference). `seed` draws the
/// rounding of q8 and q4 and is ignored by the others. @pre all values are finite for them; no
/// modulo but its keyframe
[[nodiscard]] Bytes encode(
    const Kernels& kernels, Coding coding, FloatView values, std::uint64_t seed);

/// What the bytes stand for, into `out`, which has the size that the layout says. Errors: malformed
/// (header, or a scale that is negative or not finite), wrong_size; `out` is untouched by them.
/// Values of fp32, bf16 and fp16 may be NaN or infinite: the swap's statistics tell.
Status decode(const Kernels& kernels, Coding coding, ByteView bytes, MutableFloatView out);

// The same in slices, for callers that want each slice to stay in cache between two passes.
// `first` is the slice's first float, a multiple of its form's slice_unit (core/codec/form).

/// An encoding with its header written and its payload still zero.
[[nodiscard]] Bytes start_encoding(Coding coding, std::size_t floats, std::uint64_t seed);

/// Writes the payload of one slice. @pre `encoding` came from start_encoding
void encode_slice(
    const Kernels& kernels, FloatView slice, std::size_t first, MutableByteView encoding);

/// Everything that decode() refuses, and nothing else.
Status check_encoding(Coding coding, ByteView bytes, std::size_t floats);

/// @pre check_encoding() was ok for `encoding`
void decode_slice(
    const Kernels& kernels, ByteView encoding, std::size_t first, MutableFloatView slice);

}  // namespace p2p::core
