#include "core/data/idx.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "core/data/gzip.hpp"
#include "tests/core/data/idx_bytes.hpp"

namespace p2p::core {
namespace {

Bytes counting(std::size_t count) {
    Bytes values(count);
    std::iota(values.begin(), values.end(), std::uint8_t{1});
    return values;
}

/// The three values 7, 8, 9: magic, type 8, one dimension, extent 3 big-endian, values.
const Bytes golden{0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};

void expect_error(ErrorCode code, const Bytes& file) {
    const auto result = parse_idx(file);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(code, result.error().code) << result.error().text();
    EXPECT_FALSE(result.error().why.empty());
    EXPECT_FALSE(result.error().next.empty());
}

TEST(ParseIdx, ReadsTheGoldenFile) {
    EXPECT_EQ((IdxArray{{3}, {7, 8, 9}}), parse_idx(golden).value());
}

TEST(ParseIdx, ReadsOneToThreeDimensionsPlainAndGzipped) {
    const std::vector<std::vector<std::uint32_t>> shapes{{24}, {6, 4}, {2, 3, 4}};
    for (const auto& shape : shapes) {
        const Bytes file = idx_bytes(shape, counting(24));
        const IdxArray expected{shape, counting(24)};
        EXPECT_EQ(expected, parse_idx(file).value());
        EXPECT_EQ(expected, parse_idx(gzipped(file)).value());
    }
}

TEST(ParseIdx, RefusesEachPrefixOfAFile) {
    const Bytes file = idx_bytes({2, 3}, counting(6));
    const Bytes compressed = gzipped(file);
    for (std::size_t size = 0; size < file.size(); ++size)
        expect_error(ErrorCode::wrong_size, {file.data(), file.data() + size});
    for (std::size_t size = 0; size < compressed.size(); ++size)
        EXPECT_FALSE(parse_idx(ByteView(compressed).first(size)).has_value()) << size;
    for (std::size_t size = 0; size < file.size(); ++size)
        expect_error(ErrorCode::wrong_size, gzipped({file.data(), file.data() + size}));
}

TEST(ParseIdx, RefusesBytesAfterTheLastValue) {
    Bytes file = idx_bytes({3}, counting(4));
    expect_error(ErrorCode::wrong_size, file);
    expect_error(ErrorCode::wrong_size, gzipped(file));
    Bytes compressed = gzipped(golden);
    compressed.push_back(0);
    expect_error(ErrorCode::wrong_size, compressed);
}

TEST(ParseIdx, RefusesAWrongMagic) {
    expect_error(ErrorCode::malformed, {1, 0, 8, 1, 0, 0, 0, 1, 7});
    expect_error(ErrorCode::malformed, {0, 1, 8, 1, 0, 0, 0, 1, 7});
    expect_error(ErrorCode::malformed, to_bytes(as_bytes("<!DOCTYPE html>")));
}

TEST(ParseIdx, RefusesOtherTypesAndDimensions) {
    expect_error(ErrorCode::unsupported, {0, 0, 13, 1, 0, 0, 0, 1, 7, 7, 7, 7});
    expect_error(ErrorCode::unsupported, {0, 0, 8, 0, 7});
    expect_error(ErrorCode::unsupported, idx_bytes({1, 1, 1, 1}, {7}));
}

TEST(ParseIdx, RefusesAnExtentOfZero) {
    expect_error(ErrorCode::malformed, idx_bytes({0}, {}));
    expect_error(ErrorCode::malformed, idx_bytes({3, 0}, {}));
}

TEST(ParseIdx, RefusesSizesBeyondTheLimitAlsoWhereTheProductWouldWrap) {
    expect_error(ErrorCode::too_large, idx_bytes({~0U, 2}, {}));
    expect_error(ErrorCode::too_large, idx_bytes({1U << 31U, 1U << 31U, 4}, {}));
    expect_error(ErrorCode::too_large, gzipped(idx_bytes({~0U, ~0U, ~0U}, {})));
}

TEST(ParseIdx, AllocatesNothingForAPromiseThatTheFileCannotHold) {
    // 4 GiB - 1 promised by a few bytes; were it allocated, this test would swap.
    expect_error(ErrorCode::wrong_size, idx_bytes({~0U}, {1, 2, 3}));
    expect_error(ErrorCode::wrong_size, gzipped(idx_bytes({~0U}, {1, 2, 3})));
}

TEST(ParseIdx, ReadsWhatCompressesToTheUtmost) {
    const Bytes file = idx_bytes({4000, 1000}, Bytes(4'000'000));
    EXPECT_EQ(4'000'000U, parse_idx(gzipped(file)).value().values.size());
}

TEST(ParseIdx, NeverReadsOtherValuesFromAGzipFileWithAFlippedBit) {
    const Bytes file = idx_bytes({40}, counting(40));
    const Bytes good = gzipped(file);
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        Bytes bad = good;
        bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
        const auto result = parse_idx(bad);
        refused += result ? 0U : 1U;
        if (result) {
            EXPECT_EQ(counting(40), result->values) << bit;
        }
    }
    EXPECT_GT(refused, 7 * good.size());  // times, flags and padding may pass
}

TEST(GzipReader, ReadsInPiecesAndThenFindsTheEnd) {
    const Bytes contents = counting(100);
    const Bytes compressed = gzipped(contents);
    GzipReader reader(compressed);
    Bytes out(100);
    ASSERT_TRUE(reader.read(MutableByteView(out).first(1)));
    ASSERT_TRUE(reader.read(MutableByteView(out).subspan(1)));
    EXPECT_TRUE(reader.finish());
    EXPECT_EQ(contents, out);
}

TEST(GzipReader, FailsAgainAfterAnError) {
    Bytes damaged = gzipped(counting(100));
    damaged[10] |= 0x06U;  // a block type that does not exist
    GzipReader reader(damaged);
    Bytes out(100);
    EXPECT_FALSE(reader.read(out).is_ok());
    EXPECT_FALSE(reader.read(out).is_ok());
    EXPECT_FALSE(reader.finish().is_ok());
}

}  // namespace
}  // namespace p2p::core
