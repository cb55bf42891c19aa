#include "daemon/half_open.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr core::TimePoint start{std::chrono::hours{1}};

AddressPrefix v4(std::uint8_t c, std::uint8_t d) {
    return address_prefix(core::Bytes{10, 0, c, d});
}

TEST(AddressPrefix, CountsIpv6NetworksAndIpv4Hosts) {
    core::Bytes host_a(16, 1);
    core::Bytes host_b = host_a;
    host_b[15] = 2;
    EXPECT_EQ(address_prefix(host_a), address_prefix(host_b));
    host_b[7] = 2;
    EXPECT_NE(address_prefix(host_a), address_prefix(host_b));
    EXPECT_NE(v4(0, 1), v4(0, 2));
}

TEST(AddressPrefix, SeesIpv4InsideIpv6) {
    const core::Bytes inside{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    EXPECT_EQ(v4(0, 1), address_prefix(inside));
}

TEST(HalfOpenLimits, HoldsAtMostSixtyFourWhateverTheNumberOfAddresses) {
    HalfOpenLimits limits;
    std::size_t admitted = 0;
    for (int i = 0; i < 200; ++i) {
        const auto from = v4(1, static_cast<std::uint8_t>(i));
        admitted += limits.on_accepted(start, from).admitted ? 1U : 0U;
        ASSERT_LE(limits.half_open(), core::limits::half_open_total_max);
    }
    EXPECT_EQ(core::limits::half_open_total_max, admitted);
}

TEST(HalfOpenLimits, HoldsAtMostFourOfOneAddress) {
    HalfOpenLimits limits;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(i < 4, limits.on_accepted(start, v4(0, 1)).admitted.has_value());
    }
    EXPECT_TRUE(limits.on_accepted(start, v4(0, 2)).admitted.has_value());
}

TEST(HalfOpenLimits, LetsAnHonestPeerInOnceTheFloodHasBeenSilentForASecond) {
    HalfOpenLimits limits;
    std::vector<HalfOpenId> flood;
    for (std::uint8_t i = 0; i < 64; ++i) {
        flood.push_back(*limits.on_accepted(start, v4(1, i)).admitted);
    }
    EXPECT_FALSE(limits.on_accepted(start + milliseconds{999}, v4(2, 1)).admitted);
    const auto admission = limits.on_accepted(start + seconds{1}, v4(2, 1));
    ASSERT_TRUE(admission.admitted);
    EXPECT_EQ(flood.front(), admission.evicted);
    EXPECT_EQ(core::limits::half_open_total_max, limits.half_open());
}

TEST(HalfOpenLimits, MakesRoomAtAFullAddressOnlyFromThatAddress) {
    HalfOpenLimits limits;
    const auto other = *limits.on_accepted(start, v4(0, 9)).admitted;
    const auto oldest = *limits.on_accepted(start, v4(0, 1)).admitted;
    for (int i = 0; i < 3; ++i) {
        (void)limits.on_accepted(start, v4(0, 1));
    }
    const auto admission = limits.on_accepted(start + seconds{2}, v4(0, 1));
    EXPECT_EQ(oldest, admission.evicted);
    EXPECT_NE(other, admission.evicted);
}

TEST(HalfOpenLimits, SlowsOneAddressToTwentyASecondAfterABurstOfFive) {
    HalfOpenLimits limits;
    std::size_t admitted = 0;
    for (int ms = 0; ms < 1000; ++ms) {
        const auto id = limits.on_accepted(start + milliseconds{ms}, v4(0, 1)).admitted;
        if (!id) continue;
        admitted += 1;
        limits.on_closed(*id);
    }
    EXPECT_GE(admitted, 23U);
    EXPECT_LE(admitted, 25U);
}

TEST(HalfOpenLimits, GivesTheTokenBackToWhoProvesHimself) {
    HalfOpenLimits limits;
    for (int i = 0; i < 100; ++i) {
        const auto id = limits.on_accepted(start, v4(0, 1)).admitted;
        ASSERT_TRUE(id) << i;
        limits.on_authenticated(*id);
    }
    EXPECT_EQ(0U, limits.half_open());
}

TEST(HalfOpenLimits, IgnoresTheEndOfWhatItEvicted) {
    HalfOpenLimits limits;
    const auto first = *limits.on_accepted(start, v4(0, 1)).admitted;
    for (int i = 0; i < 3; ++i) {
        (void)limits.on_accepted(start, v4(0, 1));
    }
    ASSERT_EQ(first, limits.on_accepted(start + seconds{2}, v4(0, 1)).evicted);
    limits.on_closed(first);
    limits.on_authenticated(first);
    EXPECT_EQ(4U, limits.half_open());
}

TEST(HalfOpenLimits, RemembersABoundedNumberOfAddresses) {
    HalfOpenLimits limits;
    for (std::uint32_t i = 0; i < 2 * HalfOpenLimits::addresses_remembered_max; ++i) {
        const auto low = static_cast<std::uint8_t>(i);
        const auto high = static_cast<std::uint8_t>(i >> 8U);
        const auto id = limits.on_accepted(start, v4(high, low)).admitted;
        EXPECT_EQ(i < HalfOpenLimits::addresses_remembered_max, id.has_value()) << i;
        if (id) limits.on_closed(*id);
    }
    EXPECT_TRUE(limits.on_accepted(start + seconds{1}, v4(200, 1)).admitted.has_value());
}

}  // namespace
}  // namespace p2p::daemon
