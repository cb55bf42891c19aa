// Encodings have their exact length, mean the same on every machine, and refuse everything else.

#include "core/codec/codec.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "core/codec/kernels.hpp"

namespace p2p::core {
namespace {

const Kernels& best() {
    return kernels(best_kernel_level());
}

constexpr std::array<Coding, 14> codings{{
    {CodecId::fp32, false},
    {CodecId::bf16, false},
    {CodecId::fp16, false},
    {CodecId::q8, false},
    {CodecId::q4, false},
    {CodecId::delta_q4, false},
    {CodecId::delta_q4, true},
    {CodecId::delta_q8, false},
    {CodecId::delta_q8, true},
    {CodecId::delta_topk16, false},
    {CodecId::delta_topk64, false},
    {CodecId::delta_topk64, true},
    {CodecId::delta_topk256, false},
    {CodecId::modulo_4, true},
}};

std::vector<float> normal_floats(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(rng.normal());
    }
    return values;
}

/// Decodes into a marked vector; the mark shows whether anything was written.
ErrorCode refusal(Coding coding, const Bytes& bytes, std::size_t floats) {
    std::vector<float> out(floats, 42.0F);
    const Status status = decode(best(), coding, bytes, out);
    EXPECT_EQ(std::vector<float>(floats, 42.0F), out);
    return status.error().code;
}

TEST(Codec, MakesExactlyTheBytesItSays) {
    for (const Coding coding : codings) {
        for (const std::size_t floats : {0U, 1U, 255U, 256U, 257U, 1000U}) {
            const Bytes bytes = encode(best(), coding, normal_floats(floats, 1), 2);
            ASSERT_EQ(encoded_bytes(coding.codec, floats, coding.keyframe), bytes.size());
        }
    }
}

TEST(Codec, TakesTheBytesThatItsNameSays) {
    EXPECT_EQ(16 + 4000U, encoded_bytes(CodecId::fp32, 1000, false));
    EXPECT_EQ(16 + 2000U, encoded_bytes(CodecId::bf16, 1000, false));
    EXPECT_EQ(16 + 2000U, encoded_bytes(CodecId::fp16, 1000, false));
    EXPECT_EQ(16 + 1016U, encoded_bytes(CodecId::q8, 1000, false));
    EXPECT_EQ(16 + 516U, encoded_bytes(CodecId::q4, 1000, false));
    EXPECT_EQ(16 + 517U, encoded_bytes(CodecId::delta_q4, 1001, false));
    EXPECT_EQ(16 + 1016U, encoded_bytes(CodecId::delta_q8, 1000, false));
    EXPECT_EQ(16 + 2000U, encoded_bytes(CodecId::delta_q8, 1000, true));
}

TEST(Codec, DecodesToValuesAsNearAsTheCodingIsFine) {
    const auto values = normal_floats(1000, 1);
    for (const Coding coding : codings) {
        if (is_sparse(coding.codec) && !coding.keyframe)
            continue;  // tells a few of them: topk_test
        std::vector<float> decoded(values.size());
        ASSERT_TRUE(decode(best(), coding, encode(best(), coding, values, 3), decoded));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool is_coarse = encoded_bytes(coding.codec, 256, coding.keyframe) < 256;
            ASSERT_NEAR(values[i], decoded[i], 5.0 / (is_coarse ? 7 : 127))
                << codec_name(coding.codec);
        }
    }
}

TEST(Codec, KeepsFp32Exactly) {
    const auto values = normal_floats(777, 1);
    std::vector<float> decoded(values.size());
    const Coding coding{.codec = CodecId::fp32};
    ASSERT_TRUE(decode(best(), coding, encode(best(), coding, values, 0), decoded));
    EXPECT_EQ(values, decoded);
}

TEST(Codec, CodesInSlicesAsInOnePiece) {
    const auto values = normal_floats(10'000, 1);
    for (const Coding coding : codings) {
        const Bytes whole = encode(best(), coding, values, 5);
        Bytes sliced = start_encoding(coding, values.size(), 5);
        std::vector<float> decoded(values.size());
        for (const std::size_t first : {8192U, 0U}) {
            const std::size_t count = first == 0 ? 8192 : values.size() - first;
            encode_slice(best(), FloatView(values).subspan(first, count), first, sliced);
            decode_slice(best(), whole, first, MutableFloatView(decoded).subspan(first, count));
        }
        ASSERT_EQ(whole, sliced);
        std::vector<float> at_once(values.size());
        ASSERT_TRUE(decode(best(), coding, whole, at_once));
        ASSERT_EQ(at_once, decoded);
    }
}

TEST(Codec, IgnoresTheKeyframeWhereThereAreNoReferences) {
    const auto values = normal_floats(10, 1);
    EXPECT_EQ(
        encode(best(), {CodecId::q8, true}, values, 1),
        encode(best(), {CodecId::q8, false}, values, 1));
}

// Golden bytes: what is on the wire never changes under a codec's number. Those of q8 and q4 come
// from a second implementation, in Python, with exact fractions.

const std::vector<float> golden_values{1.0F, -2.5F, 0.1F, 0.0F, 127.0F};

TEST(Codec, WritesFp32AsEver) {
    EXPECT_EQ(
        "010000000500000000000000000000000000803f000020c0cdcccc3d000000000000fe42",
        to_hex(encode(best(), {CodecId::fp32, false}, golden_values, 9)));
}

TEST(Codec, WritesBf16AsEver) {
    EXPECT_EQ(
        "02000000050000000000000000000000803f20c0cd3d0000fe42",
        to_hex(encode(best(), {CodecId::bf16, false}, golden_values, 9)));
}

TEST(Codec, WritesFp16AsEver) {
    // By Python's struct: ''.join(struct.pack('<e', x).hex() for x in values)
    EXPECT_EQ(
        "05000000050000000000000000000000003c00c1662e0000f057",
        to_hex(encode(best(), {CodecId::fp16, false}, golden_values, 9)));
}

TEST(Codec, WritesQ8AsEver) {
    EXPECT_EQ(
        "030000000500000009000000000000000000803f01fd00007f",
        to_hex(encode(best(), {CodecId::q8, false}, golden_values, 9)));
}

TEST(Codec, WritesQ4AsEver) {
    const std::vector<float> values{1.0F, -2.5F, 0.1F, 3.0F, -7.0F};
    EXPECT_EQ(
        "040000000500000009000000000000000000803f319d00",
        to_hex(encode(best(), {CodecId::q4, false}, values, 9)));
    EXPECT_EQ(
        "110000000500000009000000000000000000803f319d00",
        to_hex(encode(best(), {CodecId::delta_q4, false}, values, 9)));
}

TEST(Codec, WritesDeltasAsEver) {
    EXPECT_EQ(
        "100000000500000009000000000000000000803f01fd00007f",
        to_hex(encode(best(), {CodecId::delta_q8, false}, golden_values, 9)));
    EXPECT_EQ(
        "10010000050000000000000000000000803f20c0cd3d0000fe42",
        to_hex(encode(best(), {CodecId::delta_q8, true}, golden_values, 9)));
}

// What is refused.

TEST(Codec, RefusesEveryTruncation) {
    for (const Coding coding : codings) {
        const Bytes whole = encode(best(), coding, normal_floats(300, 1), 1);
        for (std::size_t length = 0; length < whole.size(); length += 7) {
            const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
            ASSERT_EQ(ErrorCode::wrong_size, refusal(coding, cut, 300));
        }
    }
}

TEST(Codec, RefusesABytesTooMany) {
    for (const Coding coding : codings) {
        Bytes longer = encode(best(), coding, normal_floats(300, 1), 1);
        longer.push_back(0);
        ASSERT_EQ(ErrorCode::wrong_size, refusal(coding, longer, 300));
    }
}

TEST(Codec, RefusesAnotherCountThanTheLayouts) {
    for (const Coding coding : codings) {
        Bytes bytes = encode(best(), coding, normal_floats(300, 1), 1);
        ASSERT_EQ(ErrorCode::wrong_size, refusal(coding, bytes, 299));
        bytes[4] ^= 1U;  // the count in the header
        ASSERT_EQ(ErrorCode::wrong_size, refusal(coding, bytes, 300));
    }
}

TEST(Codec, RefusesAnotherCodecOfTheSameLength) {
    const auto values = normal_floats(300, 1);
    const Bytes q8 = encode(best(), {CodecId::q8, false}, values, 1);
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::delta_q8, false}, q8, 300));
    const Bytes keyframe = encode(best(), {CodecId::delta_q8, true}, values, 1);
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::bf16, false}, keyframe, 300));
    Bytes unknown = q8;
    unknown[0] = 99;
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::q8, false}, unknown, 300));
}

TEST(Codec, RefusesAHeaderWithOtherBitsThanItWrites) {
    Bytes bytes = encode(best(), {CodecId::bf16, false}, normal_floats(3, 1), 1);
    bytes[2] = 1;
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::bf16, false}, bytes, 3));
    bytes[2] = 0;
    bytes[8] = 1;  // a seed
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::bf16, false}, bytes, 3));
    bytes[8] = 0;
    bytes[1] = 1;  // a keyframe
    EXPECT_EQ(ErrorCode::malformed, refusal({CodecId::bf16, false}, bytes, 3));
}

TEST(Codec, RefusesAScaleThatIsNegativeOrNotFinite) {
    const Bytes good = encode(best(), {CodecId::q8, false}, normal_floats(300, 1), 1);
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity(),
          -1.0F,
          -0.0F}) {
        Bytes bytes = good;
        std::memcpy(bytes.data() + encoding_header_bytes + 4, &bad, sizeof bad);
        ASSERT_EQ(ErrorCode::malformed, refusal({CodecId::q8, false}, bytes, 300)) << bad;
    }
}

}  // namespace
}  // namespace p2p::core
