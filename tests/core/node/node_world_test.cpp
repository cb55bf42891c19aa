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

TEST(Mesh, OfAllowedNodesIsWholeWithinSeconds) {
    NodeWorld world({.nodes = 6});
    EXPECT_TRUE(world.run_until([&] { return all_connected(world, 6); }, seconds{5}));
}

TEST(Mesh, SaysOnceWhyAPeerCannotBeReached) {
    NodeWorld world({.nodes = 2});
    world.cut(0, 1);
    world.run_for(seconds{30});
    const auto is_about_it = [](const Notice& notice) {
        return std::holds_alternative<PeerUnreachable>(notice);
    };
    EXPECT_EQ(2, std::count_if(world.notices().begin(), world.notices().end(), is_about_it));
}

TEST(Job, SubmittedAtOneNodeEndsWithTheSameModelOnAll) {
    NodeWorld world({});
    world.submit(2, world.spec(40'000));
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    expect_same_final(world, 4);
    EXPECT_GE(world.job(0).samples_mesh, SampleCount{40'000});
    EXPECT_GT(world.job(1).own.swaps, 50U);
    EXPECT_DOUBLE_EQ(world.trainer(3)->evaluate(1).accuracy, world.job(3).own.accuracy);
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

TEST(Job, GivesItsFinalModelToOneWhoWasAwayThoughItsHoldersWereRestarted) {
    NodeWorld world({.nodes = 3});
    world.submit(0, world.spec(20'000));
    world.run_for(seconds{2});
    world.cut(2, 0);
    world.cut(2, 1);
    ASSERT_TRUE(world.run_until(
        [&] {
            return world.job(0).state == JobState::done && world.job(1).state == JobState::done;
        },
        seconds{60}))
        << world.describe();
    for (const std::size_t holder : {0U, 1U}) {
        world.kill(holder);
        world.revive(holder);
    }
    world.mend(2, 0);
    world.mend(2, 1);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    EXPECT_EQ(world.job(0).final_hash, world.job(2).final_hash);
    EXPECT_EQ(world.job(1).final_hash, world.job(2).final_hash);
}

TEST(Job, LetsNoNewcomerSpoilTheModelWhileItIsBroughtTogether) {
    NodeWorld world({.latency = milliseconds{40}, .noise = 0.01});
    world.submit(0, world.spec(20'000));
    world.run_for(seconds{3});
    world.kill(3);  // it has no checkpoint
    ASSERT_TRUE(
        world.run_until([&] { return world.job(0).state == JobState::finishing; }, seconds{60}))
        << world.describe();
    const std::vector<float> before = world.replica(0);
    world.revive(3);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    expect_same_final(world, 4);
    double moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        moved = std::max(moved, std::abs(double{world.replica(0)[i]} - double{before[i]}));
    double walked = 0;  // all began at 3
    for (const float value : before)
        walked = std::max(walked, std::abs(double{value} - 3));
    EXPECT_LT(moved, 0.1 * walked);
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

TEST(Job, StoppedBeforeItsFirstStepStaysSoAndIsStillItsSubmittersAfterARestart) {
    NodeWorld world({.nodes = 3});
    world.cut(2, 0);
    world.cut(2, 1);
    const JobId stopped = world.submit(0, world.spec(1000));  // waits for the third
    world.run_for(seconds{2});
    (void)world.command(0, StopJob{.job = stopped});
    world.run_for(seconds{2});
    for (const std::size_t node : {0U, 1U}) {
        world.kill(node);
        world.revive(node);
    }
    world.run_for(seconds{3});
    EXPECT_EQ(JobState::stopped, world.job(0).state);
    EXPECT_EQ(JobState::stopped, world.job(1).state);
    EXPECT_EQ(world.id(0), world.job(1).submitter);
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

TEST(Job, WhoseScriptTakesItsOwnStepsIsRefusedLocalOnes) {
    NodeWorld world({});
    JobSpec spec = world.spec(5);
    spec.mixing.axes["local"] = "global-hint(0.5)";
    const auto bytes = std::make_shared<const Bytes>(1);
    const auto done = world.command(0, SubmitJob{.job = {}, .spec = spec, .spec_bytes = bytes});
    ASSERT_FALSE(done);
    EXPECT_EQ(ErrorCode::invalid, done.error().code);
    EXPECT_EQ("mixing.local", done.error().what);
}

/// What a node does with a job of its own that it takes up after a restart, once its spec is read.
Effects taken_up(const JobSpec& spec, NodeStatus& status) {
    NodeConfig config;
    config.datasets = {"set"};
    config.resumed.resize(1);
    config.resumed[0].spec_bytes = {1};
    Node node(std::move(config), {}, Rng(1));
    Effects effects;
    node.on_started({}, effects);
    const auto read = std::find_if(effects.begin(), effects.end(), [](const Effect& effect) {
        return std::holds_alternative<Work>(effect);
    });
    P2P_CHECK(read != effects.end());
    const Ticket ticket = std::get<Work>(*read).ticket;
    effects.clear();
    node.on_worked({}, ticket, SpecRead{spec}, effects);
    status = node.status({});
    return effects;
}

TEST(Job, IsTrainedWithTheLocalStepsOfItsRecipe) {
    JobSpec spec;
    spec.model.layers = {4, 2};
    spec.data.set = "set";
    spec.train.samples = 100;
    spec.mixing.axes = {{"local", "quasi-global(0.75)"}};
    NodeStatus status;
    for (const Effect& effect : taken_up(spec, status)) {
        const auto* start = std::get_if<StartTraining>(&effect);
        if (start == nullptr) continue;
        EXPECT_EQ((LocalSpec{.kind = Local::quasi_global, .a = 0.75}), start->local);
        return;
    }
    FAIL() << "it does not train: " << status.jobs.at(0).reason;
}

TEST(Job, WithLocalStepsThatItsModelCannotTakeFailsBeforeItTrains) {
    JobSpec spec = NodeWorld({}).spec(100);
    spec.mixing.axes["local"] = "quasi-global(0.75)";
    NodeStatus status;
    for (const Effect& effect : taken_up(spec, status))
        EXPECT_FALSE(std::holds_alternative<StartTraining>(effect));
    ASSERT_EQ(1U, status.jobs.size());
    EXPECT_EQ(JobState::failed, status.jobs[0].state);
    EXPECT_NE(std::string::npos, status.jobs[0].reason.find("mixing.local"));
}

TEST(Job, EndsWithTheAccuracyOfTheFinalModelThoughAnEarlierOneWasStillBeingMeasured) {
    NodeWorldOptions options;
    options.evaluate_seconds = 30;
    NodeWorld world(options);
    JobSpec spec = world.spec(100'000);
    spec.eval.every = milliseconds{100};  // one is always under way
    world.submit(0, spec);
    ASSERT_TRUE(world.run_until([&] { return world.all_in(JobState::done); }, seconds{60}))
        << world.describe();
    world.run_for(seconds{61});
    for (std::size_t node = 0; node < options.nodes; ++node)
        EXPECT_EQ(world.trainer(node)->evaluate(1).accuracy, world.job(node).own.accuracy) << node;
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
    world.kill(3);
    world.revive(3);
    ASSERT_TRUE(world.run_until([&] { return all_connected(world, 4); }, seconds{10}));
    for (const PeerStatus& peer : world.status(0).peers) {
        EXPECT_EQ("", peer.note);             // it is back
        EXPECT_GT(peer.bulk_sent.value, 0U);  // also of the link before
    }
    EXPECT_EQ(std::nullopt, world.audit().fault());  // nor does the leaving node wake for nothing
}

}  // namespace
}  // namespace p2p::test
