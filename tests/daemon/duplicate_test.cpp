#include "daemon/duplicate.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr core::TimePoint now{std::chrono::hours{1}};

SessionFacts session(bool dialled_here, core::Duration age = milliseconds{100}) {
    return {
        .dialled_here = dialled_here,
        .incarnation = core::Incarnation{3},
        .up_since = now - age,
        .last_heard = now - milliseconds{1}};
}

TEST(Duplicate, TheOneDialledByTheLowerIdStaysAtBothEndsAndInBothOrders) {
    // Session L is dialled by the lower id, H by the higher; the ends may see either first.
    for (const bool self_is_low : {true, false}) {
        const SessionFacts by_low = session(/*dialled_here=*/self_is_low);
        const SessionFacts by_high = session(/*dialled_here=*/!self_is_low);
        EXPECT_EQ(Stays::older, which_stays(now, self_is_low, by_low, by_high));
        EXPECT_EQ(Stays::newer, which_stays(now, self_is_low, by_high, by_low));
    }
}

TEST(Duplicate, ASilentSessionMakesWay) {
    SessionFacts older = session(/*dialled_here=*/true);
    older.last_heard = now - silence_max;
    EXPECT_EQ(Stays::newer, which_stays(now, /*self_is_low=*/true, older, session(false)));
}

TEST(Duplicate, WhoDialsAgainHasLostTheFirst) {
    EXPECT_EQ(Stays::newer, which_stays(now, true, session(false), session(false)));
}

TEST(Duplicate, ADialLongAfterTheFirstMeansThatItsEndHasLostIt) {
    const SessionFacts older = session(/*dialled_here=*/true, crossing_time_max);
    EXPECT_EQ(Stays::newer, which_stays(now, /*self_is_low=*/true, older, session(false)));
}

TEST(Duplicate, TheNewerProcessStays) {
    const SessionFacts older = session(/*dialled_here=*/true);
    SessionFacts restarted = session(/*dialled_here=*/false);
    restarted.incarnation = core::Incarnation{4};
    EXPECT_EQ(Stays::newer, which_stays(now, /*self_is_low=*/true, older, restarted));
    EXPECT_EQ(Stays::older, which_stays(now, /*self_is_low=*/true, restarted, older));
}

}  // namespace
}  // namespace p2p::daemon
