#include "core/codec/codec.hpp"

#include <limits>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/form.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t codec_at = 0;
constexpr std::size_t keyframe_at = 1;
constexpr std::size_t zero_at = 2;
constexpr std::size_t floats_at = 4;
constexpr std::size_t seed_at = 8;

const Form& form_of(Coding coding) {
    switch (coding.codec) {
        case CodecId::fp32: return fp32_form;
        case CodecId::bf16: return bf16_form;
        case CodecId::q8: return q8_form;
        case CodecId::q4: return q4_form;
        case CodecId::fp16: return fp16_form;
        case CodecId::delta_q8: return coding.keyframe ? bf16_form : q8_form;
        case CodecId::delta_q4: return coding.keyframe ? bf16_form : q4_form;
        case CodecId::delta_topk16: return coding.keyframe ? bf16_form : topk16_form;
        case CodecId::delta_topk64: return coding.keyframe ? bf16_form : topk64_form;
        case CodecId::delta_topk256: return coding.keyframe ? bf16_form : topk256_form;
        case CodecId::modulo_1: return coding.keyframe ? bf16_form : modulo1_form;
        case CodecId::modulo_2: return coding.keyframe ? bf16_form : modulo2_form;
        case CodecId::modulo_4: return coding.keyframe ? bf16_form : modulo4_form;
        case CodecId::modulo_8: return coding.keyframe ? bf16_form : modulo8_form;
    }
    P2P_CHECK(false);  // no enumerator
    return fp32_form;
}

/// A header of our own, or one that check_encoding() has passed.
EncodingHeader trusted_header(ByteView encoding, std::size_t first, std::size_t slice_floats) {
    const EncodingHeader header = read_header(encoding);
    P2P_CHECK(
        encoding.size()
        == encoded_bytes(header.coding.codec, header.floats, header.coding.keyframe));
    const std::size_t unit = form_of(header.coding).slice_unit;
    P2P_CHECK(first % unit == 0 && first <= header.floats);
    P2P_CHECK(slice_floats <= header.floats - first);
    P2P_CHECK(slice_floats % unit == 0 || first + slice_floats == header.floats);
    return header;
}

}  // namespace

EncodingHeader read_header(ByteView encoding) {
    P2P_CHECK(encoding.size() >= encoding_header_bytes);
    return {
        .coding =
            {.codec = static_cast<CodecId>(encoding[codec_at]),
             .keyframe = encoding[keyframe_at] != 0},
        .floats = load_le<std::uint32_t>(encoding.data() + floats_at),
        .seed = load_le<std::uint64_t>(encoding.data() + seed_at)};
}

Error refused_encoding(ErrorCode code, std::string why) {
    return Error{
        .code = code,
        .what = "encoded shard refused",
        .why = std::move(why),
        .next = "compare the versions of both ends"};
}

Coding normalized(Coding coding) {
    return {.codec = coding.codec, .keyframe = coding.keyframe && has_keyframe(coding.codec)};
}

std::size_t encoded_bytes(CodecId codec, std::size_t floats, bool keyframe) {
    return encoding_header_bytes + form_of({codec, keyframe}).payload_bytes(floats);
}

Bytes encode(const Kernels& kernels, Coding coding, FloatView values, std::uint64_t seed) {
    Bytes encoding = start_encoding(coding, values.size(), seed);
    encode_slice(kernels, values, /*first=*/0, encoding);
    return encoding;
}

Status decode(const Kernels& kernels, Coding coding, ByteView bytes, MutableFloatView out) {
    if (Status status = check_encoding(coding, bytes, out.size()); !status) return status;
    decode_slice(kernels, bytes, /*first=*/0, out);
    return {};
}

Bytes start_encoding(Coding coding, std::size_t floats, std::uint64_t seed) {
    P2P_CHECK(floats <= std::numeric_limits<std::uint32_t>::max());
    const Coding told = normalized(coding);
    Bytes encoding(encoded_bytes(told.codec, floats, told.keyframe));
    encoding[codec_at] = static_cast<std::uint8_t>(told.codec);
    encoding[keyframe_at] = told.keyframe ? 1 : 0;
    store_le(encoding.data() + floats_at, static_cast<std::uint32_t>(floats));
    store_le(encoding.data() + seed_at, form_of(told).is_seed != nullptr ? seed : std::uint64_t{0});
    return encoding;
}

void encode_slice(
    const Kernels& kernels, FloatView slice, std::size_t first, MutableByteView encoding) {
    const EncodingHeader header = trusted_header(encoding, first, slice.size());
    if (slice.empty()) return;
    const Form& form = form_of(header.coding);
    P2P_CHECK(form.encode != nullptr);
    form.encode(
        kernels,
        slice,
        {.first = first, .floats = header.floats, .seed = header.seed},
        encoding.data() + encoding_header_bytes);
}

Status check_encoding(Coding coding, ByteView bytes, std::size_t floats) {
    const Coding told = normalized(coding);
    if (bytes.size() != encoded_bytes(told.codec, floats, told.keyframe)) {
        return refused_encoding(
            ErrorCode::wrong_size,
            std::to_string(bytes.size()) + " bytes do not make "
                + std::string(codec_name(told.codec)) + " of " + std::to_string(floats)
                + " floats");
    }
    if (bytes[codec_at] != static_cast<std::uint8_t>(told.codec)
        || bytes[keyframe_at] != (told.keyframe ? 1 : 0)) {
        return refused_encoding(ErrorCode::malformed, "it names another codec than was agreed");
    }
    if (bytes[zero_at] != 0 || bytes[zero_at + 1] != 0) {
        return refused_encoding(ErrorCode::malformed, "reserved bytes are not zero");
    }
    const EncodingHeader header = read_header(bytes);
    if (header.floats != floats) {
        return refused_encoding(
            ErrorCode::wrong_size,
            "it says " + std::to_string(header.floats) + " floats, the layout says "
                + std::to_string(floats));
    }
    const Form& form = form_of(told);
    const bool is_seed = form.is_seed == nullptr ? header.seed == 0 : form.is_seed(header.seed);
    if (!is_seed) return refused_encoding(ErrorCode::malformed, "a seed that means nothing");
    if (form.check == nullptr) return {};
    return form.check(bytes.subspan(encoding_header_bytes), floats);
}

void decode_slice(
    const Kernels& kernels, ByteView encoding, std::size_t first, MutableFloatView slice) {
    const EncodingHeader header = trusted_header(encoding, first, slice.size());
    if (slice.empty()) return;
    const Form& form = form_of(header.coding);
    P2P_CHECK(form.decode != nullptr);
    form.decode(
        kernels,
        encoding.data() + encoding_header_bytes,
        {.first = first, .floats = header.floats, .seed = header.seed},
        slice);
}

}  // namespace p2p::core
