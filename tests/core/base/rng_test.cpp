#include "core/base/rng.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

TEST(Philox, AgreesWithThePublishedVectorsOfRandom123) {
    using Block = std::array<std::uint32_t, 4>;
    EXPECT_EQ((Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), philox(0, 0, 0));
    EXPECT_EQ((Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}), philox(~0ULL, ~0ULL, ~0ULL));
}

TEST(Rng, DrawsTheSameAgainFromTheSameSeedAndOtherwiseFromAnother) {
    Rng a(7);
    Rng b(7);
    Rng c(8);
    const auto first = a.next_u64();
    EXPECT_EQ(first, b.next_u64());
    EXPECT_NE(first, c.next_u64());
    EXPECT_NE(Rng(7).split(1).next_u64(), Rng(7).split(2).next_u64());
}

TEST(Rng, StaysBelowTheBoundAndReachesEachValue) {
    Rng rng(1);
    std::vector<int> seen(7);
    for (int i = 0; i < 7000; ++i)
        ++seen[rng.below(7)];
    for (const int count : seen)
        EXPECT_NEAR(1000, count, 150);
}

TEST(Rng, ShufflesIntoAPermutation) {
    std::vector<int> items(100);
    std::iota(items.begin(), items.end(), 0);
    Rng(3).shuffle(std::span<int>(items));
    EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
    std::sort(items.begin(), items.end());
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(i, items[static_cast<std::size_t>(i)]);
}

TEST(Rng, DrawsNormalAndGammaWithTheirMeansAndVariances) {
    Rng rng(5);
    double sum = 0;
    double squares = 0;
    double gamma_sum = 0;
    constexpr int draws = 40000;
    for (int i = 0; i < draws; ++i) {
        const double x = rng.normal();
        sum += x;
        squares += x * x;
        gamma_sum += rng.gamma(0.3);
    }
    EXPECT_NEAR(0, sum / draws, 0.02);
    EXPECT_NEAR(1, squares / draws, 0.03);
    EXPECT_NEAR(0.3, gamma_sum / draws, 0.02);
}

}  // namespace
}  // namespace p2p::core
