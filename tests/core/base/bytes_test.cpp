#include "core/base/bytes.hpp"

#include <gtest/gtest.h>

#include "core/base/types.hpp"

namespace p2p::core {
namespace {

TEST(Base32, GivesBackWhatItWasGivenForEveryLength) {
    Bytes bytes;
    for (std::size_t length = 0; length < 70; ++length) {
        EXPECT_EQ(bytes, from_base32(to_base32(bytes)).value());
        bytes.push_back(static_cast<std::uint8_t>(length * 37 + 11));
    }
}

TEST(Base32, AgreesWithTheVectorsOfRfc4648) {
    EXPECT_EQ("mzxw6", to_base32(as_bytes("foo")));
    EXPECT_EQ("mzxw6ytboi", to_base32(as_bytes("foobar")));
}

TEST(Base32, RefusesLettersOutsideTheAlphabetAndBitsThatNoByteHolds) {
    EXPECT_FALSE(from_base32("mzxw1"));
    EXPECT_FALSE(from_base32("MZXW6"));
    EXPECT_FALSE(from_base32("mzxw7"));  // the last two bits belong to no byte
    EXPECT_FALSE(from_base32("mzx"));
}

TEST(Hex, GivesBackWhatItWasGivenAndRefusesTheRest) {
    const Bytes bytes{0, 1, 0x7f, 0x80, 0xff};
    EXPECT_EQ("00017f80ff", to_hex(bytes));
    EXPECT_EQ(bytes, from_hex("00017f80ff").value());
    EXPECT_FALSE(from_hex("0"));
    EXPECT_FALSE(from_hex("0g"));
}

TEST(PeerId, PrintsAs52CharactersAndReadsBack) {
    PeerId id;
    id.bytes[0] = 0xab;
    id.bytes[31] = 0x01;
    EXPECT_EQ(52U, id.text().size());
    EXPECT_EQ(id, PeerId::from_text(id.text()).value());
    EXPECT_FALSE(PeerId::from_text(id.text().substr(1)));
}

TEST(LittleEndian, LoadsWhatItStored) {
    std::uint8_t at[8];
    store_le<std::uint64_t>(at, 0x0123456789abcdefULL);
    EXPECT_EQ(0xef, at[0]);
    EXPECT_EQ(0x0123456789abcdefULL, load_le<std::uint64_t>(at));
    EXPECT_EQ(0xcdef, load_le<std::uint16_t>(at));
}

}  // namespace
}  // namespace p2p::core
