#include "daemon/own_addresses.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"

namespace p2p::daemon {
namespace {

TEST(OwnAddresses, AConcreteAddressStandsForItself) {
    const std::vector<std::string> expected{"10.1.0.4:7470", "[fd00::1]:7471"};
    EXPECT_EQ(expected, own_addresses({{"10.1.0.4", 7470}, {"fd00::1", 7471}}));
}

TEST(OwnAddresses, AWildcardNeverTravels) {
    const auto found = own_addresses({{"0.0.0.0", 7470}, {"::", 7470}});
    EXPECT_FALSE(found.empty());  // loopback at least
    for (const std::string& address : found) {
        EXPECT_NE("0.0.0.0:7470", address);
        EXPECT_NE("[::]:7470", address);
        EXPECT_EQ(7470, host_port_from(address)->port);
    }
}

TEST(OwnAddresses, NamesEachAddressOnceAndNotTooMany) {
    std::vector<HostPort> many(3, {"10.1.0.4", 7470});
    EXPECT_EQ(1U, own_addresses(many).size());
    for (std::uint16_t port = 1; port <= 20; ++port) {
        many.push_back({"10.1.0.4", port});
    }
    EXPECT_EQ(core::limits::addresses_a_peer_max, own_addresses(many).size());
}

}  // namespace
}  // namespace p2p::daemon
