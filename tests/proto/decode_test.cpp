#include "proto/decode.hpp"

#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "proto/encode.hpp"
#include "proto/msgpack.hpp"
#include "proto/wire_kinds.hpp"
#include "tests/support/messages.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ErrorCode;
using core::Message;
using tests::decoded;
using tests::encoded;
using tests::is_bulk;
using tests::test_identity;
namespace limits = core::limits;

bool is_signed(const Message& message) {
    return std::visit(
        [](const auto& value) {
            return requires {
                value.signed_bytes;
            };
        },
        message);
}

ErrorCode code_of(const core::Result<Message>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::interrupted : result.error().code;
}

TEST(Decode, RefusesEveryTruncation) {
    const auto self = test_identity(1);
    for (const auto& [name, message] : tests::fixed_messages(self.id())) {
        const Bytes bytes = encoded(message, self);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const bool is_shorter_blob =
                std::holds_alternative<core::BlobChunk>(message) && size > blob_chunk_header_bytes;
            if (is_shorter_blob) continue;  // pieces of a blob may have any size
            const Bytes start(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_FALSE(decoded(is_bulk(message), start)) << name << " cut to " << size;
        }
    }
}

TEST(Decode, RefusesBytesLeftOver) {
    const auto self = test_identity(1);
    for (const auto& [name, message] : tests::fixed_messages(self.id())) {
        Bytes bytes = encoded(message, self);
        bytes.push_back(0);
        EXPECT_FALSE(decoded(is_bulk(message), bytes)) << name;
    }
}

TEST(Decode, RefusesAFlippedBitOrTakesItAsTheOneEncodingOfAnotherMessage) {
    const auto self = test_identity(1);
    for (const auto& [name, message] : tests::fixed_messages(self.id())) {
        Bytes bytes = encoded(message, self);
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
            bytes[bit / 8] ^= mask;
            const auto other = decoded(is_bulk(message), bytes);
            // Encoding checks the limits of what it is given.
            if (other) {
                EXPECT_EQ(bytes, encoded(*other, self)) << name << " bit " << bit;
            }
            EXPECT_FALSE(other && is_signed(message)) << name << " bit " << bit;
            bytes[bit / 8] ^= mask;
        }
    }
}

TEST(Decode, NeverTakesRandomDamageAsAnythingButItsOneEncoding) {
    const auto self = test_identity(1);
    const auto messages = tests::fixed_messages(self.id());
    core::Rng rng(5);
    int taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Message& message = messages[rng.below(messages.size())].message;
        Bytes bytes = encoded(message, self);
        for (std::uint64_t edits = 1 + rng.below(4); edits > 0; --edits) {
            bytes[rng.below(bytes.size())] = static_cast<std::uint8_t>(rng.next_u32());
        }
        const auto other = decoded(is_bulk(message), bytes);
        if (!other) continue;
        ++taken;
        EXPECT_EQ(bytes, encoded(*other, self)) << i;
    }
    EXPECT_GT(taken, 100);
}

TEST(Decode, CallsAFlippedBitInSignedContentForged) {
    const auto self = test_identity(1);
    for (const auto& [name, message] : tests::fixed_messages(self.id())) {
        if (!is_signed(message)) continue;
        Bytes bytes = encoded(message, self);
        const auto text = core::as_text(bytes);
        const std::size_t content = text.find(signed_domain);
        const std::size_t end = bytes.size() - 64 - 2;  // before the signature and its head
        for (std::size_t at = content; at < end; ++at) {
            bytes[at] ^= 0x10;
            EXPECT_EQ(ErrorCode::forged, code_of(decode_control(bytes))) << name << " " << at;
            bytes[at] ^= 0x10;
        }
    }
}

TEST(Decode, RefusesARecordUnderTheNameOfAnother) {
    const auto self = test_identity(1);
    auto record = sign(core::JobControl{}, self);
    record.author = test_identity(2).id();
    EXPECT_EQ(ErrorCode::forged, code_of(decode_control(encode_control(record, self))));
}

TEST(Decode, RefusesAPeerRecordThatSpeaksForAnother) {
    const auto self = test_identity(1);
    const auto victim = test_identity(2);
    // What an honest encoder never makes: content about the victim, signed by us.
    const auto fixed = tests::fixed_messages(victim.id());
    auto record = sign(
        core::PeerRecord{
            .id = victim.id(),
            .incarnation = {},
            .name = {},
            .site = {},
            .addresses = {},
            .release = {}},
        victim);
    record.author = self.id();
    record.signature = self.sign(record.signed_bytes);
    Packer out;
    out.array(2).uint(3).array(1).array(3);
    out.binary(record.author.bytes).binary(record.signed_bytes).binary(record.signature);
    EXPECT_EQ(ErrorCode::forged, code_of(decode_control(out.bytes())));
}

/// A signed message of that kind around any content, validly signed.
Bytes signed_around(WireKind kind, const Bytes& content, const Identity& author) {
    Packer out;
    out.array(4).uint(static_cast<std::uint64_t>(kind));
    out.binary(author.id().bytes).binary(content).binary(author.sign(content));
    return out.take();
}

TEST(Decode, RefusesASignatureMadeForSomethingElse) {
    const auto self = test_identity(1);
    const auto end = sign(core::JobEnd{}, self);
    const auto as_control = signed_around(WireKind::job_control, end.signed_bytes, self);
    EXPECT_EQ(ErrorCode::forged, code_of(decode_control(as_control)));
    const auto bare = signed_around(WireKind::job_control, {1, 2, 3}, self);
    EXPECT_EQ(ErrorCode::forged, code_of(decode_control(bare)));
}

TEST(Decode, RefusesSignedContentThatMakesNoSense) {
    const auto self = test_identity(1);
    Bytes content = sign(core::JobControl{}, self).signed_bytes;
    content.back() = 9;  // an action that nobody knows
    const auto unknown = signed_around(WireKind::job_control, content, self);
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_control(unknown)));
    content.back() = 1;
    content.push_back(0);
    const auto longer = signed_around(WireKind::job_control, content, self);
    EXPECT_EQ(ErrorCode::malformed, code_of(decode_control(longer)));
}

TEST(Decode, RefusesInfinityInASignedReport) {
    const auto self = test_identity(1);
    Bytes content = sign(core::JobReport{}, self).signed_bytes;
    const std::size_t first_double = core::as_text(content).find('\xcb');
    content[first_double + 1] = 0x7f;
    content[first_double + 2] = 0xf0;
    const auto bytes = signed_around(WireKind::job_report, content, self);
    EXPECT_EQ(ErrorCode::not_finite, code_of(decode_control(bytes)));
}

TEST(Decode, RefusesSignedContentAboveItsLimit) {
    const auto self = test_identity(1);
    const auto bytes =
        signed_around(WireKind::job_control, Bytes(limits::signed_bytes_max + 1), self);
    EXPECT_EQ(ErrorCode::too_large, code_of(decode_control(bytes)));
}

TEST(Decode, RefusesAWrongNumberOfFields) {
    const auto ping = [](std::size_t count) {
        Packer out;
        out.array(count).uint(1);
        for (std::size_t i = 1; i < count; ++i) {
            out.uint(0);
        }
        return out.take();
    };
    EXPECT_TRUE(decode_control(ping(2)));
    EXPECT_EQ(ErrorCode::malformed, code_of(decode_control(ping(1))));
    EXPECT_EQ(ErrorCode::malformed, code_of(decode_control(ping(3))));
    EXPECT_EQ(ErrorCode::too_large, code_of(decode_control(ping(17))));
}

TEST(Decode, CallsAnUnknownKindUnsupported) {
    for (const std::uint8_t kind : Bytes{0, 5, 64, 65, 127}) {
        EXPECT_EQ(ErrorCode::unsupported, code_of(decode_control(Bytes{0x92, kind, 0}))) << +kind;
    }
    EXPECT_EQ(ErrorCode::unsupported, code_of(decode_bulk(Bytes(100, 1))));
}

TEST(Decode, RefusesWhatIsTooLongBeforeLookingAtIt) {
    const Bytes control(limits::control_message_bytes_max + 1);
    EXPECT_EQ(ErrorCode::too_large, code_of(decode_control(control)));
    Bytes bulk(swap_chunk_header_bytes + limits::chunk_bytes_max + 1);
    bulk[0] = 64;
    EXPECT_EQ(ErrorCode::too_large, code_of(decode_bulk(bulk)));
    EXPECT_EQ(ErrorCode::wrong_size, code_of(decode_bulk({})));
}

TEST(Decode, RefusesMoreRecordsThanAMessageHolds) {
    Packer out;
    out.array(2).uint(3).array(limits::records_a_message_max + 1);
    Bytes bytes = out.take();
    bytes.resize(bytes.size() + 1000);
    EXPECT_EQ(ErrorCode::too_large, code_of(decode_control(bytes)));
}

TEST(Decode, RefusesADoubleThatIsNoFloatWhereAFloatBelongs) {
    const auto open = [](double gamma) {
        Packer out;
        out.array(9).uint(16).binary(core::JobId{}.bytes).uint(0).uint(1).uint(0).uint(1).uint(0);
        out.f64(gamma).f64(0.5);
        return out.take();
    };
    EXPECT_TRUE(decode_control(open(0.25)));
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_control(open(0.1))));
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_control(open(1e300))));
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_control(open(0))));
    EXPECT_EQ(ErrorCode::not_finite, code_of(decode_control(open(0.0 / 0.0))));
}

TEST(Decode, RefusesChunksThatDoNotFitTheirTotal) {
    const core::SwapKey key{{}, {}, core::SwapNumber{1}};
    Bytes frame = encode_swap_chunk_header(key, 0, 10);
    frame.resize(frame.size() + 10);
    EXPECT_TRUE(decode_bulk(frame));
    frame.pop_back();
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_bulk(frame)));

    Bytes blob = encode_blob_chunk_header({}, 5, 10);
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_bulk(blob)));
    blob.resize(blob.size() + 5);
    EXPECT_TRUE(decode_bulk(blob));
    blob.push_back(0);
    EXPECT_EQ(ErrorCode::invalid, code_of(decode_bulk(blob)));
}

TEST(Decode, TakesTheAnswerThatABlobIsNotHeld) {
    const auto chunk = decode_bulk(encode_blob_chunk_header({}, 0, 0));
    ASSERT_TRUE(chunk);
    EXPECT_EQ(0U, std::get<core::BlobChunk>(*chunk).total);
}

}  // namespace
}  // namespace p2p::proto
