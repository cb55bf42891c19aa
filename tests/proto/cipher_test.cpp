#include "proto/cipher.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "proto/evp.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ByteView;

Bytes random_bytes(core::Rng& rng, std::size_t size) {
    Bytes bytes(size);
    for (auto& byte : bytes) {
        byte = static_cast<std::uint8_t>(rng.next_u32());
    }
    return bytes;
}

SecretKey random_key(core::Rng& rng) {
    const Bytes bytes = random_bytes(rng, 32);
    SecretKey key;
    std::copy(bytes.begin(), bytes.end(), key.data());
    return key;
}

Bytes seal(Sealer& sealer, const Bytes& plain) {
    const ByteView pieces[] = {plain};
    Bytes sealed(plain.size() + aead_tag_bytes);
    EXPECT_TRUE(sealer.seal(pieces, sealed));
    return sealed;
}

std::optional<Bytes> open(Opener& opener, const Bytes& sealed) {
    Bytes plain(sealed.size() - aead_tag_bytes);
    if (!opener.open(sealed, plain)) return std::nullopt;
    return plain;
}

TEST(Aead, HasTheSameBytesThroughBothLibraries) {
    core::Rng rng(1);
    const SecretKey key = random_key(rng);
    EvpSealer evp(key);
    EvpOpener opener(key);
    for (const std::size_t size : {0U, 1U, 15U, 16U, 63U, 64U, 65U, 255U, 4096U, 65519U}) {
        for (const std::uint64_t nonce : {0ULL, 1ULL, 0x0102030405060708ULL, ~0ULL}) {
            const Bytes plain = random_bytes(rng, size);
            const ByteView pieces[] = {plain};
            Bytes by_sodium(size + aead_tag_bytes);
            Bytes by_evp(size + aead_tag_bytes);
            sodium_seal(key, nonce, {}, plain, by_sodium);
            evp.seal(nonce, pieces, by_evp);
            ASSERT_EQ(by_sodium, by_evp) << size;
            Bytes opened(size);
            EXPECT_TRUE(opener.open(nonce, by_sodium, opened));
            EXPECT_EQ(plain, opened);
            EXPECT_TRUE(sodium_open(key, nonce, {}, by_evp, opened));
        }
    }
}

TEST(Aead, SealsPiecesAsTheirJoinedBytesHoweverTheyAreCut) {
    core::Rng rng(2);
    const SecretKey key = random_key(rng);
    for (int round = 0; round < 200; ++round) {
        const Bytes plain = random_bytes(rng, rng.below(700));
        const auto first = static_cast<std::size_t>(rng.below(plain.size() + 1));
        const auto second = first + static_cast<std::size_t>(rng.below(plain.size() - first + 1));
        const ByteView all(plain);
        const ByteView pieces[] = {
            all.first(first), all.subspan(first, second - first), all.subspan(second)};
        Sealer whole(key);
        Sealer cut(key);
        Bytes sealed(plain.size() + aead_tag_bytes);
        ASSERT_TRUE(cut.seal(pieces, sealed));
        EXPECT_EQ(seal(whole, plain), sealed);
    }
}

TEST(Aead, OpensNothingWithAFlippedBitThroughEitherLibrary) {
    core::Rng rng(3);
    const SecretKey key = random_key(rng);
    EvpOpener evp(key);
    const Bytes plain = random_bytes(rng, 40);
    Bytes sealed(plain.size() + aead_tag_bytes);
    sodium_seal(key, 5, {}, plain, sealed);
    Bytes out(plain.size());
    for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
        Bytes flipped = sealed;
        flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        EXPECT_FALSE(sodium_open(key, 5, {}, flipped, out));
        EXPECT_FALSE(evp.open(5, flipped, out));
        EXPECT_EQ(Bytes(plain.size(), 0), out);
    }
    EXPECT_FALSE(evp.open(6, sealed, out));
}

TEST(Cipher, OpensRecordsInTheirOrderOnlyAndOnlyOnce) {
    core::Rng rng(4);
    const SecretKey key = random_key(rng);
    Sealer sealer(key);
    Opener opener(key);
    for (const std::size_t size : {10U, 5000U, 10U}) {
        const Bytes first = seal(sealer, Bytes(size, 1));
        const Bytes second = seal(sealer, Bytes(size, 2));
        EXPECT_FALSE(open(opener, second));
        EXPECT_EQ(Bytes(size, 1), open(opener, first));
        EXPECT_FALSE(open(opener, first));
        EXPECT_EQ(Bytes(size, 2), open(opener, second));
    }
}

TEST(Cipher, OpensAfterRekeyOnlyWhenBothEndsDidIt) {
    core::Rng rng(5);
    const SecretKey key = random_key(rng);
    for (const std::size_t size : {10U, 5000U}) {
        Sealer sealer(key);
        Opener opener(key);
        Opener late(key);
        const Bytes before = seal(sealer, Bytes(size, 1));
        EXPECT_TRUE(open(opener, before) && open(late, before));
        sealer.rekey();
        opener.rekey();
        const Bytes after = seal(sealer, Bytes(size, 2));
        EXPECT_FALSE(open(late, after));
        EXPECT_EQ(Bytes(size, 2), open(opener, after));
        EXPECT_EQ(2U, opener.opened_count());
    }
}

TEST(Cipher, StopsBeforeAKeyHasSealedTooMuch) {
    const SecretKey key;
    Sealer sealer(key, core::limits::messages_a_key_max - 1);
    Opener opener(key, core::limits::messages_a_key_max - 1);
    const Bytes last = seal(sealer, Bytes(3, 1));
    EXPECT_TRUE(open(opener, last));
    const Bytes plain(3, 1);
    const ByteView pieces[] = {plain};
    Bytes out(19);
    EXPECT_FALSE(sealer.seal(pieces, out));
    EXPECT_EQ(Bytes(19, 0), out);
    sodium_seal(key, core::limits::messages_a_key_max, {}, plain, out);
    EXPECT_FALSE(open(opener, out));
}

}  // namespace
}  // namespace p2p::proto
