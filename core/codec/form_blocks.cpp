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

std::size_t q8_bytes(std::size_t floats) {
    return scales_bytes(floats) + floats;
}

std::size_t q4_bytes(std::size_t floats) {
    return scales_bytes(floats) + (floats + 1) / 2;
}

/// Where the scales and the codes of a slice stand in a payload, counted from its start.
struct BlockPlace {
    std::size_t scales;
    std::size_t codes;
};

BlockPlace q8_place(const SlicePlace& place) {
    return {
        .scales = place.first / q8_block_floats * sizeof(float),
        .codes = scales_bytes(place.floats) + place.first};
}

BlockPlace q4_place(const SlicePlace& place) {
    return {
        .scales = place.first / q8_block_floats * sizeof(float),
        .codes = scales_bytes(place.floats) + place.first / 2};
}

Q8Position position_of(const SlicePlace& place) {
    return {.seed = place.seed, .first_block = place.first / q8_block_floats};
}

void encode_q8(
    const Kernels& kernels, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    const BlockPlace at = q8_place(place);
    kernels.encode_q8(
        slice.data(), slice.size(), position_of(place), payload + at.scales, payload + at.codes);
}

void encode_q4(
    const Kernels& kernels, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    const BlockPlace at = q4_place(place);
    kernels.encode_q4(
        slice.data(), slice.size(), position_of(place), payload + at.scales, payload + at.codes);
}

void decode_q8(
    const Kernels& kernels,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    const BlockPlace at = q8_place(place);
    kernels.decode_q8(payload + at.scales, payload + at.codes, slice.size(), slice.data());
}

void decode_q4(
    const Kernels& kernels,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    const BlockPlace at = q4_place(place);
    kernels.decode_q4(payload + at.scales, payload + at.codes, slice.size(), slice.data());
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
    .payload_bytes = q8_bytes,
    .encode = encode_q8,
    .check = check_scales,
    .decode = decode_q8};
const Form q4_form{
    .slice_unit = q8_block_floats,
    .is_seed = is_any,
    .payload_bytes = q4_bytes,
    .encode = encode_q4,
    .check = check_scales,
    .decode = decode_q4};

}  // namespace p2p::core
