// Swaps that end otherwise: refused, beyond theta, over values that differ, by a hostile end; and
// links that keep their share of the budget beside slow ones. Nothing of it moves the mean.

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "tests/core/mixing/mixing_expect.hpp"
#include "tests/support/mix_world.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Refusal, OfOneEndChangesNothingOnEither) {
    MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd")});
    world.replica(0)[10] = std::numeric_limits<float>::quiet_NaN();
    const auto untouched_0 = world.replica(0);
    const auto untouched_1 = world.replica(1);
    world.run_for(seconds{3});
    for (std::size_t k = 0; k < 234; ++k) {  // the first shard: 700 floats are cut in three
        if (k == 10) continue;
        EXPECT_EQ(untouched_0[k], world.replica(0)[k]);
        EXPECT_EQ(untouched_1[k], world.replica(1)[k]);
    }
    EXPECT_NE(untouched_1[600], world.replica(1)[600]);  // other shards went on
    EXPECT_TRUE(world.ledger.empty());
}

TEST(Refusal, OfAValueFarTooLargeIsByTheNormGuard) {
    MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd", {{"codec", "delta(q8)"}})});
    for (float& value : world.replica(1))
        value *= 1000;
    world.run_for(seconds{1});
    ASSERT_FALSE(world.ended.empty());
    for (const SwapEnded& ended : world.ended)
        EXPECT_EQ(SwapReason::norm, ended.why);
}

TEST(Theta, ThatWasExceededIsFollowedByAKeyframeAndSwapsGoOn) {
    for (const std::string codec : {"modulo(1)", "modulo(2)", "modulo(4)", "modulo(8)"}) {
        SCOPED_TRACE(codec);
        MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd", {{"codec", codec}})});
        world.run_for(seconds{3});
        world.replica(1)[10] += 50;
        const auto before = world.sum();
        const std::size_t first = world.ended.size();
        world.run_for(seconds{10});
        std::size_t exceeded = 0;
        std::size_t applied = 0;
        for (std::size_t i = first; i < world.ended.size(); ++i) {
            if (world.ended[i].why == SwapReason::theta) ++exceeded;
            if (world.ended[i].why == SwapReason::none) ++applied;
        }
        EXPECT_GE(exceeded, 2U);  // both ends tell it
        EXPECT_LE(exceeded, 8U);
        EXPECT_GT(applied, 100U);
        EXPECT_LT(world.largest_distance(), 1.0);  // of 35 that it was thrown apart by
        expect_same_sum(before, world.sum());
        EXPECT_EQ(0U, world.unequal_rebuilds);
    }
}

TEST(FirstParameters, ThatTwoEndsDrewOtherwiseAreFoundOnceAndAKeyframeFollows) {
    MixWorld world(
        {.nodes = 2,
         .recipe = recipe_of("ad-psgd", {{"codec", "delta(q8)"}}),
         .initial = [](std::size_t node) {
             return static_cast<float>(node);
         }});
    const auto before = world.sum();
    world.run_for(seconds{5});
    ASSERT_FALSE(world.ended.empty());
    std::map<ShardIndex, std::map<SwapReason, int>> ends;
    for (const SwapEnded& ended : world.ended)
        ++ends[ended.shard][ended.why];
    for (auto& [shard, count] : ends) {
        EXPECT_EQ(2, count[SwapReason::hash]);  // told by both ends
        EXPECT_GT(count[SwapReason::none], 100);
    }
    expect_same_sum(before, world.sum());
}

TEST(Linked, LinksInsideTheSiteKeepTheirBudgetWhileSwapsOutOfItCrawl) {
    // Two nodes with six suitors far away; each swap across takes as long as a hundred inside.
    MixWorld world(
        {.seed = 3,
         .nodes = 8,
         .recipe = recipe_of("auto", {{"outer", "none"}}),
         .delay_min = milliseconds{1},
         .delay_max = milliseconds{2},
         .work_max = milliseconds{2},
         .step_noise = 0.01,
         .sites = {"a", "a", "b", "b", "b", "b", "b", "b"},
         .delay_across = seconds{1}});
    world.run_for(seconds{20});
    std::map<PeerId, int> inside;
    for (const SwapEnded& ended : world.ended) {
        if (ended.why == SwapReason::none && ended.took < milliseconds{100}) ++inside[ended.peer];
    }
    EXPECT_EQ(8U, inside.size());
    for (const auto& [peer, swaps] : inside)
        EXPECT_GT(swaps, 2500);  // a third of it where far swaps take the whole budget
}

TEST(Hostile, ChunkOfTheWrongSizeIsAnOffenceAndIsNotStored) {
    MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd")});
    world.tamper = [](SwapWord& word) {
        if (auto* chunk = std::get_if<SwapChunk>(&word)) chunk->total += 4;
    };
    const auto before = world.sum();
    world.run_for(milliseconds{500});
    ASSERT_FALSE(world.offences.empty());
    expect_same_sum(before, world.sum());
}

TEST(Hostile, BytesThatDifferFromWhatTheOtherHoldsAreFoundByTheHash) {
    MixWorld world({.nodes = 2, .recipe = recipe_of("ad-psgd")});
    world.tamper = [](SwapWord& word) {
        if (auto* chunk = std::get_if<SwapChunk>(&word)) {
            auto bytes = std::make_shared<Bytes>(*chunk->bytes);
            bytes->back() ^= 1U;  // the last bits of a float: finite, near, and not what was sent
            chunk->bytes = bytes;
        }
    };
    const auto before = world.replica(1);
    world.run_for(milliseconds{500});
    EXPECT_EQ(before, world.replica(1));
    ASSERT_FALSE(world.ended.empty());
    for (const SwapEnded& ended : world.ended)
        EXPECT_NE(SwapReason::none, ended.why);
}

}  // namespace
}  // namespace p2p::test
