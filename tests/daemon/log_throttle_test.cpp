#include "daemon/log_throttle.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

constexpr core::TimePoint start{std::chrono::hours{1}};

LogEvent event(const std::string& name, const std::string& detail = "") {
    return {LogLevel::warn, name, {{"port", detail, /*is_detail=*/true}}};
}

TEST(LogThrottle, WritesTheFirstAtOnce) {
    LogThrottle throttle;
    EXPECT_EQ(1U, throttle.admit(start, event("a")).size());
    EXPECT_EQ(1U, throttle.admit(start, event("b")).size());
}

TEST(LogThrottle, HoldsBackWhatIsIdenticalButForDetails) {
    LogThrottle throttle;
    (void)throttle.admit(start, event("a", "1"));
    EXPECT_TRUE(throttle.admit(start, event("a", "2")).empty());
    LogEvent louder = event("a", "1");
    louder.level = LogLevel::error;
    EXPECT_EQ(1U, throttle.admit(start, louder).size());
}

TEST(LogThrottle, GivesTheCountAfterAMinuteAndStartsAnew) {
    LogThrottle throttle;
    (void)throttle.admit(start, event("a"));
    for (int i = 0; i < 31; ++i) {
        (void)throttle.admit(start + std::chrono::seconds{1}, event("a"));
    }
    EXPECT_TRUE(throttle.take_due(start + std::chrono::seconds{59}).empty());
    const auto due = throttle.take_due(start + std::chrono::seconds{60});
    ASSERT_EQ(1U, due.size());
    EXPECT_EQ("repeated", due[0].fields.back().key);
    EXPECT_EQ("31", due[0].fields.back().value);
    EXPECT_EQ(1U, throttle.admit(start + std::chrono::seconds{61}, event("a")).size());
}

TEST(LogThrottle, SaysNothingMoreOfWhatCameOnce) {
    LogThrottle throttle;
    (void)throttle.admit(start, event("a"));
    EXPECT_TRUE(throttle.take_due(start + std::chrono::hours{1}).empty());
}

TEST(LogThrottle, ForgetsTheOldestKindsBeyondItsBound) {
    LogThrottle throttle;
    (void)throttle.admit(start, event("first"));
    (void)throttle.admit(start, event("first"));
    std::size_t counts = 0;
    for (std::size_t i = 0; i < 3 * LogThrottle::keys_max; ++i) {
        const auto out = throttle.admit(
            start + std::chrono::milliseconds{1 + i}, event("kind " + std::to_string(i)));
        counts += out.size() - 1;
    }
    EXPECT_EQ(1U, counts);  // of "first", closed early
    EXPECT_TRUE(throttle.take_all().empty());
}

}  // namespace
}  // namespace p2p::daemon
