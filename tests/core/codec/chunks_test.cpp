#include "core/codec/chunks.hpp"

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::core {
namespace {

constexpr std::uint64_t piece = limits::chunk_bytes_max;

Bytes counting_bytes(std::size_t count) {
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::uint8_t>(i % 251);
    return bytes;
}

ByteView part(const Bytes& whole, ChunkRange range) {
    return ByteView(whole).subspan(static_cast<std::size_t>(range.offset), range.length);
}

ErrorCode error_of(const Result<bool>& result) {
    return result.error().code;
}

TEST(Chunks, CoverTheWholeWithoutGaps) {
    for (const std::uint64_t total :
         {std::uint64_t{1}, piece - 1, piece, piece + 1, 3 * piece, 3 * piece + 7}) {
        std::uint64_t end = 0;
        for (const ChunkRange range : split(total)) {
            ASSERT_EQ(end, range.offset);
            ASSERT_LE(range.length, piece);
            ASSERT_GT(range.length, 0U);
            end += range.length;
        }
        ASSERT_EQ(total, end);
        ASSERT_EQ(chunk_count(total), split(total).size());
    }
}

TEST(Chunks, OfNothingAreNone) {
    EXPECT_TRUE(split(0).empty());
    EXPECT_TRUE(ChunkAssembly(0).is_complete());
}

TEST(ChunkAssembly, GivesBackWhatWasSplitInAnyOrder) {
    const Bytes whole = counting_bytes(5 * piece + 123);
    std::vector<ChunkRange> ranges = split(whole.size());
    Rng(1).shuffle(std::span(ranges));
    ChunkAssembly assembly(whole.size());
    std::uint64_t held = 0;
    for (const ChunkRange range : ranges) {
        ASSERT_FALSE(assembly.is_complete());
        ASSERT_TRUE(*assembly.accept(range.offset, part(whole, range)));
        held += range.length;
        ASSERT_EQ(held, assembly.bytes_held());
    }
    ASSERT_TRUE(assembly.is_complete());
    EXPECT_EQ(whole, assembly.take());
}

TEST(ChunkAssembly, TakesAPieceAgainWithoutCountingItTwice) {
    const Bytes whole = counting_bytes(2 * piece);
    ChunkAssembly assembly(whole.size());
    ASSERT_TRUE(*assembly.accept(0, part(whole, {0, piece})));
    EXPECT_FALSE(*assembly.accept(0, Bytes(piece, 0xff)));
    EXPECT_EQ(piece, assembly.bytes_held());
    ASSERT_TRUE(*assembly.accept(piece, part(whole, {piece, piece})));
    EXPECT_EQ(whole, assembly.take());
}

TEST(ChunkAssembly, RefusesWhatIsNoPieceAndStaysAsItWas) {
    ChunkAssembly assembly(2 * piece + 10);
    const Bytes full(piece);
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(1, full)));              // misaligned
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(3 * piece, full)));      // outside
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(2 * piece, full)));      // too long
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(0, Bytes(piece - 1))));  // too short
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(0, {})));                // empty
    EXPECT_EQ(ErrorCode::wrong_size, error_of(assembly.accept(UINT64_MAX / piece * piece, full)));
    EXPECT_EQ(0U, assembly.bytes_held());
    EXPECT_EQ(Bytes(1), assembly.held());
}

TEST(ChunkAssembly, OfNothingRefusesEveryPiece) {
    ChunkAssembly assembly(0);
    EXPECT_FALSE(assembly.accept(0, {}).has_value());
}

TEST(ChunkAssembly, ToldToTheSenderLacksExactlyWhatHasNotCome) {
    const Bytes whole = counting_bytes(9 * piece + 1);
    ChunkAssembly assembly(whole.size());
    for (const std::size_t index : {0U, 3U, 8U}) {
        const ChunkRange range = chunk_at(whole.size(), index);
        ASSERT_TRUE(*assembly.accept(range.offset, part(whole, range)));
    }
    const auto missing = missing_chunks(whole.size(), assembly.held());
    ASSERT_TRUE(missing.has_value());
    ASSERT_EQ(7U, missing->size());
    for (const ChunkRange range : *missing) {
        ASSERT_TRUE(*assembly.accept(range.offset, part(whole, range)));
    }
    EXPECT_EQ(whole, assembly.take());
}

TEST(MissingChunks, AreRefusedForABitmapOfAnotherLength) {
    EXPECT_EQ(ErrorCode::wrong_size, missing_chunks(9 * piece, Bytes(1)).error().code);
    EXPECT_EQ(ErrorCode::wrong_size, missing_chunks(9 * piece, Bytes(3)).error().code);
}

TEST(MissingChunks, AreRefusedForABitPastTheLastPiece) {
    EXPECT_EQ(ErrorCode::malformed, missing_chunks(9 * piece, Bytes{0, 2}).error().code);
    EXPECT_TRUE(missing_chunks(9 * piece, Bytes{0, 1}).has_value());
}

}  // namespace
}  // namespace p2p::core
