// Forms of codes with a scale a block: q8 and q4 (core/codec/form).
// All scales stand before all codes, so that both runs are straight. Scaling, rounding and packing
// are the kernels'.

#include <string>

#include "core/codec/form.hpp"

namespace p2p::core {

namespace {

constexpr std::uint32_t infinity_bits = 0x7f800000U;

std::size_t block_count(std::size_t floats) {
    return (floats + q8_block_floats - 1) / q8_block_floats;
}

std::size_t scales_bytes(std::size_t floats) {
    return block_count(floats) * sizeof(float);
}

/// Of q8 one code is a byte, of q4 two are.
template <std::size_t codes_a_byte>
std::size_t payload_bytes(std::size_t floats) {
    return scales_bytes(floats) + (floats + codes_a_byte - 1) / codes_a_byte;
}

/// Where the scales and the codes of a slice stand in a payload, counted from its start.
struct BlockPlace {
    std::size_t scales;
    std::size_t codes;
};

template <std::size_t codes_a_byte>
BlockPlace place_of(const SlicePlace& place) {
    return {
        .scales = place.first / q8_block_floats * sizeof(float),
        .codes = scales_bytes(place.floats) + place.first / codes_a_byte};
}

/// `code` is one of the kernels' encode_q8 and encode_q4.
template <std::size_t codes_a_byte, auto code>
void encode_blocks(
    const Kernels& kernels, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    const BlockPlace at = place_of<codes_a_byte>(place);
    (kernels.*code)(
        slice.data(),
        slice.size(),
        {.seed = place.seed, .first_block = place.first / q8_block_floats},
        payload + at.scales,
        payload + at.codes);
}

template <std::size_t codes_a_byte, auto code>
void decode_blocks(
    const Kernels& kernels,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    const BlockPlace at = place_of<codes_a_byte>(place);
    (kernels.*code)(payload + at.scales, payload + at.codes, slice.size(), slice.data());
}

bool is_any(std::uint64_t /*seed*/) {
    return true;
}

/// Positive zero up to the largest finite number.
bool is_scale(std::uint32_t bits) {
    return bits < infinity_bits;
}

Status check_scales(ByteView payload, std::size_t floats) {
    for (std::size_t block = 0; block < block_count(floats); ++block) {
        if (is_scale(load_le<std::uint32_t>(payload.data() + block * sizeof(float)))) continue;
        return Error{
            .code = ErrorCode::malformed,
            .what = "encoded shard refused",
            .why = "the scale of block " + std::to_string(block) + " is negative or not finite",
            .next = "the swap is refused; look at that peer's loss"};
    }
    return {};
}

}  // namespace

const Form q8_form{
    .slice_unit = q8_block_floats,
    .is_seed = is_any,
    .payload_bytes = payload_bytes<1>,
    .encode = encode_blocks<1, &Kernels::encode_q8>,
    .check = check_scales,
    .decode = decode_blocks<1, &Kernels::decode_q8>};
const Form q4_form{
    .slice_unit = q8_block_floats,
    .is_seed = is_any,
    .payload_bytes = payload_bytes<2>,
    .encode = encode_blocks<2, &Kernels::encode_q4>,
    .check = check_scales,
    .decode = decode_blocks<2, &Kernels::decode_q4>};

}  // namespace p2p::core
