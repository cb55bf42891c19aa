// topk: exactly the largest are kept and each comes back as near as two levels allow, in the bits
// that it claims; whatever else a payload says is refused.

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "core/codec/codec.hpp"
#include "core/codec/edge.hpp"
#include "tests/core/codec/coded_blocks.hpp"

namespace p2p::core {
namespace {

using Floats = std::vector<float>;

constexpr std::size_t whole = topk_chunk_floats;
constexpr Coding topk64{CodecId::delta_topk64, false};

float scale_of(std::uint32_t code) {
    return std::bit_cast<float>((code + topk_scale_base) << 21U);
}

TopkChunk keep(const Floats& values, std::size_t count) {
    TopkChunk chunk{};
    best().keep_topk(values.data(), values.size(), count, chunk);
    return chunk;
}

/// The places of the `count` largest, by a sort: what the kernel must not need.
std::vector<std::size_t> largest_places(const Floats& values, std::size_t count) {
    std::vector<std::size_t> places(values.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(values[a]) > std::abs(values[b]);
    });
    places.resize(std::min(count, places.size()));
    std::sort(places.begin(), places.end());
    return places;
}

double squared_error(const Floats& values, const std::vector<std::size_t>& kept, float scale) {
    double error = 0;
    for (const std::size_t place : kept) {
        const float size = std::abs(values[place]);
        const float level = size < 0.5F * scale ? 0 : size < 1.5F * scale ? scale : 2 * scale;
        error += std::pow(static_cast<double>(size) - static_cast<double>(level), 2);
    }
    return error;
}

/// Chunks of every kind: spread thin and thick, with ties, nearly empty, clustered, in a stride.
std::vector<Floats> chunks_of(std::size_t floats, std::uint64_t seed) {
    Floats normal = normal_floats(floats, seed);
    std::vector<Floats> chunks{normal, Floats(floats, 0.0F), Floats(floats, -0.25F)};
    Floats heavy = normal;
    Floats tied = normal;
    Floats sparse(floats, 0.0F);
    Floats clustered = normal;
    Floats strided = normal;
    for (std::size_t i = 0; i < floats; ++i) {
        heavy[i] = std::pow(normal[i], 7.0F);
        tied[i] = std::round(normal[i]);
        if (i % 997 == 3) sparse[i] = normal[i];
        if (i < floats / 8) clustered[i] *= 100;
        if (i % 64 == 5) strided[i] *= 100;
    }
    chunks.insert(chunks.end(), {heavy, tied, sparse, clustered, strided});
    return chunks;
}

TEST(Topk, KeepsExactlyTheLargestLessThoseNearerToZeroThanToTheScale) {
    for (const std::size_t floats : {1U, 2U, 64U, 1000U, 4095U, 4096U}) {
        for (const std::size_t count : {1U, 4U, 16U, 64U, 256U}) {
            for (const Floats& values : chunks_of(floats, floats + count)) {
                const TopkChunk chunk = keep(values, count);
                std::vector<std::size_t> expected = largest_places(values, count);
                std::erase_if(expected, [&](std::size_t place) {
                    return chunk.scale == 0
                           || std::abs(values[place]) < 0.5F * scale_of(chunk.scale);
                });
                ASSERT_EQ(
                    expected, std::vector<std::size_t>(chunk.places, chunk.places + chunk.count));
            }
        }
    }
}

TEST(Topk, TellsNothingOnlyWhereThereIsNothingToTell) {
    for (const Floats& values : chunks_of(whole, 3)) {
        const bool is_zero =
            std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
        EXPECT_EQ(is_zero, keep(values, 64).scale == 0);
    }
    EXPECT_EQ(0U, keep(Floats(whole, smallest_float), 64).scale);  // too small for any scale
}

TEST(Topk, ChoosesTheScaleOfLeastErrorToTheKeptValues) {
    for (const std::size_t count : {16U, 64U, 256U}) {
        for (const Floats& values : {normal_floats(whole, 1), chunks_of(whole, 2)[5]}) {
            const TopkChunk chunk = keep(values, count);
            const auto kept = largest_places(values, count);
            const double error = squared_error(values, kept, scale_of(chunk.scale));
            for (std::uint32_t code = 1; code < (1U << topk_scale_bits); ++code)
                ASSERT_LE(error, squared_error(values, kept, scale_of(code)) * 1.0001) << code;
        }
    }
}

TEST(Topk, KeepsAlmostAllEnergyOfTheValuesThatItKeeps) {
    for (const std::size_t count : {16U, 64U, 256U}) {
        const Floats values = normal_floats(whole, count);
        const auto kept = largest_places(values, count);
        const double all = squared_error(values, kept, infinity);
        const double error = squared_error(values, kept, scale_of(keep(values, count).scale));
        EXPECT_LT(error, 0.03 * all) << count;
    }
}

TEST(Topk, NeverMovesAValueFurtherFromTheTruthThanNothingWould) {
    for (const std::size_t floats : {1U, 300U, 4096U, 10'000U}) {
        for (const Floats& values : chunks_of(floats, 9)) {
            Floats decoded(floats, 7.0F);
            ASSERT_TRUE(decode(best(), topk64, encode(best(), topk64, values, 0), decoded));
            for (std::size_t i = 0; i < floats; ++i)
                ASSERT_LE(std::abs(values[i] - decoded[i]), std::abs(values[i])) << i;
        }
    }
}

TEST(Topk, ComesBackAsTheKernelGaveIt) {
    for (const std::size_t floats : {1U, 63U, 64U, 65U, 4095U, 4096U}) {
        for (const Floats& values : chunks_of(floats, floats)) {
            const TopkChunk chunk = keep(values, (64 * floats + whole - 1) / whole);
            Floats expected(floats, 0.0F);
            for (std::size_t i = 0; i < chunk.count; ++i) {
                const float level = scale_of(chunk.scale) * ((chunk.codes[i] & 2U) != 0 ? 2 : 1);
                expected[chunk.places[i]] = (chunk.codes[i] & 1U) != 0 ? -level : level;
            }
            Floats decoded(floats);
            ASSERT_TRUE(decode(best(), topk64, encode(best(), topk64, values, 0), decoded));
            ASSERT_EQ(expected, decoded) << floats;
        }
    }
}

TEST(Topk, IsSoundForEveryLengthOfAShortChunk) {
    const Floats values = normal_floats(whole, 11);
    for (const CodecId codec :
         {CodecId::delta_topk16, CodecId::delta_topk64, CodecId::delta_topk256}) {
        const Coding coding{codec, false};
        for (std::size_t floats = 1; floats <= whole; ++floats) {
            const FloatView part = FloatView(values).first(floats);
            const Bytes bytes = encode(best(), coding, part, 0);
            const Status status = check_encoding(coding, bytes, floats);
            ASSERT_TRUE(status) << floats << " floats: " << status.error().text();
        }
    }
}

TEST(Topk, TakesFewerBitsThanItsRivals) {
    const auto bits = [](CodecId codec) {
        const std::size_t floats = 1000 * whole;
        return 8.0 * static_cast<double>(encoded_bytes(codec, floats, false))
               / static_cast<double>(floats);
    };
    EXPECT_LT(bits(CodecId::delta_topk16), 0.05);
    EXPECT_LT(bits(CodecId::delta_topk64), 0.16);
    EXPECT_LT(bits(CodecId::delta_topk256), 0.51);
}

TEST(Topk, SpendsLittleMoreOnPlacesThanTheirEntropy) {
    for (const auto& [codec, kept, allowed] :
         {std::tuple{CodecId::delta_topk16, 16.0, 1.08},
          {CodecId::delta_topk64, 64.0, 1.09},
          {CodecId::delta_topk256, 256.0, 1.12}}) {
        const double n = whole;
        const double entropy =
            (std::lgamma(n + 1) - std::lgamma(kept + 1) - std::lgamma(n - kept + 1))
            / std::log(2.0);
        const std::size_t bytes = encoded_bytes(codec, whole, false) - encoding_header_bytes;
        const double places = 8 * static_cast<double>(bytes) - 2 * kept - topk_scale_bits;
        EXPECT_LT(places, allowed * entropy);
    }
}

TEST(Topk, TellsTheRestInLaterSwaps) {
    constexpr std::size_t floats = 9000;
    const Floats zeros(floats, 0.0F);
    const Floats target = normal_floats(floats, 4);
    for (const CodecId codec : {CodecId::delta_topk64, CodecId::delta_topk256}) {
        EdgeCodec low(floats, true, best());
        EdgeCodec high(floats, false, kernels(KernelLevel::scalar));
        double last = infinity;
        for (std::uint64_t n = 0; n < 200; ++n) {
            const Floats& at_low = n == 0 ? zeros : target;
            const auto from_low = low.encode(at_low, codec, n == 0, n);
            const auto from_high = high.encode(zeros, codec, n == 0, n);
            ASSERT_TRUE(low.decode(*from_high.bytes, codec, n == 0));
            ASSERT_TRUE(high.decode(*from_low.bytes, codec, n == 0));
            ASSERT_EQ(low.swap_hash(), high.swap_hash());
            Floats apart(floats);
            high.displacement(1.0F, apart);
            double error = 0;
            for (std::size_t i = 0; i < floats && n > 0; ++i)
                error += std::pow(static_cast<double>(target[i] - apart[i]), 2);
            ASSERT_TRUE(error < last || error < 1e-9) << n;
            if (n > 0) last = error;
            low.commit();
            high.commit();
        }
        EXPECT_LT(last, 1e-3 * floats);
    }
}

// What is refused.

/// A whole chunk of 128 floats, of which topk(64) keeps 2: 9 bits of scale, 4 of codes, 12 of low
/// bits, 3 of the bitmap, 4 of nothing.
struct Tiny {
    static constexpr std::size_t floats = 128;
    Bytes bytes = encode(best(), topk64, values(), 0);

    static Floats values() {
        Floats two(floats, 0.0F);
        two[3] = 1.0F;
        two[70] = -2.0F;
        return two;
    }

    void flip(std::size_t bit) {
        auto& byte = bytes[encoding_header_bytes + bit / 8];
        byte = static_cast<std::uint8_t>(byte ^ (1U << (bit % 8)));
    }

    [[nodiscard]] bool is_taken() const {
        Floats out(floats);
        return decode(best(), topk64, bytes, out).is_ok();
    }
};

TEST(Topk, WritesItsBitsAsEver) {
    // By hand: scale 1.0 is 508 - 124 = 384; codes 0 and 3; low bits 3 and 6; ones at 0 and 2.
    EXPECT_EQ("130000008000000000000000000000008079300a", to_hex(Tiny{}.bytes));
}

TEST(Topk, RefusesPlacesThatDoNotRise) {
    Tiny falling;
    falling.flip(13 + 12 + 2);  // the second one of the bitmap moves: both in the lower half
    falling.flip(13 + 12 + 1);
    EXPECT_TRUE(falling.is_taken());  // 3, then 6
    falling.flip(13 + 2);             // the first becomes 7
    EXPECT_FALSE(falling.is_taken());
}

TEST(Topk, RefusesARepeatedPlaceThatHasACode) {
    Tiny repeated;
    repeated.flip(13 + 12 + 2);
    repeated.flip(13 + 12 + 1);
    repeated.flip(13 + 6);  // 6 becomes 7 ...
    repeated.flip(13 + 2);  // ... and so does 3
    EXPECT_FALSE(repeated.is_taken());
    repeated.flip(9 + 2);
    repeated.flip(9 + 3);
    EXPECT_TRUE(repeated.is_taken());
}

TEST(Topk, RefusesABitmapOfMoreOrFewerOnes) {
    Tiny more;
    more.flip(13 + 12 + 1);
    EXPECT_FALSE(more.is_taken());
    Tiny fewer;
    fewer.flip(13 + 12);
    EXPECT_FALSE(fewer.is_taken());
}

TEST(Topk, RefusesBitsThatMeanNothing) {
    for (std::size_t bit = 28; bit < 32; ++bit) {
        Tiny tail;
        tail.flip(bit);
        EXPECT_FALSE(tail.is_taken()) << bit;
    }
    Tiny nothing;
    nothing.flip(7);
    nothing.flip(8);  // the scale is 0 now
    EXPECT_FALSE(nothing.is_taken());
}

TEST(Topk, RefusesAPlacePastTheEndOfAShortChunk) {
    Floats values(100, 0.0F);
    values[99] = 1.0F;
    Bytes bytes = encode(best(), topk64, values, 0);  // keeps 2 of 100: 5 low bits
    Floats out(100);
    ASSERT_TRUE(decode(best(), topk64, bytes, out));
    EXPECT_EQ(values, out);
    const std::size_t low_bit = 13 + 5 + 2;  // 99 is 3 * 32 + 3; the repeat becomes 103
    bytes[encoding_header_bytes + low_bit / 8] ^= static_cast<std::uint8_t>(1U << (low_bit % 8));
    EXPECT_FALSE(decode(best(), topk64, bytes, out));
}

}  // namespace
}  // namespace p2p::core
