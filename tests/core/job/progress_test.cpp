#include "core/job/progress.hpp"

#include <gtest/gtest.h>

#include "core/job/blob_fetch.hpp"
#include "core/job/ending.hpp"
#include "tests/support/peers.hpp"

namespace p2p::core {
namespace {

using test::at;
using test::peer;

constexpr Duration quiet = std::chrono::seconds{3};

TEST(Progress, IsTheSumOfCountersThatNeverFall) {
    Progress progress(peer(1), SampleCount{1000});
    progress.set_own(SampleCount{100});
    progress.set_own(SampleCount{50});
    progress.on_report(at(0), peer(2), SampleCount{200});
    progress.on_report(at(1), peer(2), SampleCount{150});
    EXPECT_EQ(SampleCount{300}, progress.mesh());
    EXPECT_DOUBLE_EQ(0.3, progress.ratio());
}

TEST(Progress, CapsAClaimThatGrowsFasterThanFourTimesTheMeasuredRate) {
    Progress progress(peer(1), SampleCount{100'000'000});
    for (int i = 0; i <= 10; ++i) {
        progress.on_report(at(i), peer(2), SampleCount{static_cast<std::uint64_t>(i) * 5000});
    }
    progress.on_report(at(11), peer(2), SampleCount{50'000'000});
    EXPECT_LE(progress.of(peer(2)), SampleCount{50'000 + 4 * 5000});
    EXPECT_EQ(1U, progress.claims_capped());
}

TEST(Progress, EstimatesWhatOthersDidSinceTheirReportsAndNoFurtherThanItsReach) {
    Progress progress(peer(1), SampleCount{1000});
    progress.on_report(at(0), peer(2), SampleCount{0});
    progress.on_report(at(10), peer(2), SampleCount{500});
    const auto reach = [](PeerId) {
        return Duration{std::chrono::seconds{8}};
    };
    progress.estimate(at(10.9), at(1) - at(0), reach);
    EXPECT_EQ(SampleCount{500}, progress.estimated());
    progress.estimate(at(15), at(1) - at(0), reach);
    EXPECT_EQ(SampleCount{700}, progress.estimated());
    EXPECT_EQ(SampleCount{500}, progress.mesh());
    EXPECT_DOUBLE_EQ(0.7, progress.ratio());
    progress.estimate(at(100), at(1) - at(0), reach);
    EXPECT_EQ(SampleCount{900}, progress.estimated());
    EXPECT_FALSE(progress.is_total_reached());
}

TEST(Progress, OfANodeThatWasRestartedFromAnOlderCheckpointCountsOn) {
    Progress progress(peer(1), SampleCount{1000});
    progress.on_resumed(SampleCount{100}, SampleCount{100});
    progress.on_own_report(SampleCount{160}, SampleCount{100});  // what others remember of it
    EXPECT_EQ(SampleCount{160}, progress.own());
    progress.set_own(SampleCount{110});
    EXPECT_EQ(SampleCount{170}, progress.own());
}

TEST(Staleness, IsNothingForASlowNodeThatSwaps) {
    Progress progress(peer(1), SampleCount{1000});
    for (int i = 0; i < 50; ++i) {
        progress.on_report(at(i), peer(2), SampleCount{static_cast<std::uint64_t>(i) * 20});
        progress.mark_current(at(i));
        EXPECT_DOUBLE_EQ(0, progress.staleness(at(i + 1), quiet));
    }
}

TEST(Staleness, IsWhatOthersDidWhileThisNodeWasAway) {
    Progress progress(peer(1), SampleCount{1000});
    progress.mark_current(at(0));
    progress.on_report(at(1), peer(2), SampleCount{0});
    progress.on_report(at(20), peer(2), SampleCount{400});
    EXPECT_DOUBLE_EQ(0.4, progress.staleness(at(20), quiet));
    progress.mark_current(at(20));
    EXPECT_DOUBLE_EQ(0, progress.staleness(at(20), quiet));
}

TEST(Staleness, OfAJoinerIsWhatWasDoneBeforeItCame) {
    Progress joiner(peer(1), SampleCount{1000});
    joiner.on_report(at(0), peer(2), SampleCount{300});
    EXPECT_DOUBLE_EQ(0.3, joiner.staleness(at(0), quiet));

    Progress resumed(peer(1), SampleCount{1000});  // all were killed at once and came back
    resumed.on_resumed(SampleCount{300}, SampleCount{600});
    resumed.on_report(at(0), peer(2), SampleCount{300});
    EXPECT_DOUBLE_EQ(0, resumed.staleness(at(0), quiet));
}

struct EndingTest : testing::Test {
    EndingTest() {
        spec.train.samples = 1000;
        spec.mixing.finish_tolerance = 1e-4;
    }

    Ending::Context context(TimePoint now) {
        return {
            .now = now,
            .self = peer(2),
            .progress = progress,
            .members = members,
            .training_time = {},
            .has_signed_stop = has_stop};
    }

    void hear(TimePoint now, std::uint8_t number, JobState state, bool settled) {
        JobReport report;
        report.sequence = ++sequence;
        report.state = state;
        report.settled = settled;
        members.add(now, made_here(peer(number), report));
        members.on_linked(peer(number), true);
    }

    JobSpec spec;
    Progress progress{peer(2), SampleCount{1000}};
    Members members{std::chrono::seconds{10}};
    bool has_stop = false;
    std::uint64_t sequence = 0;
};

TEST_F(EndingTest, BelievesATotalOnlyNearTheTotal) {
    Ending ending(spec, std::chrono::seconds{1});
    const JobEnd end{.job = {}, .reason = EndReason::total, .progress = SampleCount{1000}};
    progress.set_own(SampleCount{900});
    EXPECT_FALSE(ending.is_believable(end, context(at(0))));
    progress.set_own(SampleCount{950});
    EXPECT_TRUE(ending.is_believable(end, context(at(0))));
}

TEST_F(EndingTest, BelievesAStopOnlyWithItsSignedControl) {
    Ending ending(spec, std::chrono::seconds{1});
    const JobEnd end{.job = {}, .reason = EndReason::stop, .progress = {}};
    EXPECT_FALSE(ending.is_believable(end, context(at(0))));
    has_stop = true;
    EXPECT_TRUE(ending.is_believable(end, context(at(0))));
}

TEST_F(EndingTest, OffersAFinalAfterThreePeriodsOfAllSettledAndOnlyFromTheLowestId) {
    Ending ending(spec, std::chrono::seconds{1});
    ending.latch(at(0), EndReason::total);
    hear(at(0), 3, JobState::finishing, true);
    EXPECT_FALSE(ending.should_offer_final(context(at(1)), true));
    EXPECT_FALSE(ending.should_offer_final(context(at(2)), true));
    EXPECT_TRUE(ending.should_offer_final(context(at(3)), true));
    hear(at(3), 1, JobState::finishing, true);  // a lower id
    EXPECT_FALSE(ending.should_offer_final(context(at(4)), true));
}

TEST_F(EndingTest, WaitsForWhoStillTrainsAndForWhoHasNotSettled) {
    Ending ending(spec, std::chrono::seconds{1});
    ending.latch(at(0), EndReason::total);
    hear(at(0), 3, JobState::running, false);
    for (int i = 1; i < 6; ++i)
        EXPECT_FALSE(ending.should_offer_final(context(at(i)), true));
    hear(at(6), 3, JobState::finishing, false);
    for (int i = 7; i < 12; ++i)
        EXPECT_FALSE(ending.should_offer_final(context(at(i)), true));
}

TEST_F(EndingTest, TakesNoFinalFarFromTheOwnReplicaUnlessItIsKnownToBeDone) {
    Ending ending(spec, std::chrono::seconds{1});
    EXPECT_TRUE(ending.is_acceptable(context(at(0)), 1e-3, false));
    EXPECT_FALSE(ending.is_acceptable(context(at(0)), 2e-3, false));
    EXPECT_TRUE(ending.is_acceptable(context(at(0)), 2e-3, true));
}

TEST(BlobFetch, TakesPiecesInOrderFromItsSourceOnlyAndAsksForNothingTwice) {
    BlobFetch fetch({}, 100);
    EXPECT_EQ(0U, fetch.ask(at(0), peer(2), std::chrono::seconds{5}).offset);
    const auto bytes = std::make_shared<const Bytes>(40);
    const BlobChunk first{.hash = {}, .offset = 0, .total = 80, .bytes = bytes};
    const BlobChunk second{.hash = {}, .offset = 40, .total = 80, .bytes = bytes};
    EXPECT_EQ(BlobFetch::Verdict::skip, fetch.on_chunk(at(0), peer(3), first));
    EXPECT_EQ(BlobFetch::Verdict::refuse, fetch.on_chunk(at(0), peer(2), second));
    EXPECT_EQ(BlobFetch::Verdict::keep, fetch.on_chunk(at(0), peer(2), first));
    fetch.on_source_lost();
    EXPECT_EQ(40U, fetch.ask(at(1), peer(3), std::chrono::seconds{5}).offset);
    EXPECT_EQ(BlobFetch::Verdict::keep, fetch.on_chunk(at(1), peer(3), second));
    EXPECT_TRUE(fetch.is_complete());
}

TEST(BlobFetch, RefusesMoreThanWasAllowed) {
    BlobFetch fetch({}, 100);
    (void)fetch.ask(at(0), peer(2), std::chrono::seconds{5});
    const auto bytes = std::make_shared<const Bytes>(40);
    const BlobChunk huge{.hash = {}, .offset = 0, .total = 101, .bytes = bytes};
    EXPECT_EQ(BlobFetch::Verdict::refuse, fetch.on_chunk(at(0), peer(2), huge));
}

}  // namespace
}  // namespace p2p::core
