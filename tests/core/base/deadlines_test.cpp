#include "core/base/deadlines.hpp"

#include <gtest/gtest.h>

#include "core/base/ewma.hpp"
#include "core/base/ring.hpp"

namespace p2p::core {
namespace {

enum class Kind : std::uint8_t { ping, report, count };

constexpr TimePoint at(int seconds) {
    return TimePoint{} + std::chrono::seconds{seconds};
}

TEST(Deadlines, GiveTheEarliestAndAreDueOnce) {
    Deadlines<Kind> deadlines;
    EXPECT_FALSE(deadlines.next());
    deadlines.set(Kind::ping, at(5));
    deadlines.set(Kind::report, at(3));
    EXPECT_EQ(at(3), deadlines.next());
    EXPECT_FALSE(deadlines.take_due(Kind::report, at(2)));
    EXPECT_TRUE(deadlines.take_due(Kind::report, at(3)));
    EXPECT_FALSE(deadlines.take_due(Kind::report, at(3)));
    EXPECT_EQ(at(5), deadlines.next());
}

TEST(Deadlines, SetNoLaterOnlyMovesForward) {
    Deadlines<Kind> deadlines;
    deadlines.set_no_later(Kind::ping, at(5));
    deadlines.set_no_later(Kind::ping, at(9));
    EXPECT_EQ(at(5), deadlines.get(Kind::ping));
    deadlines.set_no_later(Kind::ping, at(2));
    EXPECT_EQ(at(2), deadlines.get(Kind::ping));
}

TEST(RateMeter, FindsTheRateOfASteadyFlowFromItsFirstSeconds) {
    RateMeter meter(std::chrono::seconds{10});
    for (int i = 0; i <= 30; ++i)
        meter.add(at(i), i == 0 ? 0 : 100);
    EXPECT_NEAR(100, meter.per_second(at(30)), 5);
}

TEST(Ring, KeepsTheLastOnes) {
    Ring<int> ring(2);
    for (int i = 0; i < 5; ++i)
        ring.push(i);
    EXPECT_EQ(2U, ring.size());
    EXPECT_EQ(3, *ring.begin());
    EXPECT_EQ(4, ring.back());
}

}  // namespace
}  // namespace p2p::core
