#include "daemon/host_port.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

TEST(HostPort, TextAndPartsAreAPair) {
    for (const char* text : {"10.0.0.1:7470", "[::]:0", "[fe80::1]:65535", "node.example:1"}) {
        const auto parts = host_port_from(text);
        ASSERT_TRUE(parts) << text;
        EXPECT_EQ(text, parts->text());
    }
    EXPECT_EQ((HostPort{"fe80::1", 65535}), *host_port_from("[fe80::1]:65535"));
}

TEST(HostPort, RefusesWhatIsNoAddress) {
    for (const char* text :
         {"", "host", ":7470", "host:", "host:65536", "host:-1", "host:7x", "fe80::1:80", "[]:1"}) {
        const auto parts = host_port_from(text);
        ASSERT_FALSE(parts) << text;
        EXPECT_EQ(core::ErrorCode::invalid, parts.error().code);
        EXPECT_FALSE(parts.error().next.empty());
    }
}

}  // namespace
}  // namespace p2p::daemon
