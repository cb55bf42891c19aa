// Runs: the same seed gives the same run, recipes learn and end with one model, faults are seen.

#include "tools/sim/run.hpp"

#include <gtest/gtest.h>

#include "proto/json.hpp"
#include "tests/tools/sim/toy_stage.hpp"
#include "tools/sim/audit.hpp"
#include "tools/sim/parallel.hpp"
#include "tools/sim/table.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {
namespace {

RunRequest toy_request(const std::string& recipe, std::uint64_t seed = 1) {
    RunRequest request;
    request.stage = toy_stage();
    request.recipe = recipe;
    request.seed = seed;
    request.data = toy_data();
    request.limit_seconds = 600;
    request.looks = 10;
    return request;
}

Outcome run_toy(const RunRequest& request) {
    auto outcome = run(request, {});
    P2P_CHECK(outcome.has_value());
    EXPECT_TRUE(outcome->is_finished) << outcome->trouble;
    return *std::move(outcome);
}

TEST(Run, OfTheSameSeedIsTheSameRun) {
    const Outcome one = run_toy(toy_request("ad-psgd"));
    const Outcome same = run_toy(toy_request("ad-psgd"));
    const Outcome other = run_toy(toy_request("ad-psgd", 2));
    EXPECT_EQ(one.digest, same.digest);
    EXPECT_EQ(one.seconds, same.seconds);
    EXPECT_EQ(one.nodes[0].loss, same.nodes[0].loss);
    EXPECT_NE(one.digest, other.digest);
}

TEST(Run, OfARecipeWithLocalStepsLearnsAndIsAnotherThanWithout) {
    for (const char* recipe : {"quasi-global", "dc-asgd", "palsgd"}) {
        RunRequest request = toy_request(recipe);
        const Outcome bent = run_toy(request);
        EXPECT_GT(bent.nodes[0].accuracy, 0.9) << recipe;
        EXPECT_EQ(bent.nodes[0].loss, bent.nodes[3].loss) << recipe;
        request.axes["local"] = "plain";
        EXPECT_NE(bent.nodes[0].loss, run_toy(request).nodes[0].loss) << recipe;
    }
}

class Learns : public testing::TestWithParam<const char*> {};

TEST_P(Learns, AndEndsWithOneModelOnAllNodes) {
    const Outcome outcome = run_toy(toy_request(GetParam()));
    ASSERT_EQ(4U, outcome.nodes.size());
    for (const NodeOutcome& node : outcome.nodes) {
        EXPECT_EQ(outcome.nodes[0].loss, node.loss);
        EXPECT_GT(node.accuracy, 0.9);
    }
    EXPECT_GE(outcome.curve.back().samples, 12'000);
    EXPECT_TRUE(outcome.reached(0.9).has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, Learns, testing::Values("ad-psgd", "d-psgd", "free", "allreduce", "allreduce-site"));

TEST(Run, IsNotHeldBackByTheSlowNodeUnlessTheRecipeWaits) {
    const Outcome waits = run_toy(toy_request("d-psgd"));
    const Outcome does_not = run_toy(toy_request("ad-psgd"));
    EXPECT_GT(waits.seconds, 2 * does_not.seconds);
    for (std::size_t fast = 0; fast < 3; ++fast)
        EXPECT_GT(does_not.nodes[fast].utilization, 0.98);
    EXPECT_LT(waits.nodes[0].utilization, 0.5);
}

TEST(Run, OneModelForAllLearnsFromEveryMachinesDataWhereNoneHasAllLabels) {
    for (const std::string recipe : {"free", "allreduce", "allreduce-site"}) {
        SCOPED_TRACE(recipe);
        RunRequest request = toy_request(recipe);
        request.stage.job.data.split = core::SplitKind::by_label;  // two of four labels a node
        EXPECT_GT(run_toy(request).nodes[0].accuracy, 0.9);
    }
}

TEST(Run, WithoutMixingFailsWhatAMeasureAsks) {
    const Outcome none = run_toy(toy_request("none"));
    const Outcome mixed = run_toy(toy_request("ad-psgd"));
    EXPECT_GT(none.nodes[0].loss, mixed.nodes[0].loss);
}

TEST(Run, GoesOnThroughKillsFreezesAndCuts) {
    for (const Mishap what : {Mishap::kill, Mishap::freeze, Mishap::cut}) {
        RunRequest request = toy_request("ad-psgd");
        request.stage.events.push_back(
            {.what = what,
             .at = std::chrono::seconds{2},
             .every = std::chrono::seconds{4},
             .lasts = std::chrono::seconds{1}});
        const Outcome outcome = run_toy(request);
        for (const NodeOutcome& node : outcome.nodes)
            EXPECT_EQ(outcome.nodes[0].loss, node.loss);
    }
}

/// What a mishap does, seen in the figures that it must change.
Outcome run_with(StageEvent event) {
    RunRequest request = toy_request("ad-psgd");
    request.stage.events.push_back(event);
    return run_toy(request);
}

TEST(Run, ASlowedNodeTrainsLessThanItWould) {
    const Outcome plain = run_toy(toy_request("ad-psgd"));
    const Outcome slowed = run_with(
        {.what = Mishap::slow,
         .at = {},
         .lasts = std::chrono::hours{1},
         .target = 0,
         .factor = 0.1});
    EXPECT_LT(slowed.nodes[0].samples, 0.3 * plain.nodes[0].samples);
    EXPECT_GT(slowed.nodes[1].samples, plain.nodes[1].samples);
}

TEST(Run, ANodeThatJoinsLateHasTrainedLessAndEndsWithTheSameModel) {
    const Outcome plain = run_toy(toy_request("ad-psgd"));
    const Outcome joined =
        run_with({.what = Mishap::join, .at = std::chrono::milliseconds{1500}, .target = 1});
    EXPECT_GT(joined.nodes[1].samples, 0);
    EXPECT_LT(joined.nodes[1].samples, 0.8 * plain.nodes[1].samples);
    EXPECT_EQ(joined.nodes[0].loss, joined.nodes[1].loss);
}

TEST(Run, WithAClogIsAnotherRunAndEndsWithOneModelStill) {
    const Outcome plain = run_toy(toy_request("ad-psgd"));
    for (const Way way : {Way::both, Way::out, Way::in}) {
        const Outcome clogged = run_with(
            {.what = Mishap::clog,
             .at = std::chrono::milliseconds{500},
             .lasts = std::chrono::seconds{2},
             .target = 1,
             .way = way});
        EXPECT_NE(plain.digest, clogged.digest);
        for (const NodeOutcome& node : clogged.nodes)
            EXPECT_EQ(clogged.nodes[0].loss, node.loss);
    }
}

TEST(Run, AnEventOfANodeThatIsNotThereDoesNotHappen) {
    const Outcome plain = run_toy(toy_request("ad-psgd"));
    const Outcome same = run_with({.what = Mishap::kill, .at = {}, .target = 99});
    EXPECT_EQ(plain.digest, same.digest);
}

/// The property behind the stories: whatever dies, freezes or parts company, each part that is
/// whole at the end holds one model, and no swap has shifted the mean (the audit would end the
/// run).
TEST(World, EndsWithOneModelInEachPartWhateverHappens) {
    const auto data = toy_data();
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const Mishap what : {Mishap::kill, Mishap::freeze, Mishap::cut}) {
            core::Rng rng(seed * 3 + static_cast<std::uint64_t>(what));
            const auto drawn = [&](std::uint64_t least, std::uint64_t spread) {
                return std::chrono::milliseconds{least + rng.below(spread)};
            };
            Stage stage = toy_stage();
            stage.job.mixing.min_peers = 4;
            stage.job.eval.every = {};
            for (int i = 0; i < 2; ++i) {
                stage.events.push_back(
                    {.what = what,
                     .at = drawn(5500, 3000),
                     .every = drawn(2000, 4000),
                     .lasts = drawn(200, 3000)});
            }
            Classroom room(stage.job, data, core::best_kernel_level());
            WorldSetup setup;
            setup.stage = stage;
            setup.seed = seed;
            setup.make_trainer = [&](const auto& order, core::PeerId self, std::size_t) {
                return make_learner(order.spec, self, room);
            };
            World world(std::move(setup));
            world.run_for(std::chrono::seconds{5});
            world.submit(0, stage.job);
            const auto is_done = [&] {
                return world.all_in(core::JobState::done);
            };
            ASSERT_TRUE(world.run_until(is_done, std::chrono::seconds{300}))
                << "seed " << seed << ", mishap " << static_cast<int>(what) << "\n"
                << world.audit().fault().value_or("") << world.describe();
            for (std::size_t a = 0; a < world.size(); ++a) {
                for (std::size_t b = 0; b < a; ++b) {
                    const bool is_one_part = what != Mishap::cut || a / 2 == b / 2;
                    if (!world.is_alive(a) || !world.is_alive(b) || !is_one_part) continue;
                    EXPECT_EQ(world.job(a).final_hash, world.job(b).final_hash)
                        << "seed " << seed << ", mishap " << static_cast<int>(what);
                }
            }
        }
    }
}

TEST(Run, RefusesARecipeOrAnAxisThatThereIsNot) {
    EXPECT_FALSE(run(toy_request("ad-sgd"), {}));
    RunRequest request = toy_request("ad-psgd");
    request.axes = {{"codec", "q9"}};
    EXPECT_FALSE(run(request, {}));
    request.axes = {{"lr", "fast"}};
    EXPECT_FALSE(run(request, {}));
    request = toy_request("diloco-ring");
    request.axes = {{"codec", "q8"}};
    EXPECT_FALSE(run(request, {}));
    request = toy_request("ad-psgd");
    request.stage.job.model.layers = {17, 8, 4};
    EXPECT_FALSE(run(request, {}));
}

TEST(RunEach, GivesTheSameOutcomesInAnyNumberOfProcesses) {
    const std::vector<RunRequest> requests{
        toy_request("ad-psgd"), toy_request("free"), toy_request("ad-psgd", 2)};
    const auto one = run_each(requests, 1, [](const RunReport&) {});
    const auto three = run_each(requests, 3, [](const RunReport&) {});
    ASSERT_TRUE(one && three);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ((*one)[i].digest, (*three)[i].digest);
        EXPECT_EQ((*one)[i].recipe, requests[i].recipe);
    }
}

TEST(RunEach, TellsTheErrorOfARunThatCannotBe) {
    const auto outcomes =
        run_each({toy_request("free"), toy_request("no-such")}, 2, [](const RunReport&) {});
    ASSERT_FALSE(outcomes);
    EXPECT_NE(std::string::npos, outcomes.error().what.find("no-such"));
}

// --- the audit -----------------------------------------------------------------------------------

core::Apply order_of(bool is_low, float weight = 0.5F) {
    core::Apply order;
    order.n = core::SwapNumber{3};
    order.weight = weight;
    order.self_is_low = is_low;
    return order;
}

TEST(Audit, FindsADisplacementThatIsNotTheOthersNegative) {
    const std::vector<float> low{0.5F, -1, 0};
    const std::vector<float> high{-0.5F, 1, 0};
    const std::vector<float> wrong{-0.5F, 1, 1e-7F};
    Audit fair;
    fair.on_applied(0, 1, {}, order_of(true), low);
    EXPECT_EQ(1U, fair.one_sided());
    fair.on_applied(1, 0, {}, order_of(false), high);
    EXPECT_EQ(std::nullopt, fair.fault());
    EXPECT_EQ(0U, fair.one_sided());
    EXPECT_EQ(1U, fair.swaps_matched());

    Audit unfair;
    unfair.on_applied(0, 1, {}, order_of(true), low);
    unfair.on_applied(1, 0, {}, order_of(false), wrong);
    EXPECT_TRUE(unfair.fault().has_value());
    Audit twice;
    twice.on_applied(0, 1, {}, order_of(true), low);
    twice.on_applied(0, 1, {}, order_of(true), low);
    EXPECT_TRUE(twice.fault().has_value());
    Audit weights;
    weights.on_applied(0, 1, {}, order_of(true), low);
    weights.on_applied(1, 0, {}, order_of(false, 0.25F), high);
    EXPECT_TRUE(weights.fault().has_value());
}

// --- tables --------------------------------------------------------------------------------------

TEST(Table, LinesUpAndCountsTheSeedsThatReachedTheTarget) {
    Outcome good;
    good.recipe = "good";
    good.is_finished = true;
    good.curve = {{.seconds = 5, .megabytes = 2, .accuracy_median = 0.9}};
    good.nodes = {{.accuracy = 0.9}};
    Outcome bad = good;
    bad.recipe = "bad";
    bad.curve[0].accuracy_median = 0.2;
    const std::string table = outcome_table({good, good, bad}, 0.85);
    EXPECT_NE(std::string::npos, table.find("good     5.0  2.0")) << table;
    EXPECT_NE(std::string::npos, table.find("bad        -    -")) << table;
    EXPECT_NE(std::string::npos, table.find("2/2")) << table;
}

TEST(Table, FitsInto120ColumnsWithLargeFigures) {
    Outcome outcome;
    outcome.recipe = "ad-psgd:codec=delta(q8):when=every(16)";
    outcome.is_finished = true;
    outcome.seconds = 23'456.7;
    outcome.rho = 41.23;
    outcome.curve = {
        {.seconds = 23'456.7,
         .samples = 9'876'543,
         .megabytes = 54'321.9,
         .accuracy_median = 0.8765,
         .distance_ratio = 0.0123}};
    outcome.nodes = {
        {.accuracy = 0.8812,
         .loss = 0.3456,
         .utilization = 1,
         .waiting_seconds = 12'345.6,
         .megabytes = 65'432.1}};
    const std::string table = outcome_table({outcome}, 0.85);
    for (std::size_t at = 0; at < table.size();) {
        const std::size_t end = table.find('\n', at);
        EXPECT_LE(end - at, 120U) << table;
        at = end + 1;
    }
    EXPECT_NE(std::string::npos, table.find("ad-psg..=every(16)")) << table;
}

TEST(Table, SaysWhatAFreeNetworkWouldHaveMadeOfTheTime) {
    Outcome free;
    free.recipe = "free";
    free.curve = {{.seconds = 4, .accuracy_median = 0.9}};
    free.nodes = {{.accuracy = 0.9}};
    Outcome ours = free;
    ours.recipe = "ours";
    ours.curve[0].seconds = 5;
    const std::string table = outcome_table({free, ours}, 0.85);
    EXPECT_NE(std::string::npos, table.find("80.0")) << table;
    EXPECT_EQ(std::string::npos, outcome_table({ours}, 0.85).find("80.0"));
}

TEST(Run, WaitingAndWorkingAreAllOfANodesTime) {
    const Outcome waits = run_toy(toy_request("d-psgd"));
    for (const NodeOutcome& node : waits.nodes) {
        const double working = node.utilization * waits.seconds;
        EXPECT_GT(node.waiting_seconds + working, 0.8 * waits.seconds);
        EXPECT_LT(node.waiting_seconds + working, 1.02 * waits.seconds);
    }
    EXPECT_GT(waits.nodes[0].waiting_seconds, 2 * waits.nodes[3].waiting_seconds);
}

TEST(Table, PutsNumbersToTheRightAndWordsToTheLeft) {
    EXPECT_EQ(
        "NAME  COUNT  WHAT\n"
        "a         1  one\n"
        "bcd      12  a dozen\n",
        lined_up({{"NAME", "COUNT", "WHAT"}, {"a", "1", "one"}, {"bcd", "12", "a dozen"}}));
}

TEST(Table, OutcomesComeBackFromJson) {
    const Outcome outcome = run_toy(toy_request("ad-psgd"));
    const Outcome back = outcome_from_json(outcome_json(outcome));
    EXPECT_EQ(outcome.digest, back.digest);
    EXPECT_EQ(outcome.curve.size(), back.curve.size());
    EXPECT_EQ(outcome.nodes[2].megabytes, back.nodes[2].megabytes);
}

}  // namespace
}  // namespace p2p::sim
