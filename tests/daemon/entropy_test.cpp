#include "daemon/entropy.hpp"

#include <set>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

TEST(Entropy, GivesAnotherSeedEachTime) {
    std::set<std::array<std::uint8_t, 32>> seeds;
    for (int i = 0; i < 100; ++i) {
        seeds.insert(entropy_seed());
    }
    EXPECT_EQ(100U, seeds.size());
}

TEST(Entropy, FillsToTheLastByte) {
    // 64 draws leave a byte at zero each time with probability 256^-64.
    bool was_last_set = false;
    for (int i = 0; i < 64; ++i) {
        core::Bytes bytes(1000, 0);
        fill_entropy(bytes);
        was_last_set = was_last_set || bytes.back() != 0;
    }
    EXPECT_TRUE(was_last_set);
}

}  // namespace
}  // namespace p2p::daemon
