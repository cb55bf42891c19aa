// Whole Nodes, joined by queues in memory: discovery, a job from announcement to the final model,
// and what may happen in between.

#include "tests/support/node_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::milliseconds;
using std::chrono::seconds;

bool all_connected(const NodeWorld& world, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        for (const PeerStatus& peer : world.status(i).peers) {
            if (peer.state != PeerState::connected) return false;
        }
    }
    return true;
}

void expect_same_final(const NodeWorld& world, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        EXPECT_EQ(world.job(0).final_hash, world.job(i).final_hash);
        EXPECT_FALSE(world.job(i).final_hash.is_zero());
        EXPECT_EQ(world.replica(0), world.replica(i));
    }
}

TEST(Mesh, OfAllowedNodesIsWholeWithinSeconds) {
    NodeWorld world({.nodes = 6});
    EXPECT_TRUE(world.run_until([&] { return all_connected(world, 6); }, seconds{5}));
}

TEST(Job, SubmittedAtOneNodeEndsWithTheSameModelOnAll) {
    NodeWorld world({});
    world.submit(2, world.spec(40'000));
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    expect_same_final(world, 4);
    EXPECT_GE(world.job(0).samples_mesh, SampleCount{40'000});
    EXPECT_GT(world.job(1).own.swaps, 50U);
    EXPECT_DOUBLE_EQ(0.9, world.job(3).own.accuracy);
}

TEST(Job, IsNotHeldBackByASlowNode) {
    const auto seconds_to_end = [](std::vector<Duration> step_times) {
        NodeWorld world({.nodes = step_times.size(), .step_times = step_times});
        world.submit(0, world.spec(60'000));
        EXPECT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
            << world.describe();
        return to_seconds(world.time().time_since_epoch());
    };
    const double with_three =
        seconds_to_end({milliseconds{10}, milliseconds{10}, milliseconds{10}});
    const double with_slow =
        seconds_to_end({milliseconds{10}, milliseconds{10}, milliseconds{10}, milliseconds{100}});
    EXPECT_LE(with_slow, with_three + 0.2);
}

TEST(Job, EndsWithOneModelWhereItsHolderIsOutOfSomebodysReach) {
    NodeWorld world({});
    world.submit(0, world.spec(20'000));
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::finishing); }, seconds{60}))
        << world.describe();
    std::array<std::size_t, 4> by_id{0, 1, 2, 3};
    std::sort(by_id.begin(), by_id.end(), [&](std::size_t a, std::size_t b) {
        return world.id(a) < world.id(b);
    });
    // Of the lowest id is the Final; the highest hears of it from a node that has yet to fetch it.
    world.cut(by_id[3], by_id[0]);
    world.cut(by_id[3], by_id[1]);
    world.run_for(seconds{6});
    world.mend(by_id[3], by_id[0]);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    expect_same_final(world, 4);
}

TEST(Job, OfOneNodeAloneTakesExactlyItsSteps) {
    NodeWorld world({.nodes = 1});
    JobSpec spec = world.spec(32 * 50);
    world.submit(0, spec);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{20}))
        << world.describe();
    EXPECT_EQ(StepCount{50}, world.job(0).own.steps);
    EXPECT_EQ(0U, world.job(0).own.swaps);
}

TEST(Job, WaitsForItsPeersAndSaysSo) {
    NodeWorld world({.nodes = 2});
    world.cut(0, 1);
    world.submit(0, world.spec(1000));
    world.run_for(seconds{3});
    EXPECT_EQ(JobState::waiting, world.job(0).state);
    EXPECT_NE(std::string::npos, world.job(0).reason.find("needs 2 nodes, has 1"));
    world.mend(0, 1);
    EXPECT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
}

TEST(Job, GoesOnThroughBrokenLinks) {
    NodeWorld world({.seed = 4});
    world.submit(0, world.spec(80'000));
    for (int i = 0; i < 12; ++i) {
        world.run_for(milliseconds{400});
        const auto a = static_cast<std::size_t>(i % 4);
        const auto b = static_cast<std::size_t>((i + 1) % 4);
        world.cut(a, b);
        world.run_for(milliseconds{100});
        world.mend(a, b);
    }
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{90}))
        << world.describe();
    expect_same_final(world, 4);
}

TEST(Job, TakesUpANodeThatWasKilledAndRestarted) {
    NodeWorld world({.seed = 5});
    world.submit(0, world.spec(150'000));
    world.run_for(seconds{4});
    world.kill(3);
    world.run_for(seconds{2});
    EXPECT_EQ(JobState::running, world.job(0).state);
    const auto before = world.job(0).own.steps;
    world.revive(3);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{90}))
        << world.describe();
    EXPECT_GT(world.job(0).own.steps, before);
    expect_same_final(world, 4);
    EXPECT_GE(world.job(0).samples_mesh, SampleCount{150'000});
}

TEST(Job, DoesNotStandStillWhileANodeIsFrozen) {
    NodeWorld world({.seed = 6});
    world.submit(0, world.spec(300'000));
    world.run_for(seconds{4});
    const auto swaps = [&](std::size_t node) {
        return world.job(node).own.swaps;
    };
    const std::uint64_t swaps_of_four_seconds = swaps(0);
    world.freeze(1);
    const auto before = world.job(0).own.steps;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t swaps_before = swaps(0);
        world.run_for(seconds{4});
        EXPECT_GT(swaps(0), swaps_before + swaps_of_four_seconds / 3) << i << world.describe();
    }
    const auto after = world.job(0).own.steps;
    EXPECT_GT(after.value, before.value + 1900);  // 100 a second, as without the frozen one
    world.thaw(1);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
        << world.describe();
    expect_same_final(world, 4);
    EXPECT_FALSE(world.job(1).ledger.empty());  // it was stale and adopted the others' state
}

TEST(Job, MixesOverLinksThatBrokeAndCameBackWhileANodeCaughtUp) {
    for (std::uint64_t seed = 3; seed <= 4; ++seed) {
        NodeWorld world({.seed = seed});
        world.submit(0, world.spec(450'000));
        world.run_for(seconds{4});
        world.freeze(1);
        world.run_for(seconds{20});
        world.thaw(1);
        Rng rng(seed);
        for (int i = 0; i < 10; ++i) {
            const std::size_t other = std::array<std::size_t, 3>{0, 2, 3}[rng.below(3)];
            world.run_for(milliseconds{rng.below(60)});
            world.cut(1, other);
            world.run_for(milliseconds{rng.below(60)});
            world.mend(1, other);
        }
        world.run_for(seconds{8});  // it has caught up
        const std::uint64_t swaps = world.job(1).own.swaps;
        world.run_for(seconds{3});
        EXPECT_GT(world.job(1).own.swaps, swaps + 20) << "seed " << seed << world.describe();
        EXPECT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
            << "seed " << seed << world.describe();
        expect_same_final(world, 4);
    }
}

TEST(Job, IsMixedAgainWithANodeThatRemovedItAndTookItUpAgain) {
    NodeWorld world({.seed = 7});
    const JobId job = world.submit(0, world.spec(200'000));
    world.run_for(seconds{4});
    ASSERT_TRUE(world.command(1, PauseJob{job}));
    ASSERT_TRUE(world.command(1, RemoveJob{job}));
    world.run_for(seconds{1});
    world.submit_again(1, job);
    world.run_for(seconds{3});
    const std::uint64_t swaps = world.job(1).own.swaps;
    world.run_for(seconds{3});
    EXPECT_GT(world.job(1).own.swaps, swaps + 20) << world.describe();
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
        << world.describe();
    expect_same_final(world, 4);
}

TEST(Job, IsStoppedEverywhereByItsSubmitterOnly) {
    NodeWorld world({});
    const JobId job = world.submit(1, world.spec(1'000'000));
    world.run_for(seconds{4});
    ASSERT_TRUE(world.command(2, StopJob{job}));  // not the submitter: only its own node obeys
    world.run_for(seconds{1});
    EXPECT_EQ(JobState::running, world.job(0).state);
    ASSERT_TRUE(world.command(1, StopJob{job}));
    EXPECT_TRUE(world.run_until([&] { return world.all_in(JobState::stopped); }, seconds{30}))
        << world.describe();
    expect_same_final(world, 4);
}

TEST(Job, WithTheSameNameAndAnotherSpecIsAConflict) {
    NodeWorld world({});
    world.submit(0, world.spec(1'000'000));
    JobId other;
    other.bytes[9] = 9;
    const auto bytes = std::make_shared<const Bytes>(1);
    const auto done =
        world.command(0, SubmitJob{.job = other, .spec = world.spec(5), .spec_bytes = bytes});
    ASSERT_FALSE(done);
    EXPECT_EQ(ErrorCode::conflict, done.error().code);
}

TEST(Job, IsPausedHereAndGoesOnElsewhere) {
    NodeWorld world({});
    const JobId job = world.submit(0, world.spec(1'000'000));
    world.run_for(seconds{3});
    ASSERT_TRUE(world.command(0, PauseJob{job}));
    world.run_for(milliseconds{100});
    const auto mine = world.job(0).own.steps;
    const auto others = world.job(1).own.steps;
    world.run_for(seconds{2});
    EXPECT_EQ(mine, world.job(0).own.steps);
    EXPECT_GT(world.job(1).own.steps, others);
    ASSERT_TRUE(world.command(0, ResumeJob{job}));
    world.run_for(seconds{2});
    EXPECT_GT(world.job(0).own.steps, mine);
}

TEST(Hostile, SwapForAnUnknownJobIsClosedAndChangesNothing) {
    NodeWorld world({.nodes = 2});
    world.run_for(seconds{3});
    SwapOpen open;
    open.key.job.bytes[3] = 77;
    open.key.n = SwapNumber{1};
    open.share = 0.5F;
    world.inject(0, 1, open);
    world.run_for(seconds{1});
    EXPECT_TRUE(all_connected(world, 2));
    EXPECT_TRUE(world.status(1).jobs.empty());
}

TEST(Hostile, ChunkOfTheWrongSizeEndsThatConnectionOnlyAndIsCounted) {
    NodeWorld world({});
    const JobId job = world.submit(0, world.spec(500'000));
    world.run_for(seconds{4});
    SwapChunk chunk;
    chunk.key = {job, ShardIndex{0}, SwapNumber{1'000'000}};
    chunk.total = 12;
    chunk.bytes = std::make_shared<const Bytes>(12);
    world.inject(3, 0, chunk);
    world.run_for(milliseconds{20});
    std::uint64_t misbehaved = 0;
    for (const PeerStatus& peer : world.status(0).peers)
        misbehaved += peer.misbehaved;
    EXPECT_EQ(1U, misbehaved);
    ASSERT_TRUE(world.run_until([&] { return all_connected(world, 4); }, seconds{10}));
}

TEST(Hostile, JobEndLongBeforeTheTotalIsNotBelieved) {
    NodeWorld world({});
    const JobId job = world.submit(0, world.spec(1'000'000));
    world.run_for(seconds{4});
    world.inject(
        3,
        0,
        made_here(
            world.id(3),
            JobEnd{.job = job, .reason = EndReason::total, .progress = SampleCount{1'000'000}}));
    world.run_for(seconds{2});
    EXPECT_EQ(JobState::running, world.job(0).state);
}

TEST(Hostile, DonorsOfAnotherModelAreRefusedAndTheNodeMixesOn) {
    NodeWorld world({.seed = 8});
    world.submit(0, world.spec(400'000));
    world.run_for(seconds{12});
    world.freeze(1);
    world.run_for(seconds{20});
    for (const std::size_t donor : {0U, 2U, 3U})
        world.poison_states_of(donor);
    world.thaw(1);
    const auto refusals = [&] {
        std::uint64_t count = 0;
        for (const PeerStatus& peer : world.status(1).peers)
            count += peer.misbehaved;
        return count;
    };
    EXPECT_TRUE(world.run_until([&] { return refusals() > 0; }, seconds{60})) << world.describe();
    EXPECT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
        << world.describe();
    expect_same_final(world, 4);
    for (const float value : world.replica(1))
        EXPECT_NEAR(3, value, 1);  // the poison is zeros
}

TEST(Hostile, FinalThatNobodyHoldsKeepsNobodyFromTheEnd) {
    NodeWorld world({.seed = 9});
    const JobId job = world.submit(0, world.spec(100'000));
    world.run_for(seconds{4});
    for (std::uint8_t lie = 1; lie <= 3; ++lie) {
        Final final{.job = job, .hash = {}, .bytes = ByteCount{5000}, .progress = {}};
        final.hash.bytes[0] = lie;
        final.progress = SampleCount{1'000'000ULL * lie};
        for (const std::size_t to : {0U, 1U, 2U})
            world.inject(3, to, made_here(world.id(3), final));
    }
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
        << world.describe();
    expect_same_final(world, 4);
}

TEST(Hostile, SpecOfOtherBytesIsFetchedAgainElsewhere) {
    NodeWorld world({});
    world.run_for(seconds{2});
    world.cut(0, 2);
    world.cut(2, 3);
    world.poison_states_of(1);
    world.submit(0, world.spec(60'000));
    world.run_for(seconds{3});  // node 2 hears of the job from node 1 alone, and gets zeros
    EXPECT_NE(JobState::failed, world.job(2).state);
    world.mend(0, 2);
    world.mend(2, 3);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{120}))
        << world.describe();
}

TEST(Hostile, StrangersAreShownOut) {
    NodeWorld world({.nodes = 2});
    world.run_for(seconds{2});
    std::size_t refused = 0;
    for (const Notice& notice : world.notices())
        refused += std::holds_alternative<PeerRefused>(notice);
    EXPECT_EQ(0U, refused);
}

TEST(Shutdown, IsToldToPeersAndAnsweredOnceJobsAreSaved) {
    NodeWorld world({});
    world.submit(0, world.spec(1'000'000));
    world.run_for(seconds{4});
    (void)world.command(3, Shutdown{});
    world.run_for(seconds{1});
    for (const PeerStatus& peer : world.status(0).peers) {
        if (peer.id != world.id(3)) continue;
        EXPECT_EQ(PeerState::left, peer.state);
    }
    EXPECT_EQ(std::nullopt, world.audit().fault());  // nor does the leaving node wake for nothing
}

}  // namespace
}  // namespace p2p::test
