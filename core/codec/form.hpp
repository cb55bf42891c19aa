#pragma once

// How a payload is laid out: one Form for each way, several codecs may share one.
//
// A form is a row of functions on the payload alone; the header before it, the choice of the form
// and what is refused by length are core/codec/codec. A new form is one file form_*.cpp, its row
// here, and a line of form_of().

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/kernel_table.hpp"

namespace p2p::core {

/// One slice of a shard of `floats`, and where the shard's payload starts.
struct SlicePlace {
    std::size_t first = 0;   ///< the slice's first float, a multiple of the form's slice_unit
    std::size_t floats = 0;  ///< of the whole shard
    std::uint64_t seed = 0;  ///< of the header
};

struct Form {
    std::size_t slice_unit = 1;                ///< floats; slices start at a multiple of it
    bool (*is_seed)(std::uint64_t) = nullptr;  ///< what the header's seed may be; null: only 0
    std::size_t (*payload_bytes)(std::size_t floats) = nullptr;
    /// This and decode() are null where values need others beside them (form_modulo).
    void (*encode)(const Kernels&, FloatView, const SlicePlace&, std::uint8_t* payload) = nullptr;
    /// Everything that a payload of the right length may not say; null: any bytes will do.
    Status (*check)(ByteView payload, std::size_t floats) = nullptr;
    void (*decode)(
        const Kernels&, const std::uint8_t* payload, const SlicePlace&, MutableFloatView) = nullptr;
};

extern const Form fp32_form;  // form_casts
extern const Form bf16_form;
extern const Form fp16_form;
extern const Form q8_form;  // form_blocks
extern const Form q4_form;
extern const Form topk16_form;  // form_topk
extern const Form topk64_form;
extern const Form topk256_form;
extern const Form modulo1_form;  // form_modulo
extern const Form modulo2_form;
extern const Form modulo4_form;
extern const Form modulo8_form;

/// What a header says, once it is known to be whole.
struct EncodingHeader {
    Coding coding;
    std::size_t floats = 0;
    std::uint64_t seed = 0;
};

/// @pre `encoding` has a whole header
[[nodiscard]] EncodingHeader read_header(ByteView encoding);

/// What check() says of bytes that it refuses.
[[nodiscard]] Error refused_encoding(ErrorCode code, std::string why);

}  // namespace p2p::core
