#include "core/codec/hash.hpp"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::core {
namespace {

using Halves = std::pair<std::uint64_t, std::uint64_t>;

Halves halves(Hash128 hash) {
    return {hash.low, hash.high};
}

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    Bytes bytes(count);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(rng.next_u32());
    return bytes;
}

TEST(Hash128, NeverChangesFromOneVersionToTheNext) {
    // Both ends of a link compare these: a new value is a new version of the wire. The values come
    // from a second implementation, in Python.
    const Bytes text =
        to_bytes(as_bytes("The quick brown fox jumps over the lazy dog, 64 bytes in."));
    Bytes multiples(1000);
    for (std::size_t i = 0; i < multiples.size(); ++i)
        multiples[i] = static_cast<std::uint8_t>(7 * i);
    EXPECT_EQ((Hash128{0xcc4d7cc7d3788998U, 0x3004eac51eecc5e8U}), hash128({}, {}));
    EXPECT_EQ((Hash128{0x29e395f32a7e456eU, 0x942fbb391e3e4427U}), hash128({}, text));
    EXPECT_EQ((Hash128{0xb982f98e91902fb6U, 0x8b8a1be8babd3479U}), hash128({1, 2}, multiples));
}

TEST(Hash128, DiffersInBothHalvesForEachFlippedBit) {
    Bytes bytes = random_bytes(150, 2);
    std::set<std::uint64_t> lows{hash128({}, bytes).low};
    std::set<std::uint64_t> highs{hash128({}, bytes).high};
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
        bytes[bit / 8] ^= mask;
        lows.insert(hash128({}, bytes).low);
        highs.insert(hash128({}, bytes).high);
        bytes[bit / 8] ^= mask;
    }
    EXPECT_EQ(150 * 8 + 1U, lows.size());
    EXPECT_EQ(150 * 8 + 1U, highs.size());
}

TEST(Hash128, FlipsHalfOfItsBitsForOneOfTheInput) {
    Rng rng(3);
    int flipped = 0;
    constexpr int trials = 2000;
    for (int i = 0; i < trials; ++i) {
        Bytes bytes = random_bytes(80, rng.next_u64());
        const Hash128 before = hash128({}, bytes);
        bytes[rng.below(80)] ^= static_cast<std::uint8_t>(1U << rng.below(8));
        const Hash128 after = hash128({}, bytes);
        flipped += __builtin_popcountll(before.low ^ after.low)
                   + __builtin_popcountll(before.high ^ after.high);
    }
    EXPECT_NEAR(64.0, static_cast<double>(flipped) / trials, 0.7);  // 5 standard errors: 0.63
}

TEST(Hash128, TellsRunsOfZerosApartByTheirLength) {
    std::set<Halves> seen;
    for (std::size_t length = 0; length < 300; ++length) {
        seen.insert(halves(hash128({}, Bytes(length))));
    }
    EXPECT_EQ(300U, seen.size());
}

TEST(Hash128, DependsOnTheOrderOfWhatIsChained) {
    const Bytes a = random_bytes(100, 4);
    const Bytes b = random_bytes(100, 5);
    EXPECT_NE(hash128(hash128({}, a), b), hash128(hash128({}, b), a));
    EXPECT_EQ(hash128(hash128({}, a), b), hash128(hash128({}, a), b));
}

TEST(Hash128, OfAChainIsNotThatOfThePiecesTogether) {
    const Bytes a(64, 1);
    const Bytes both(128, 1);
    EXPECT_NE(hash128(hash128({}, a), a), hash128({}, both));
}

TEST(Hash128, SeesStripesThatChangePlaces) {
    Bytes bytes = random_bytes(128, 6);
    const Hash128 before = hash128({}, bytes);
    std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
    EXPECT_NE(before, hash128({}, bytes));
    std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
    std::swap_ranges(bytes.begin(), bytes.begin() + 16, bytes.begin() + 16);
    EXPECT_NE(before, hash128({}, bytes));
}

}  // namespace
}  // namespace p2p::core
