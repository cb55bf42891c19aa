// What must hold of mixing whatever happens: no codec, delay, broken link, restart or refusal moves
// the mean; both ends move by the same bits; the budget keeps overlapping swaps stable.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/core/mixing/mixing_expect.hpp"
#include "tests/support/mix_world.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

float nothing(std::size_t /*node*/) {
    return 0;
}

class EveryCodec : public testing::TestWithParam<std::string> {};

TEST_P(EveryCodec, LeavesTheMeanWhereItIsUnderBrokenLinksAndAnyDelay) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        MixWorld world(
            {.seed = seed,
             .recipe = recipe_of("ad-psgd", {{"codec", GetParam()}}),
             .step_noise = 0.01,
             .initial = seed == 1 ? nullptr : &nothing});
        const auto before = world.sum();
        Rng rng(seed);
        for (int i = 0; i < 40; ++i) {
            world.run_for(milliseconds{static_cast<int>(rng.below(300))});
            const std::size_t a = rng.below(4);
            const std::size_t b = (a + 1 + rng.below(3)) % 4;
            world.break_link(std::min(a, b), std::max(a, b));
            world.run_for(milliseconds{static_cast<int>(rng.below(100))});
            world.mend_link(std::min(a, b), std::max(a, b));
            expect_same_sum(before, world.sum());
        }
        world.run_for(seconds{5});
        EXPECT_EQ(0U, world.unequal_rebuilds);
        EXPECT_TRUE(world.offences.empty()) << world.offences.front();
        EXPECT_TRUE(world.ledger.empty());
        EXPECT_GT(world.ended.size(), 500U);
    }
}

TEST_P(EveryCodec, OwesNothingOnceEverythingHasSettled) {
    MixWorld world({.seed = 3, .recipe = recipe_of("ad-psgd", {{"codec", GetParam()}})});
    world.run_for(seconds{2});
    world.break_link(0, 1);
    world.break_link(2, 3);
    world.run_for(milliseconds{30});
    world.mend_link(0, 1);
    world.mend_link(2, 3);
    world.begin_finishing();
    world.run_for(seconds{20});
    EXPECT_EQ(0U, world.displacements_owed());
}

TEST_P(EveryCodec, BringsAllReplicasTogetherAtTheEnd) {
    MixWorld world(
        {.seed = 5,
         .nodes = 5,
         .recipe = recipe_of("ad-psgd", {{"codec", GetParam()}}),
         .step_noise = 0.02});
    world.run_for(seconds{3});
    const auto before = world.sum();
    world.begin_finishing();
    world.run_for(seconds{20});
    EXPECT_TRUE(world.is_settled());
    const double norm = std::sqrt(700.0) * 3;
    EXPECT_LT(world.largest_distance(), 4e-4 * norm);
    expect_same_sum(before, world.sum());
}

TEST_P(EveryCodec, GoesOnAfterANodeWasRestartedInTheMiddleOfSwaps) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        MixWorld world({.seed = seed, .recipe = recipe_of("ad-psgd", {{"codec", GetParam()}})});
        for (int i = 0; i < 10; ++i) {
            world.run_for(milliseconds{150});
            world.restart(static_cast<std::size_t>(i % 4));
        }
        const std::size_t ended = world.ended.size();
        const bool tells_little = GetParam() == "delta(topk(16))";  // 1 of 234 floats a swap
        world.run_for(tells_little ? seconds{40} : seconds{10});
        EXPECT_GT(world.ended.size(), ended + 100);
        EXPECT_TRUE(world.offences.empty()) << world.offences.front();
        EXPECT_EQ(0U, world.unequal_rebuilds);
        EXPECT_LT(world.largest_distance(), 1.0);
        // What a dead process owed is told: the survivor could not know whether it had applied.
        EXPECT_LE(world.displacements_owed(), world.ledger.size() + 40);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs,
    EveryCodec,
    testing::Values(
        "fp32",
        "bf16",
        "fp16",
        "q8",
        "delta(q8)",
        "delta(q4)",
        "delta(topk(16))",
        "delta(topk)",
        "delta(topk(256))",
        "modulo(1)",
        "modulo(2)",
        "modulo(4)",
        "modulo(8)"),
    [](const auto& codec) {
        std::string name = codec.param;
        std::erase_if(name, [](char letter) { return letter == '(' || letter == ')'; });
        return name;
    });

TEST(LayerCodecs, ThatShardsHaveOfTheirOwnAreUsedAndTheMeanStays) {
    MixWorld world(
        {.recipe = recipe_of("ad-psgd", {{"codec", "delta(q4)"}}),
         .step_noise = 0.01,
         .shard_codecs = {CodecId::fp16, std::nullopt, CodecId::delta_q8}});
    const auto before = world.sum();
    world.run_for(seconds{5});
    const std::array<CodecId, 3> wanted{CodecId::fp16, CodecId::delta_q4, CodecId::delta_q8};
    std::array<int, 3> applied{};
    for (const SwapEnded& ended : world.ended) {
        if (ended.why != SwapReason::none) continue;
        EXPECT_EQ(wanted.at(ended.shard.value), ended.codec);
        ++applied.at(ended.shard.value);
    }
    for (const int count : applied)
        EXPECT_GT(count, 100);
    expect_same_sum(before, world.sum());
    EXPECT_EQ(0U, world.unequal_rebuilds);
}

/// Those that push are push_test's.
std::vector<std::string> swapping_recipes() {
    std::vector<std::string> names = recipe_names();
    std::erase_if(names, [](const std::string& name) { return !recipe_of(name).swaps(); });
    return names;
}

class EveryRecipe : public testing::TestWithParam<std::string> {
  protected:
    static MixWorldOptions options(std::uint64_t seed) {
        return {
            .seed = seed,
            .nodes = 6,
            .recipe = recipe_of(GetParam()),
            .deadline = seconds{2},
            .step_noise = 0.01,
            .sites = {"a", "a", "a", "b", "b", "c"}};
    }
};

TEST_P(EveryRecipe, LeavesTheMeanWhereStepsHaveLedItAndKeepsStepping) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        MixWorld world(options(seed));
        const auto before = world.sum();
        Rng rng(seed);
        for (int i = 0; i < 8; ++i) {
            world.run_for(milliseconds{static_cast<int>(rng.below(600))});
            const std::size_t a = rng.below(5);
            world.break_link(a, a + 1);
            world.run_for(milliseconds{static_cast<int>(rng.below(100))});
            world.mend_link(a, a + 1);
            expect_same_sum(before, world.sum());
        }
        const std::uint64_t steps = world.steps(0);
        world.run_for(seconds{5});
        EXPECT_GT(world.steps(0), steps + 8);
        // Outer steps make more of noise; a sparse codec tells it late.
        const double most = is_sparse(recipe_of(GetParam()).codec) ? 40 : 6;
        EXPECT_LT(world.largest_distance(), most);
        EXPECT_EQ(0U, world.unequal_rebuilds);
        EXPECT_TRUE(world.offences.empty()) << world.offences.front();
        EXPECT_TRUE(world.ledger.empty());
        EXPECT_GT(world.ended.size(), 50U);
    }
}

TEST_P(EveryRecipe, EndsWithEqualReplicasFromWhereverItIsStopped) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        MixWorld world(options(seed));
        world.run_for(milliseconds{1500 + 37 * static_cast<int>(seed)});
        world.begin_finishing();
        world.run_for(seconds{30});
        EXPECT_TRUE(world.is_settled());
        EXPECT_LT(world.largest_distance(), 4e-4 * std::sqrt(700.0) * 3);
    }
}

/// Passes wait for who trains on, and what it learnt until then is in the mean.
TEST_P(EveryRecipe, EndsWithEqualReplicasWhereOneNodeTrainsOnForAWhile) {
    MixWorld world(options(3));
    world.run_for(milliseconds{1500});
    for (std::size_t i = 0; i < 5; ++i)
        world.begin_finishing(i);
    world.run_for(seconds{1});
    EXPECT_FALSE(world.mixer(0).is_settled());
    const auto before = world.sum();
    world.begin_finishing(5);
    world.run_for(seconds{30});
    EXPECT_TRUE(world.is_settled());
    EXPECT_LT(world.largest_distance(), 4e-4 * std::sqrt(700.0) * 3);
    expect_same_sum(before, world.sum());
}

/// It never ends: nobody waits for it longer than a phase may stand (the deadline is 2 s).
TEST(Finishing, GivesPassesUpWhereANodeTrainsOnForEver) {
    MixWorld world(
        {.seed = 6,
         .nodes = 4,
         .recipe = recipe_of("ad-psgd", {{"codec", "delta(q8)"}}),
         .deadline = seconds{2}});
    world.run_for(seconds{1});
    for (std::size_t i = 0; i < 3; ++i)
        world.begin_finishing(i);
    world.run_for(milliseconds{1500});
    EXPECT_FALSE(world.mixer(0).is_settled());
    std::set<std::size_t> settled;  // at some moment: the fourth opens swaps all the time
    for (int i = 0; i < 2000 && settled.size() < 3; ++i) {
        world.run_for(milliseconds{10});
        for (std::size_t node = 0; node < 3; ++node) {
            if (world.mixer(node).is_settled()) settled.insert(node);
        }
    }
    EXPECT_EQ(3U, settled.size());
    EXPECT_LT(world.largest_distance(), 4e-4 * std::sqrt(700.0) * 3);
}

TEST_P(EveryRecipe, GoesOnWithoutANodeThatStandsStill) {
    MixWorld world(options(4));
    world.run_for(seconds{1});
    world.stop_stepping(2);
    world.run_for(seconds{3});  // the job's deadline is 2 s
    const std::uint64_t steps = world.steps(5);
    world.run_for(seconds{20});
    EXPECT_GT(world.steps(5), steps + 5);
}

TEST(Bounded, GoesAsFastAsTheSlowestAndNotAsFastAsTheDeadline) {
    MixWorld world({.seed = 3, .nodes = 4, .recipe = recipe_of("dssp"), .step_noise = 0.01});
    world.run_for(seconds{6});
    for (std::size_t node = 0; node < 4; ++node)
        EXPECT_GT(world.steps(node), 200U);
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, EveryRecipe, testing::ValuesIn(swapping_recipes()), [](const auto& recipe) {
        std::string name = recipe.param;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(ExactRound, BringsAllOfAGroupToOneValueWhateverTheNumberOfMembers) {
    for (const std::size_t nodes : {2U, 3U, 5U, 6U, 7U, 8U}) {
        for (const std::string wait : {"round", "delay"}) {
            MixWorld world(
                {.seed = nodes,
                 .nodes = nodes,
                 .recipe = recipe_of("base-k", {{"wait", wait}, {"when", "every(40)"}})});
            const auto before = world.sum();
            world.run_for(seconds{2});
            EXPECT_LT(world.largest_distance(), 1e-4) << nodes << " nodes, wait " << wait;
            expect_same_sum(before, world.sum());
        }
    }
}

bool is_stable(std::size_t nodes, std::uint64_t seed, std::optional<ShareRule> rule) {
    // Delays far longer than a step, so that the snapshots of overlapping swaps are stale.
    MixWorld world(
        {.seed = seed,
         .nodes = nodes,
         .floats = 16,
         .shard_floats = 16,
         .recipe = recipe_of("ad-psgd", {{"partners", "neighbours"}, {"guard", "finite"}}),
         .delay_min = milliseconds{20},
         .delay_max = milliseconds{60},
         .step = milliseconds{5},
         .share_rule = rule,
         .has_edge = [seed](std::size_t a, std::size_t b) {
             if (b == a + 1) return true;  // a path, so that it is one graph, and random edges
             return Rng(mix_key(mix_key(seed, a), b)).uniform() < 0.3;
         }});
    const double first = world.largest_distance();
    world.run_for(seconds{12});
    return std::isfinite(world.largest_distance()) && world.largest_distance() < first / 3;
}

TEST(Budget, KeepsRandomGraphsOfAnySizeStable) {
    for (const std::size_t nodes : {2U, 3U, 5U, 8U, 16U, 32U, 64U}) {
        EXPECT_TRUE(is_stable(nodes, nodes, std::nullopt)) << nodes << " nodes";
    }
}

TEST(Budget, IsNeededBecauseHalfWeightsOnAllLinksDiverge) {
    EXPECT_FALSE(is_stable(16, 16, ShareRule::unbounded));
}

TEST(Rounds, OfDpsgdAreTakenByAllInStepAndNobodyIsMoreThanOneAhead) {
    MixWorld world({.recipe = recipe_of("d-psgd")});
    world.run_for(seconds{5});
    for (std::size_t i = 1; i < 4; ++i) {
        const auto apart = static_cast<std::int64_t>(world.steps(0) - world.steps(i));
        EXPECT_LE(std::abs(apart), 2);
    }
    EXPECT_GT(world.steps(0), 20U);
    EXPECT_LT(world.largest_distance(), 0.1);
}

TEST(Rounds, GoOnWithoutAStoppedNodeAfterTheDeadline) {
    MixWorld world(
        {.recipe = recipe_of("d-psgd", {{"wait", "round"}}), .deadline = milliseconds{200}});
    world.run_for(seconds{1});
    world.stop_stepping(3);
    const auto before = world.steps(0);
    world.run_for(seconds{10});
    EXPECT_GT(world.steps(0), before + 30);
    EXPECT_EQ(0U, world.unequal_rebuilds);
}

TEST(Burial, EndsASwapWhosePeerNeverComesBackAndTellsTheLedgerWhereThatIsInDoubt) {
    MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd"), .bury_after = seconds{60}});
    world.run_for(milliseconds{700});
    world.break_link(0, 1);
    world.run_for(minutes{3});
    EXPECT_TRUE(world.mixer(0).links().front().open == 0);
    EXPECT_TRUE(world.mixer(1).links().front().open == 0);
    EXPECT_LE(world.displacements_owed(), world.ledger.size());
    world.mend_link(0, 1);
    const auto ended = world.ended.size();
    world.run_for(seconds{3});
    EXPECT_GT(world.ended.size(), ended + 20);  // and the edge goes on
    EXPECT_TRUE(world.offences.empty()) << world.offences.front();
}

}  // namespace
}  // namespace p2p::test
