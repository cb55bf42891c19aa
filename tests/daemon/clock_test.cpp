#include "daemon/clock.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

TEST(Clock, NeverFalls) {
    core::TimePoint before = steady_now();
    for (int i = 0; i < 1000; ++i) {
        const core::TimePoint now = steady_now();
        ASSERT_LE(before, now);
        before = now;
    }
}

TEST(Clock, WritesTheDateInUtcWithMilliseconds) {
    EXPECT_EQ("1970-01-01T00:00:00.000Z", utc_text(0));
    EXPECT_EQ("2026-11-30T14:02:11.345Z", utc_text(1796047331345));
    EXPECT_EQ("1969-12-31T23:59:59.999Z", utc_text(-1));
}

}  // namespace
}  // namespace p2p::daemon
