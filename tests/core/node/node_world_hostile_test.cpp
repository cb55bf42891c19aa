// Whole Nodes among members that lie, claim and send what does not fit: what is refused, that
// others notice nothing, and that no job is held up.

#include <array>

#include <gtest/gtest.h>

#include "tests/support/node_world.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::milliseconds;
using std::chrono::seconds;

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

}  // namespace
}  // namespace p2p::test
