// Whose sketches speak for or against a state that a donor offers.

#include "core/job/joining.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "tests/support/peers.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::seconds;

Sketch near(double value, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> replica(2000);
    for (float& each : replica)
        each = static_cast<float>(value + 0.01 * rng.normal());
    return sketch_of(replica);
}

class Joining : public testing::Test {
  protected:
    void tell(
        std::uint8_t who, const std::optional<Sketch>& sketch, JobState state = JobState::running) {
        JobReport report;
        report.sequence = ++sequence_;
        report.state = state;
        report.distance_ratio = 0.01;
        report.sketch = sketch;
        Signed<JobReport> record;
        record.author = peer(who);
        record.value = report;
        members_.add(now_, record);
    }

    /// Two sketches of each, five seconds apart, as members tell them.
    void tell_twice(std::uint8_t who, double value) {
        now_ += seconds{5};
        tell(who, near(value, who));
        now_ += seconds{5};
        tell(who, near(value, 100U + who));
    }

    [[nodiscard]] Witnesses judge(double offered) const {
        return judge_state(now_, peer(1), near(offered, 50), members_);
    }

    TimePoint now_{};
    std::uint64_t sequence_ = 0;
    Members members_{seconds{60}};
};

TEST_F(Joining, BelievesAStateNearTheOthersAndNoOther) {
    tell_twice(1, 3);
    tell_twice(2, 3);
    tell_twice(3, 3);
    EXPECT_EQ(Witnesses::agree, judge(3));
    EXPECT_EQ(Witnesses::differ, judge(0));
    EXPECT_EQ(Witnesses::differ, judge(3.5));
}

TEST_F(Joining, IsNotDecidedByTheDonorsOwnSketch) {
    tell_twice(1, 0);
    tell_twice(2, 3);
    tell_twice(3, 3);
    EXPECT_EQ(Witnesses::differ, judge(0));
}

TEST_F(Joining, NeedsTwoWitnessesWhereTwoTakePart) {
    tell_twice(2, 0);  // in league with the donor
    tell_twice(3, 3);
    EXPECT_EQ(Witnesses::differ, judge(0));
    tell_twice(4, 0);
    EXPECT_EQ(Witnesses::agree, judge(0));  // two liars and a donor: more than it can tell
}

TEST_F(Joining, BelievesWhereNobodyElseTakesPart) {
    EXPECT_EQ(Witnesses::agree, judge(3));
    tell_twice(1, 3);
    EXPECT_EQ(Witnesses::agree, judge(3));
    tell(2, near(0, 9), JobState::done);
    EXPECT_EQ(Witnesses::agree, judge(3));
}

TEST_F(Joining, WaitsForMembersWhoHaveNotToldTwoSketches) {
    tell(2, std::nullopt);
    tell(3, near(3, 3));
    EXPECT_EQ(Witnesses::wait, judge(3));
    tell_twice(2, 3);
    EXPECT_EQ(Witnesses::wait, judge(3));
    tell_twice(3, 3);
    EXPECT_EQ(Witnesses::agree, judge(3));
}

TEST_F(Joining, AllowsForWhatTheReplicasMovedSinceTheirSketches) {
    for (const std::uint8_t who : {std::uint8_t{2}, std::uint8_t{3}}) {
        now_ += seconds{5};
        tell(who, near(3, who));
        now_ += seconds{5};
        tell(who, near(3.2, who));  // training moves it as far each five seconds
    }
    EXPECT_EQ(Witnesses::agree, judge(3.4));
    EXPECT_EQ(Witnesses::differ, judge(6));
}

}  // namespace
}  // namespace p2p::test
