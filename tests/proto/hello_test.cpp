#include "proto/hello.hpp"

#include <gtest/gtest.h>

#include "proto/msgpack.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ErrorCode;

Hello full_hello() {
    Hello hello = tests::session_config("b\xc3\xa4r").hello;
    hello.id.bytes.fill(0x5a);
    hello.protocol_min = 2;
    hello.protocol_max = 300;
    hello.features = ~std::uint64_t{0};
    hello.wall_clock_unix_ms = -1;
    hello.listen_addresses.assign(8, std::string(255, 'a'));
    hello.site = std::string(63, 's');
    return hello;
}

TEST(Hello, IsDecodedAsItWasEncodedUpToItsLimits) {
    EXPECT_EQ(Hello{}, decode_hello(encode(Hello{})).value());
    const Hello hello = full_hello();
    const Bytes bytes = encode(hello);
    EXPECT_EQ(hello, decode_hello(bytes).value());
    EXPECT_LT(bytes.size(), hello_bytes_max);
}

TEST(Hello, IsRefusedWhenCutOffOrWithBytesLeftOver) {
    Bytes bytes = encode(full_hello());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode_hello(core::ByteView(bytes).first(length))) << length;
    }
    bytes.push_back(0);
    EXPECT_EQ(ErrorCode::malformed, decode_hello(bytes).error().code);
}

/// A Hello of which one field is written by the test.
Bytes hello_with(std::size_t field, const std::function<void(Packer&)>& write) {
    Packer out;
    out.array(10);
    for (std::size_t i = 0; i < 10; ++i) {
        if (i == field)
            write(out);
        else if (i == 0)
            out.binary(Bytes(32, 1));
        else if (i == 5 || i >= 8)
            out.text("x");
        else if (i == 7)
            out.array(0);
        else
            out.uint(1);
    }
    return out.take();
}

TEST(Hello, IsRefusedForEachFieldThatIsOutsideItsLimits) {
    const auto code = [](std::size_t field, const std::function<void(Packer&)>& write) {
        return decode_hello(hello_with(field, write)).error().code;
    };
    const auto long_text = [](std::size_t size) {
        return [size](Packer& out) {
            out.text(std::string(size, 'x'));
        };
    };
    EXPECT_TRUE(decode_hello(hello_with(1, [](Packer& out) { out.uint(1); })));
    EXPECT_EQ(ErrorCode::wrong_size, code(0, [](auto& out) { out.binary(Bytes(31)); }));
    EXPECT_EQ(ErrorCode::malformed, code(1, [](auto& out) { out.text("1"); }));
    EXPECT_EQ(ErrorCode::malformed, code(2, [](auto& out) { out.uint(0); }));
    EXPECT_EQ(ErrorCode::malformed, code(2, [](auto& out) { out.uint(2); }));
    EXPECT_EQ(ErrorCode::too_large, code(3, [](auto& out) { out.uint(65'536); }));
    EXPECT_EQ(ErrorCode::malformed, code(4, [](auto& out) { out.integer(-1); }));
    EXPECT_EQ(ErrorCode::too_large, code(5, long_text(64)));
    EXPECT_EQ(ErrorCode::malformed, code(6, [](auto& out) { out.f64(1); }));
    EXPECT_EQ(ErrorCode::too_large, code(7, [](auto& out) {
                  out.array(9);
                  for (int i = 0; i < 9; ++i)
                      out.text("a");
              }));
    EXPECT_EQ(
        ErrorCode::too_large, code(7, [](auto& out) { out.array(1).text(std::string(256, 'a')); }));
    EXPECT_EQ(ErrorCode::too_large, code(8, long_text(64)));
    EXPECT_EQ(ErrorCode::malformed, code(8, [](auto& out) { out.text("\x1b[31m"); }));
    EXPECT_EQ(ErrorCode::malformed, code(9, [](auto& out) { out.text("\xff"); }));
}

Hello speaking(std::uint16_t min, std::uint16_t max) {
    Hello hello;
    hello.protocol_min = min;
    hello.protocol_max = max;
    return hello;
}

TEST(CommonProtocol, IsTheHighestThatBothSpeakFromBothSides) {
    EXPECT_EQ(3, common_protocol(speaking(1, 3), speaking(2, 5)).value());
    EXPECT_EQ(3, common_protocol(speaking(2, 5), speaking(1, 3)).value());
    EXPECT_EQ(4, common_protocol(speaking(4, 4), speaking(1, 9)).value());
}

TEST(CommonProtocol, NamesBothRangesWhereTheyDoNotMeet) {
    const auto error = common_protocol(speaking(1, 2), speaking(3, 4)).error();
    EXPECT_EQ(ErrorCode::unsupported, error.code);
    EXPECT_NE(std::string::npos, error.why.find("1 to 2"));
    EXPECT_NE(std::string::npos, error.why.find("3 to 4"));
}

TEST(Close, CarriesItsReasonAndCutsWhatIsTooLong) {
    core::Error reason{ErrorCode::not_permitted, "not on the list", "no entry", "add it"};
    EXPECT_EQ(Close{reason}, decode_close(encode(Close{reason})).value());

    reason.why = std::string(254, 'x') + "\xc3\xa4";  // the cut would split the last letter
    const auto cut = decode_close(encode(Close{reason})).value().reason;
    EXPECT_EQ(std::string(254, 'x'), cut.why);
}

TEST(Close, NeverCarriesControlCharactersOrBrokenText) {
    const core::Error reason{ErrorCode::invalid, "a\nb\x1b[0m", "\xff\xfe", ""};
    const auto read = decode_close(encode(Close{reason})).value().reason;
    EXPECT_EQ("a b [0m", read.what);
    EXPECT_EQ(
        "?"
        "?",
        read.why);
    Packer out;
    out.array(4).text("invalid").text("a\nb").text("").text("");
    EXPECT_FALSE(decode_close(out.bytes()));
}

TEST(Close, ReadsACodeThatItDoesNotKnowAsUnsupported) {
    Packer out;
    out.array(4).text("from_the_future").text("what").text("").text("");
    EXPECT_EQ(ErrorCode::unsupported, decode_close(out.bytes()).value().reason.code);
}

}  // namespace
}  // namespace p2p::proto
