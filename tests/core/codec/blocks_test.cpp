// q8 and q4: how far a code may be off, that the mean over seeds is the value, blocks at their
// edges.

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/core/codec/coded_blocks.hpp"

namespace p2p::core {
namespace {

TEST(Q8, IsOffByLessThanItsScale) {
    const auto values = normal_floats(10'000, 3);
    const Q8 coded = encode_q8(best(), values, 9);
    const auto decoded = decode_q8(best(), coded);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float scale = coded.scale(i / q8_block_floats);
        ASSERT_LT(std::abs(decoded[i] - values[i]), scale * 1.001F) << i;
    }
}

TEST(Q8, TellsTheMeanOverSeeds) {
    constexpr std::size_t seeds = 2000;
    const auto values = normal_floats(300, 4);  // one whole block and a short one
    std::vector<double> sums(values.size());
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto decoded = decode_q8(best(), encode_q8(best(), values, seed));
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += static_cast<double>(decoded[i]);
    }
    const Q8 coded = encode_q8(best(), values, 0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        // The variance of one rounding is at most scale^2 / 4; five standard errors.
        const double allowed = 5 * 0.5 * static_cast<double>(coded.scale(i / q8_block_floats))
                               / std::sqrt(static_cast<double>(seeds));
        ASSERT_NEAR(static_cast<double>(values[i]), sums[i] / seeds, allowed) << i;
    }
}

TEST(Q8, RoundsItsFloatsIndependently) {
    // Were the roundings of a block alike, their sum would spread far wider than 256 coins do.
    const std::vector<float> values(q8_block_floats, 0.5F / 127);
    std::vector<float> block = values;
    block[0] = 1.0F;  // the scale is 1/127, so that each other float is a fair coin
    double squares = 0;
    constexpr std::size_t seeds = 4000;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const Q8 coded = encode_q8(best(), block, seed);
        double ones = 0;
        for (std::size_t i = 1; i < block.size(); ++i)
            ones += coded.codes[i];
        squares += (ones - 127.5) * (ones - 127.5);
    }
    EXPECT_NEAR(255.0 / 4, squares / seeds, 255.0 / 4 * 0.12);  // 5 standard errors of a variance
}

TEST(Q8, DrawsOtherNumbersForAnotherSeedAndAnotherBlock) {
    const std::vector<float> values(512, 0.3F);
    std::vector<float> block = values;
    block[0] = block[256] = 1.0F;
    const Q8 coded = encode_q8(best(), block, 1);
    EXPECT_NE(coded.codes, encode_q8(best(), block, 2).codes);
    EXPECT_FALSE(
        std::equal(coded.codes.begin(), coded.codes.begin() + 256, coded.codes.begin() + 256));
}

TEST(Q8, KeepsTheLargestOfEachBlockAndNeverTurnsItsSign) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        std::vector<float> values = normal_floats(q8_block_floats, seed);
        values[seed % q8_block_floats] = 5.0F + static_cast<float>(seed);
        const auto code = encode_q8(best(), values, seed).codes[seed % q8_block_floats];
        ASSERT_EQ(127, code) << seed;
    }
}

TEST(Q8, GivesABlockOfZerosTheScaleZero) {
    const std::vector<float> values(q8_block_floats, -0.0F);
    const Q8 coded = encode_q8(best(), values, 1);
    EXPECT_EQ(Bytes(4), coded.scales);
    EXPECT_EQ(std::vector<float>(q8_block_floats, 0.0F), decode_q8(best(), coded));
}

TEST(Q8, TakesNumbersTooSmallForAScaleAsZeros) {
    const std::vector<float> values{smallest_float, 0x1p-120F, -0x1p-101F};
    EXPECT_EQ(std::vector<float>(3, 0.0F), decode_q8(best(), encode_q8(best(), values, 1)));
}

TEST(Q8, GivesABlockThatIsNotFiniteAScaleThatIsNot) {
    std::vector<float> values(q8_block_floats, 1.0F);
    values[77] = not_a_number;
    EXPECT_FALSE(std::isfinite(encode_q8(best(), values, 1).scale(0)));
    values[77] = -infinity;
    EXPECT_FALSE(std::isfinite(encode_q8(best(), values, 1).scale(0)));
}

TEST(Q4, IsOffByLessThanItsScaleInBlocksOfAnyLength) {
    for (const std::size_t floats : {1U, 2U, 3U, 255U, 256U, 257U, 300U, 511U, 10'000U}) {
        const auto values = normal_floats(floats, floats);
        const Q4 coded = encode_q4(best(), values, 9);
        const auto decoded = decode_q4(best(), coded, floats);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float scale = coded.scale(i / q8_block_floats);
            ASSERT_LT(std::abs(decoded[i] - values[i]), scale * 1.001F) << i << " of " << floats;
        }
    }
}

TEST(Q4, TellsTheMeanOverSeeds) {
    constexpr std::size_t seeds = 2000;
    const auto values = normal_floats(301, 4);
    std::vector<double> sums(values.size());
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto decoded = decode_q4(best(), encode_q4(best(), values, seed), values.size());
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += static_cast<double>(decoded[i]);
    }
    const Q4 coded = encode_q4(best(), values, 0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double allowed = 5 * 0.5 * static_cast<double>(coded.scale(i / q8_block_floats))
                               / std::sqrt(static_cast<double>(seeds));
        ASSERT_NEAR(static_cast<double>(values[i]), sums[i] / seeds, allowed) << i;
    }
}

TEST(Q4, CodesASliceAsPartOfTheWhole) {
    const auto values = normal_floats(1001, 5);
    const Q4 whole = encode_q4(best(), values, 3);
    Q4 parts{Bytes(16), Bytes(501)};
    best().encode_q4(values.data(), 512, {3, 0}, parts.scales.data(), parts.codes.data());
    best().encode_q4(
        values.data() + 512, 489, {3, 2}, parts.scales.data() + 8, parts.codes.data() + 256);
    EXPECT_EQ(whole, parts);
}

TEST(Q8, CodesASliceAsPartOfTheWhole) {
    const auto values = normal_floats(1000, 5);
    const Q8 whole = encode_q8(best(), values, 3);
    Q8 parts{Bytes(16), Bytes(1000)};
    best().encode_q8(values.data(), 512, {3, 0}, parts.scales.data(), parts.codes.data());
    best().encode_q8(
        values.data() + 512, 488, {3, 2}, parts.scales.data() + 8, parts.codes.data() + 512);
    EXPECT_EQ(whole, parts);
}

}  // namespace
}  // namespace p2p::core
