// Forms of one number a float: fp32 as it is, bf16 and fp16 rounded (core/codec/form).
// The rounding is the kernels'; any bytes of the right length are values, so nothing is checked.

#include <cstring>

#include "core/codec/form.hpp"

namespace p2p::core {

namespace {

std::size_t fp32_bytes(std::size_t floats) {
    return floats * sizeof(float);
}

std::size_t half_bytes(std::size_t floats) {
    return floats * 2;
}

void encode_fp32(
    const Kernels& /*kernels*/, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    std::memcpy(payload + place.first * sizeof(float), slice.data(), slice.size_bytes());
}

void decode_fp32(
    const Kernels& /*kernels*/,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    std::memcpy(slice.data(), payload + place.first * sizeof(float), slice.size_bytes());
}

/// `cast` is one of the kernels' encode_bf16 and encode_fp16.
template <auto cast>
void encode_half(
    const Kernels& kernels, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    (kernels.*cast)(slice.data(), slice.size(), payload + place.first * 2);
}

template <auto cast>
void decode_half(
    const Kernels& kernels,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    (kernels.*cast)(payload + place.first * 2, slice.size(), slice.data());
}

}  // namespace

const Form fp32_form{
    .payload_bytes = fp32_bytes, .encode = encode_fp32, .check = nullptr, .decode = decode_fp32};
const Form bf16_form{
    .payload_bytes = half_bytes,
    .encode = encode_half<&Kernels::encode_bf16>,
    .check = nullptr,
    .decode = decode_half<&Kernels::decode_bf16>};
const Form fp16_form{
    .payload_bytes = half_bytes,
    .encode = encode_half<&Kernels::encode_fp16>,
    .check = nullptr,
    .decode = decode_half<&Kernels::decode_fp16>};

}  // namespace p2p::core
