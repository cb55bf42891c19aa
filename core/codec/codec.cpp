#include "core/codec/codec.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t codec_at = 0;
constexpr std::size_t keyframe_at = 1;
constexpr std::size_t zero_at = 2;
constexpr std::size_t floats_at = 4;
constexpr std::size_t seed_at = 8;

constexpr std::uint32_t infinity_bits = 0x7f800000U;

/// How a payload is laid out; several codings share one.
enum class Form : std::uint8_t { fp32, bf16, q8, q4 };

Form form_of(Coding coding) {
    switch (coding.codec) {
        case CodecId::fp32: return Form::fp32;
        case CodecId::bf16: return Form::bf16;
        case CodecId::q8: return Form::q8;
        case CodecId::q4: return Form::q4;
        case CodecId::delta_q8: return coding.keyframe ? Form::bf16 : Form::q8;
        case CodecId::delta_q4: return coding.keyframe ? Form::bf16 : Form::q4;
    }
    P2P_CHECK(false);  // no enumerator
    return Form::fp32;
}

std::size_t block_count(std::size_t floats) {
    return (floats + q8_block_floats - 1) / q8_block_floats;
}

bool has_blocks(Form form) {
    return form == Form::q8 || form == Form::q4;
}

std::size_t payload_bytes(Form form, std::size_t floats) {
    switch (form) {
        case Form::fp32: return floats * sizeof(float);
        case Form::bf16: return floats * 2;
        case Form::q8: return block_count(floats) * sizeof(float) + floats;
        case Form::q4: return block_count(floats) * sizeof(float) + (floats + 1) / 2;
    }
    P2P_CHECK(false);  // no enumerator
    return 0;
}

/// What a header says, once it is known to be whole.
struct Header {
    Coding coding;
    std::size_t floats = 0;
    std::uint64_t seed = 0;
};

Header read_header(ByteView encoding) {
    P2P_CHECK(encoding.size() >= encoding_header_bytes);
    return {
        .coding =
            {.codec = static_cast<CodecId>(encoding[codec_at]),
             .keyframe = encoding[keyframe_at] != 0},
        .floats = load_le<std::uint32_t>(encoding.data() + floats_at),
        .seed = load_le<std::uint64_t>(encoding.data() + seed_at)};
}

/// A header of our own, or one that check_encoding() has passed.
Header trusted_header(ByteView encoding, std::size_t first, std::size_t slice_floats) {
    const Header header = read_header(encoding);
    P2P_CHECK(
        encoding.size()
        == encoded_bytes(header.coding.codec, header.floats, header.coding.keyframe));
    P2P_CHECK(first % q8_block_floats == 0 && first <= header.floats);
    P2P_CHECK(slice_floats <= header.floats - first);
    P2P_CHECK(slice_floats % q8_block_floats == 0 || first + slice_floats == header.floats);
    return header;
}

/// Where the scales and the codes of a slice stand in a payload of blocks, counted from its start.
struct BlockPlace {
    std::size_t scales;
    std::size_t codes;
};

BlockPlace place_of(Form form, std::size_t floats, std::size_t first) {
    return {
        .scales = first / q8_block_floats * sizeof(float),
        .codes = block_count(floats) * sizeof(float) + (form == Form::q4 ? first / 2 : first)};
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

Error refused(ErrorCode code, std::string why) {
    return Error{
        .code = code,
        .what = "encoded shard refused",
        .why = std::move(why),
        .next = "compare the versions of both ends"};
}

}  // namespace

Coding normalized(Coding coding) {
    return {.codec = coding.codec, .keyframe = coding.keyframe && has_reference(coding.codec)};
}

std::size_t encoded_bytes(CodecId codec, std::size_t floats, bool keyframe) {
    return encoding_header_bytes + payload_bytes(form_of({codec, keyframe}), floats);
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
    store_le(encoding.data() + seed_at, has_blocks(form_of(told)) ? seed : std::uint64_t{0});
    return encoding;
}

void encode_slice(
    const Kernels& kernels, FloatView slice, std::size_t first, MutableByteView encoding) {
    const Header header = trusted_header(encoding, first, slice.size());
    std::uint8_t* payload = encoding.data() + encoding_header_bytes;
    if (slice.empty()) return;
    const Form form = form_of(header.coding);
    switch (form) {
        case Form::fp32:
            std::memcpy(payload + first * sizeof(float), slice.data(), slice.size_bytes());
            return;
        case Form::bf16:
            kernels.encode_bf16(slice.data(), slice.size(), payload + first * 2);
            return;
        case Form::q8:
        case Form::q4:
            const BlockPlace place = place_of(form, header.floats, first);
            (form == Form::q8 ? kernels.encode_q8 : kernels.encode_q4)(
                slice.data(),
                slice.size(),
                {.seed = header.seed, .first_block = first / q8_block_floats},
                payload + place.scales,
                payload + place.codes);
            return;
    }
}

Status check_encoding(Coding coding, ByteView bytes, std::size_t floats) {
    const Coding told = normalized(coding);
    if (bytes.size() != encoded_bytes(told.codec, floats, told.keyframe)) {
        return refused(
            ErrorCode::wrong_size,
            std::to_string(bytes.size()) + " bytes do not make "
                + std::string(codec_name(told.codec)) + " of " + std::to_string(floats)
                + " floats");
    }
    if (bytes[codec_at] != static_cast<std::uint8_t>(told.codec)
        || bytes[keyframe_at] != (told.keyframe ? 1 : 0)) {
        return refused(ErrorCode::malformed, "it names another codec than was agreed");
    }
    if (bytes[zero_at] != 0 || bytes[zero_at + 1] != 0) {
        return refused(ErrorCode::malformed, "reserved bytes are not zero");
    }
    const Header header = read_header(bytes);
    if (header.floats != floats) {
        return refused(
            ErrorCode::wrong_size,
            "it says " + std::to_string(header.floats) + " floats, the layout says "
                + std::to_string(floats));
    }
    if (has_blocks(form_of(told)))
        return check_scales(bytes.subspan(encoding_header_bytes), floats);
    if (header.seed != 0) return refused(ErrorCode::malformed, "a seed where nothing is drawn");
    return {};
}

void decode_slice(
    const Kernels& kernels, ByteView encoding, std::size_t first, MutableFloatView slice) {
    const Header header = trusted_header(encoding, first, slice.size());
    const std::uint8_t* payload = encoding.data() + encoding_header_bytes;
    if (slice.empty()) return;
    const Form form = form_of(header.coding);
    switch (form) {
        case Form::fp32:
            std::memcpy(slice.data(), payload + first * sizeof(float), slice.size_bytes());
            return;
        case Form::bf16:
            kernels.decode_bf16(payload + first * 2, slice.size(), slice.data());
            return;
        case Form::q8:
        case Form::q4:
            const BlockPlace place = place_of(form, header.floats, first);
            (form == Form::q8 ? kernels.decode_q8 : kernels.decode_q4)(
                payload + place.scales, payload + place.codes, slice.size(), slice.data());
            return;
    }
}

}  // namespace p2p::core
