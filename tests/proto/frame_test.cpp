#include "proto/frame.hpp"

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ByteView;
using core::ErrorCode;

Bytes frame(FrameKind kind, std::uint16_t stream, const Bytes& body) {
    Bytes bytes(frame_header_bytes);
    write_frame_header(kind, stream, body.size(), bytes);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

ErrorCode refusal(const Bytes& bytes) {
    return FrameReader(bytes).next().error().code;
}

Bytes joined(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(Frame, IsReadAsItWasWrittenAmongOthers) {
    const Bytes record = joined(
        frame(FrameKind::control, 0, {1, 2, 3}),
        joined(frame(FrameKind::bulk, 513, Bytes(300, 9)), frame(FrameKind::rekey, 0, {})));
    FrameReader reader(record);
    const Frame control = reader.next().value();
    EXPECT_EQ(FrameKind::control, control.kind);
    EXPECT_EQ((Bytes{1, 2, 3}), core::to_bytes(control.body));
    const Frame bulk = reader.next().value();
    EXPECT_EQ(FrameKind::bulk, bulk.kind);
    EXPECT_EQ(513, bulk.stream);
    EXPECT_EQ(300U, bulk.body.size());
    EXPECT_FALSE(reader.at_end());
    EXPECT_EQ(FrameKind::rekey, reader.next().value().kind);
    EXPECT_TRUE(reader.at_end());
}

TEST(Frame, HasTheHeaderThatTheDocumentShows) {
    EXPECT_EQ((Bytes{4, 0, 0x02, 0x01, 1, 0, 0xaa}), frame(FrameKind::bulk, 0x0102, {0xaa}));
}

TEST(Frame, IsRefusedWhenCutOffAnywhere) {
    const Bytes whole = frame(FrameKind::control, 0, {1, 2, 3});
    for (std::size_t length = 1; length < whole.size(); ++length) {
        const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(length));
        EXPECT_EQ(ErrorCode::malformed, refusal(cut)) << length;
    }
}

TEST(Frame, IsRefusedWithUnknownKindFlagsOrAStreamWhereNoneBelongs) {
    for (const int kind : {0, 7, 8, 255}) {
        Bytes bytes = frame(FrameKind::control, 0, {1});
        bytes[0] = static_cast<std::uint8_t>(kind);
        EXPECT_EQ(ErrorCode::unsupported, refusal(bytes)) << kind;
    }
    Bytes flagged = frame(FrameKind::bulk, 0, {1});
    flagged[1] = 1;
    EXPECT_EQ(ErrorCode::unsupported, refusal(flagged));
    EXPECT_EQ(ErrorCode::malformed, refusal(frame(FrameKind::control, 1, {1})));
}

TEST(Frame, IsRefusedWhereItsKindAllowsNoSuchLength) {
    const std::size_t control_max = core::limits::control_message_bytes_max;
    EXPECT_TRUE(FrameReader(frame(FrameKind::control, 0, Bytes(control_max, 1))).next());
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::control, 0, Bytes(control_max + 1))));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::control, 0, {})));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::bulk, 0, {})));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::rekey, 0, {1})));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::confirm, 0, {1})));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::hello, 0, Bytes(5000))));
    EXPECT_EQ(ErrorCode::too_large, refusal(frame(FrameKind::close, 0, Bytes(1025))));
}

Bytes record_of(std::size_t length, std::uint8_t fill) {
    Bytes bytes{static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8U)};
    bytes.insert(bytes.end(), length, fill);
    return bytes;
}

TEST(RecordReader, GivesTheSameRecordsHoweverTheStreamIsCut) {
    core::Rng rng(11);
    Bytes stream;
    std::vector<Bytes> records;
    for (int i = 0; i < 40; ++i) {
        const auto length = static_cast<std::size_t>(22 + rng.below(i % 8 == 0 ? 60'000 : 300));
        const Bytes record = record_of(length, static_cast<std::uint8_t>(i));
        records.emplace_back(record.begin() + record_prefix_bytes, record.end());
        stream = joined(std::move(stream), record);
    }
    for (const std::size_t piece_max : {1U, 2U, 3U, 100U, 65'536U, 1'000'000U}) {
        RecordReader reader;
        std::vector<Bytes> seen;
        for (ByteView rest = stream; !rest.empty();) {
            ByteView piece =
                rest.first(std::min<std::size_t>(rest.size(), 1 + rng.below(piece_max)));
            rest = rest.subspan(piece.size());
            while (!piece.empty()) {
                const auto record = reader.next(piece, 65'535).value();
                if (record) seen.push_back(core::to_bytes(*record));
            }
        }
        EXPECT_EQ(records, seen) << piece_max;
    }
}

TEST(RecordReader, RefusesALengthAsSoonAsItIsKnown) {
    for (const std::size_t length : {0U, 15U, 21U, 101U, 65'535U}) {
        const Bytes prefix = record_of(length, 0);
        ByteView whole(prefix.data(), 2);
        EXPECT_EQ(ErrorCode::wrong_size, RecordReader().next(whole, 100).error().code) << length;
        RecordReader reader;
        ByteView first(prefix.data(), 1);
        ByteView second(prefix.data() + 1, 1);
        EXPECT_FALSE(reader.next(first, 100).value());
        EXPECT_FALSE(reader.next(second, 100)) << length;
    }
}

}  // namespace
}  // namespace p2p::proto
