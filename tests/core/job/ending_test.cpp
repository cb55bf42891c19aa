// When the final model is offered, and by whom.

#include "core/job/ending.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "tests/support/peers.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::minutes;
using std::chrono::seconds;

class TheEnd : public testing::Test {
  protected:
    TheEnd() { ending_.latch(now_, EndReason::total); }

    void tell(
        std::uint8_t who,
        bool settled,
        JobState state = JobState::finishing,
        bool is_linked = true) {
        Signed<JobReport> record;
        record.author = peer(who);
        record.value.sequence = ++sequence_;
        record.value.state = state;
        record.value.settled = settled;
        members_.add(now_, record);
        members_.on_linked(peer(who), is_linked);
    }

    /// Report periods until the final is offered, at most `limit`.
    int periods_until_offered(bool is_settled, int limit) {
        for (int period = 1; period <= limit; ++period) {
            now_ += seconds{1};
            if (heard_of_) tell(*heard_of_, true, JobState::finishing, false);
            const Ending::Context context{
                .now = now_, .self = peer(1), .progress = progress_, .members = members_};
            if (ending_.should_offer_final(context, is_settled)) return period;
        }
        return limit + 1;
    }

    JobSpec spec_;
    Ending ending_{spec_, seconds{1}};
    Progress progress_{peer(1), SampleCount{}};
    Members members_{seconds{10}};
    TimePoint now_ = TimePoint{} + seconds{100};
    std::uint64_t sequence_ = 0;
    std::optional<std::uint8_t> heard_of_;  // reports each second, and is not linked
};

TEST_F(TheEnd, IsOfferedAfterThreePeriodsInWhichAllHaveSettled) {
    tell(2, true);
    tell(3, true);
    EXPECT_EQ(3, periods_until_offered(true, 10));
}

TEST_F(TheEnd, IsLeftToTheLowestId) {
    tell(0, true);
    EXPECT_EQ(11, periods_until_offered(true, 10));
}

TEST_F(TheEnd, WaitsForAMemberThatHasNotSettledUntilTheDeadlineAndNotForEver) {
    tell(2, false);
    EXPECT_EQ(301, periods_until_offered(true, 300));
    const int deadline = static_cast<int>(to_seconds(spec_.mixing.finish_deadline));
    EXPECT_LE(periods_until_offered(true, deadline), deadline - 295);
}

TEST_F(TheEnd, IsOfferedPastTheDeadlineByANodeThatCannotSettleItself) {
    tell(2, true);
    const int deadline = static_cast<int>(to_seconds(spec_.mixing.finish_deadline));
    EXPECT_EQ(deadline + 2, periods_until_offered(false, deadline + 10));
}

TEST_F(TheEnd, IsLeftPastTheDeadlineToTheLowestIdThatIsHeardOfThoughNotLinked) {
    tell(2, false);
    heard_of_ = 0;
    const int deadline = static_cast<int>(to_seconds(spec_.mixing.finish_deadline));
    EXPECT_EQ(2 * deadline, periods_until_offered(true, 2 * deadline - 1));
}

TEST_F(TheEnd, IsOfferedPastTwiceTheDeadlineByTheLowestOfThoseThatAreLinked) {
    tell(2, false);
    heard_of_ = 0;
    const int deadline = static_cast<int>(to_seconds(spec_.mixing.finish_deadline));
    EXPECT_LE(periods_until_offered(true, 3 * deadline), 2 * deadline + 2);
}

TEST_F(TheEnd, LeavesTheLowestIdTheTimeToBeHeardHoweverShortTheDeadlineIs) {
    spec_.mixing.finish_deadline = seconds{3};
    ending_ = Ending(spec_, seconds{1});
    ending_.latch(now_, EndReason::total);
    tell(2, false);
    heard_of_ = 0;
    const int offered_after = periods_until_offered(true, 60);
    EXPECT_GE(offered_after, 12);
    EXPECT_LE(offered_after, 20);
}

}  // namespace
}  // namespace p2p::test
