#include "proto/msgpack.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ErrorCode;

/// What the reader makes of `bytes` when a value of one kind is asked for.
template <typename Read>
core::Status read(const Bytes& bytes, Read&& read_value) {
    Unpacker in(bytes);
    read_value(in);
    return in.finish();
}

constexpr auto as_uint = [](Unpacker& in) {
    (void)in.read_uint();
};
constexpr auto as_integer = [](Unpacker& in) {
    (void)in.read_integer();
};
constexpr auto as_text = [](Unpacker& in) {
    (void)in.read_text(100);
};
constexpr auto as_binary = [](Unpacker& in) {
    (void)in.read_binary(100);
};
constexpr auto as_array = [](Unpacker& in) {
    (void)in.read_array(100);
};

TEST(Msgpack, GivesBackIntegersOnBothSidesOfEveryWidth) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t offset : {0ULL, 1ULL, ~0ULL}) {
            const std::uint64_t value = (std::uint64_t{1} << bit) + offset;
            const auto as_signed = static_cast<std::int64_t>(value);
            Packer out;
            out.uint(value).integer(as_signed).integer(~as_signed);
            Unpacker in(out.bytes());
            EXPECT_EQ(value, in.read_uint());
            EXPECT_EQ(as_signed, in.read_integer());
            EXPECT_EQ(~as_signed, in.read_integer());
            EXPECT_TRUE(in.finish()) << value;
        }
    }
}

TEST(Msgpack, GivesBackStringsOfEveryLengthClass) {
    for (const std::size_t length : {0U, 1U, 31U, 32U, 255U, 256U, 65535U, 65536U}) {
        const Bytes bytes(length, 0x61);
        Packer out;
        out.array(2).binary(bytes).text(core::as_text(bytes));
        Unpacker in(out.bytes());
        in.expect_array(2);
        EXPECT_EQ(bytes, core::to_bytes(in.read_binary(length)));
        EXPECT_EQ(core::as_text(bytes), in.read_text(length));
        EXPECT_TRUE(in.finish()) << length;
    }
}

TEST(Msgpack, GivesBackDoublesBooleansAndNil) {
    Packer out;
    out.array(6).f64(2.0).f64(-0.1).boolean(true).boolean(false).nil().f64(INFINITY);
    Unpacker in(out.bytes());
    EXPECT_EQ(6U, in.read_array(6));
    EXPECT_EQ(2.0, in.read_finite());
    EXPECT_FALSE(in.take_nil());
    EXPECT_EQ(-0.1, in.read_f64());
    EXPECT_TRUE(in.read_bool());
    EXPECT_FALSE(in.read_bool());
    EXPECT_TRUE(in.take_nil());
    EXPECT_EQ(INFINITY, in.read_f64());
    EXPECT_TRUE(in.finish());
}

TEST(Msgpack, RefusesEveryPrefixOfAMessage) {
    Packer out;
    out.array(4).uint(70'000).text("rope").binary(Bytes(300, 7)).f64(1.5);
    for (std::size_t length = 0; length < out.bytes().size(); ++length) {
        const Bytes prefix(out.bytes().begin(), out.bytes().begin() + static_cast<long>(length));
        Unpacker in(prefix);
        in.expect_array(4);
        (void)in.read_uint();
        (void)in.read_text(10);
        (void)in.read_binary(300);
        (void)in.read_f64();
        EXPECT_FALSE(in.finish()) << length;
    }
}

TEST(Msgpack, RefusesLongerFormsThanNeeded) {
    EXPECT_FALSE(read({0xcc, 0x7f}, as_uint));
    EXPECT_FALSE(read({0xcd, 0x00, 0xff}, as_uint));
    EXPECT_FALSE(read({0xcf, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, as_uint));
    EXPECT_FALSE(read({0xd0, 0xff}, as_integer));
    EXPECT_FALSE(read({0xd0, 0x05}, as_integer));
    EXPECT_FALSE(read({0xd1, 0xff, 0x80}, as_integer));
    EXPECT_FALSE(read({0xd9, 0x01, 0x61}, as_text));
    EXPECT_FALSE(read({0xc5, 0x00, 0x01, 0x61}, as_binary));
    EXPECT_FALSE(read({0xdc, 0x00, 0x00}, as_array));
}

TEST(Msgpack, RefusesLengthsThatTheInputDoesNotHold) {
    EXPECT_FALSE(read({0xc6, 0xff, 0xff, 0xff, 0xff}, as_binary));
    EXPECT_FALSE(read({0xdd, 0xff, 0xff, 0xff, 0xff}, as_array));
    EXPECT_FALSE(read({0x93, 0x01}, as_array));
    EXPECT_FALSE(read({0xa5, 0x61}, as_text));
}

TEST(Msgpack, RefusesKindsThatNoMessageHas) {
    for (const int tag : {0x80, 0xc1, 0xc7, 0xc9, 0xca, 0xd4, 0xd8, 0xde, 0xdf}) {
        EXPECT_FALSE(read({static_cast<std::uint8_t>(tag), 0, 0, 0, 0, 0}, as_uint)) << tag;
    }
    EXPECT_FALSE(read({0xa0}, as_uint));
    EXPECT_FALSE(read({0xff}, as_uint));
}

TEST(Msgpack, HoldsTheCallersLimits) {
    const auto code = [](const Bytes& bytes, auto&& reader) {
        return read(bytes, reader).error().code;
    };
    EXPECT_EQ(ErrorCode::too_large, code({0x08}, [](auto& in) { (void)in.read_uint(7); }));
    EXPECT_EQ(ErrorCode::too_large, code({0xff}, [](auto& in) { (void)in.read_integer(0); }));
    EXPECT_EQ(
        ErrorCode::too_large, code({0xa2, 0x61, 0x61}, [](auto& in) { (void)in.read_text(1); }));
    EXPECT_EQ(ErrorCode::too_large, code({0x92, 1, 1}, [](auto& in) { (void)in.read_array(1); }));
    EXPECT_EQ(ErrorCode::wrong_size, code({0xc4, 1, 1}, [](auto& in) {
                  std::array<std::uint8_t, 2> out{};
                  in.read_binary_into(out);
              }));
}

TEST(Msgpack, RefusesBytesLeftOverAndNumbersThatAreNone) {
    EXPECT_FALSE(read({0x01, 0x01}, as_uint));
    Packer out;
    out.f64(NAN);
    Unpacker in(out.bytes());
    EXPECT_EQ(0.0, in.read_finite());
    EXPECT_EQ(ErrorCode::not_finite, in.finish().error().code);
}

TEST(Msgpack, KeepsTheFirstFault) {
    const Bytes bytes{0xa0, 0x01};
    Unpacker in(bytes);
    (void)in.read_uint();
    const std::string first = in.finish().error().why;
    EXPECT_EQ(0U, in.read_uint());
    EXPECT_TRUE(in.read_text(9).empty());
    EXPECT_EQ(first, in.finish().error().why);
}

TEST(Utf8, KnowsOverlongFormsSurrogatesAndTheEnd) {
    EXPECT_TRUE(is_utf8("Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x90\x9d \xf4\x8f\xbf\xbf"));
    for (const char* bad :
         {"\x80",
          "\xc0\xaf",
          "\xe0\x80\x80",
          "\xed\xa0\x80",
          "\xf4\x90\x80\x80",
          "\xf8\x88\x80\x80\x80",
          "\xe2\x82",
          "\xc3("}) {
        EXPECT_FALSE(is_utf8(bad)) << bad;
    }
}

}  // namespace
}  // namespace p2p::proto
