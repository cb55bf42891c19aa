#include "proto/keys.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "core/base/signature.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::from_hex;
using core::to_hex;

SecretKey seed_of(std::string_view hex) {
    const Bytes bytes = from_hex(hex).value();
    SecretKey seed;
    std::copy(bytes.begin(), bytes.end(), seed.data());
    return seed;
}

core::PeerId id_of(std::string_view hex) {
    return core::PeerId::from_bytes(from_hex(hex).value()).value();
}

TEST(Identity, SignsAsTheSecondVectorOfRfc8032Does) {
    const auto identity = Identity::from_seed(
        seed_of("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
    EXPECT_EQ(
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        to_hex(identity.id().bytes));
    EXPECT_EQ(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        to_hex(identity.sign(Bytes{0x72})));
}

TEST(Identity, IsTheOnlyOneWhoseSignaturesFitItsId) {
    const auto ours = Identity::from_seed(seed_of(std::string(64, '1')));
    const auto other = Identity::from_seed(seed_of(std::string(64, '2')));
    const Bytes bytes{1, 2, 3};
    const auto signature = ours.sign(bytes);
    EXPECT_TRUE(verify(ours.id(), bytes, signature));
    EXPECT_FALSE(verify(other.id(), bytes, signature));
    EXPECT_FALSE(verify(ours.id(), Bytes{1, 2}, signature));
    for (std::size_t bit = 0; bit < 512; ++bit) {
        auto flipped = signature;
        flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        EXPECT_FALSE(verify(ours.id(), bytes, flipped)) << bit;
    }
}

TEST(Identity, HasTheX25519KeyThatOthersDeriveFromItsId) {
    for (char digit = '0'; digit <= '9'; ++digit) {
        const auto identity = Identity::from_seed(seed_of(std::string(64, digit)));
        EXPECT_EQ(x25519_public(identity.id()).value(), identity.x25519_pair().public_key);
    }
}

TEST(X25519Public, RefusesPointsOfSmallOrder) {
    // y = 1 (neutral), y = 0 (order 4), y = -1 (order 2), and one of order 8.
    for (const std::string_view hex :
         {"0100000000000000000000000000000000000000000000000000000000000000",
          "0000000000000000000000000000000000000000000000000000000000000000",
          "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
          "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"}) {
        EXPECT_EQ(core::ErrorCode::forged, x25519_public(id_of(hex)).error().code) << hex;
    }
}

TEST(X25519Public, RefusesNamesThatAreNotCanonicalAndYsOffTheCurve) {
    // p + 1 is another name of y = 1; y = 2 is no point; 2^255 - 1 is above the prime.
    for (const std::string_view hex :
         {"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
          "0200000000000000000000000000000000000000000000000000000000000000",
          "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}) {
        EXPECT_FALSE(x25519_public(id_of(hex))) << hex;
    }
}

TEST(X25519, AgreesWithRfc7748AndRefusesASharedSecretOfZero) {
    const SecretKey alice =
        seed_of("77076d0a7318a57d3c16c17251b26645df0d7cff7eb6d9f41a1b3c1c0a0e9d8f");
    const SecretKey bob =
        seed_of("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    const auto shared = x25519(alice, x25519_from_secret(bob).public_key);
    ASSERT_TRUE(shared);
    EXPECT_EQ(
        to_hex(shared->view()),
        to_hex(x25519(bob, x25519_from_secret(alice).public_key).value().view()));
    EXPECT_FALSE(x25519(alice, Key{}));
}

TEST(Blake2b, AgreesWithTheVectorOfRfc7693) {
    EXPECT_EQ(
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        to_hex(blake2b_512({core::as_bytes("a"), core::as_bytes("bc")})));
    EXPECT_EQ(
        "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
        to_hex(blake2b_256(core::as_bytes("abc"))));
}

TEST(Sodium, ComparesWholeStringsAndWipes) {
    Bytes bytes{1, 2, 3};
    EXPECT_TRUE(equal_in_constant_time(bytes, Bytes{1, 2, 3}));
    EXPECT_FALSE(equal_in_constant_time(bytes, Bytes{1, 2, 4}));
    EXPECT_FALSE(equal_in_constant_time(bytes, Bytes{1, 2}));
    wipe(bytes);
    EXPECT_EQ((Bytes{0, 0, 0}), bytes);
}

TEST(Sodium, FillsWithDifferentBytesEachTime) {
    Key a{};
    Key b{};
    fill_random(a);
    fill_random(b);
    EXPECT_NE(a, b);
    EXPECT_NE(Key{}, a);
}

}  // namespace
}  // namespace p2p::proto
