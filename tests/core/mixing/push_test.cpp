// What must hold of one-way exchanges whatever the delays and however links break: push-sum keeps
// its weighted sum, gathered updates reach everybody once, error feedback loses nothing.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/push_world.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

Recipe recipe_of(const std::string& name, std::map<std::string, std::string> axes = {}) {
    return resolve_recipe(name, axes, 4).value();
}

/// Steps and events with links that break now and then; all mended and settled at the end.
void run_roughly(PushWorld& world, std::uint64_t seed, std::size_t nodes) {
    Rng rng(seed);
    for (int i = 0; i < 150; ++i) {
        world.step_all();
        world.run_events(rng.below(25));
        if (i % 5 != 0) continue;
        const std::size_t a = rng.below(nodes);
        const std::size_t b = (a + 1 + rng.below(nodes - 1)) % nodes;
        world.break_link(std::min(a, b), std::max(a, b));
        world.run_events(rng.below(10));
        world.mend_link(std::min(a, b), std::max(a, b));
    }
    world.drain();
}

class PushSum : public testing::TestWithParam<std::string> {};

TEST_P(PushSum, KeepsTheWeightedSumUnderBrokenLinksAndAnyDelay) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        PushWorld world(
            {.seed = seed,
             .recipe = recipe_of("layup", {{"codec", GetParam()}, {"guard", "finite"}})});
        const auto before = world.weighted_sum();
        run_roughly(world, seed, 4);
        const auto after = world.weighted_sum();
        const double lossy = GetParam() == "fp32" ? 1e-3 : 0.5;  // what rounding alone may add
        for (std::size_t k = 0; k < before.size(); ++k)
            ASSERT_NEAR(before[k], after[k], lossy) << k;
        EXPECT_NEAR(4, world.weights(), 1e-9);
        EXPECT_LT(world.spread(), GetParam() == "q8" ? 0.2 : 0.02);
        EXPECT_GT(world.ended.size(), 100U);
        EXPECT_TRUE(world.offences.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, PushSum, testing::Values("fp32", "fp16", "q8"), [](const auto& codec) {
        return codec.param;
    });

TEST(Push, GivesBackTheWeightOfWhatANodeThatStandsStillDoesNotTake) {
    PushWorld world({.recipe = recipe_of("layup")});
    world.stop(3);
    const auto before = world.weighted_sum();
    run_roughly(world, 9, 4);
    EXPECT_NEAR(4, world.weights(), 1e-9);
    EXPECT_DOUBLE_EQ(1, world.node(3).pusher->weight(ShardIndex{0}));
    const auto after = world.weighted_sum();
    for (std::size_t k = 0; k < before.size(); ++k)
        ASSERT_NEAR(before[k], after[k], 1e-3);
}

TEST(Push, ByHalvesWithAChanceComesTogetherAndSendsLessOften) {
    PushWorld often({.recipe = recipe_of("gossiping", {{"when", "chance(0.5)"}})});
    PushWorld seldom({.recipe = recipe_of("gossiping", {{"when", "chance(0.05)"}})});
    const double apart = often.spread();
    run_roughly(often, 3, 4);
    run_roughly(seldom, 3, 4);
    EXPECT_LT(often.spread(), apart / 50);
    EXPECT_GT(often.blobs_sent, 3 * seldom.blobs_sent);
    EXPECT_GT(seldom.blobs_sent, 0U);
}

TEST(Push, OfAShardOrSizeThatTheJobDoesNotHaveIsAnOffence) {
    PushWorld world({.recipe = recipe_of("layup")});
    Push push{
        .key = {{}, ShardIndex{77}, SwapNumber{1}},
        .kind = PushKind::sum,
        .codec = CodecId::fp32,
        .weight = 0.5,
        .hash = {},
        .bytes = ByteCount{100}};
    MixingOutputs out;
    world.node(0).pusher->on_push({}, PushWorld::id(1), push, out);
    ASSERT_EQ(1U, out.size());
    EXPECT_TRUE(std::holds_alternative<SwapOffence>(out[0]));
    push.key.shard = ShardIndex{0};
    out.clear();
    world.node(0).pusher->on_push({}, PushWorld::id(1), push, out);
    ASSERT_EQ(1U, out.size());
    EXPECT_TRUE(std::holds_alternative<SwapOffence>(out[0]));
}

TEST(Gather, LeavesAllReplicasEqualHoweverLateAndInWhateverOrderUpdatesCome) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        PushWorld world(
            {.seed = seed,
             .recipe = recipe_of("sparse-loco", {{"when", "every(4)"}}),
             .step_noise = 0.01});
        Rng rng(seed);
        for (int i = 0; i < 400; ++i) {
            world.step_all();
            world.run_events(rng.below(60));
            if (i % 9 == 0) {
                world.break_link(0, 2);
                world.run_events(3);
                world.mend_link(0, 2);
            }
        }
        const auto all_at_a_boundary = [&] {
            bool all = true;
            for (std::size_t i = 0; i < 4; ++i)
                all &= world.limit(i) == world.node(i).steps + StepCount{4};
            return all;
        };
        world.drain();
        for (int i = 0; i < 40 && !all_at_a_boundary(); ++i) {
            world.step_all();
            world.drain();
        }
        ASSERT_TRUE(all_at_a_boundary());
        EXPECT_LT(world.spread(), 1e-4);
        EXPECT_GT(world.node(0).steps.value, 40U);
        EXPECT_GT(world.ended.size(), 100U);
        for (const SwapEnded& each : world.ended)
            EXPECT_EQ(SwapReason::none, each.why);
    }
}

TEST(PushValues, OfUpdatesTellInTheEndAllThatStepsHaveDone) {
    const Kernels& table = kernels(best_kernel_level());
    PushValues values(table);
    constexpr std::size_t floats = 5000;
    std::vector<float> replica(floats, 1.0F);
    const EncodePush begin{
        .job = {},
        .shard = {},
        .n = {},
        .range = {0, floats},
        .kind = PushKind::update,
        .codec = CodecId::delta_topk64,
        .seed = 1,
        .feedback = 1,
        .weight = 1};
    EXPECT_TRUE(values.make(begin, replica).bytes.empty());
    Rng rng(4);
    std::vector<double> given(floats);
    std::vector<double> told(floats);
    double left_after_last_step = 0;
    for (std::uint64_t n = 1; n <= 200; ++n) {
        for (std::size_t k = 0; n <= 20 && k < floats; ++k) {
            const auto step = static_cast<float>(0.1 * rng.normal());
            replica[k] += step;
            given[k] -= static_cast<double>(step);
        }
        EncodePush order = begin;
        order.n = SwapNumber{n};
        order.seed = n;
        const auto made = values.make(order, replica);
        std::vector<float> update(floats);
        const ByteView encoding = ByteView(made.bytes).subspan(push_salt_bytes);
        ASSERT_TRUE(decode(table, {.codec = order.codec}, encoding, update));
        for (std::size_t k = 0; k < floats; ++k) {
            replica[k] += made.displacement[k];
            told[k] += static_cast<double>(update[k]);
        }
        double left = 0;
        for (std::size_t k = 0; k < floats; ++k)
            left += std::abs(given[k] - told[k]);
        if (n == 20) left_after_last_step = left;
        if (n < 200) continue;
        EXPECT_LT(left, left_after_last_step / 20);
    }
    for (std::size_t k = 0; k < floats; ++k)  // the replica has gone by what was told, no more
        ASSERT_NEAR(1 - told[k], static_cast<double>(replica[k]), 1e-4);
}

TEST(PushValues, UnderDescentTakeInOnlyWhatLocalStepsLeadTo) {
    const Kernels& table = kernels(best_kernel_level());
    const auto taken_after = [&](float step, float target) {
        PushValues values(table);
        const std::vector<float> at_first(64, 0.0F);
        AbsorbPush order;
        order.range = {0, 64};
        order.weight = 0.5;
        order.guard = {.norm_ratio = 0, .descent = true};
        const auto pushed = [&](float value) {
            const Bytes encoding = encode(table, {}, std::vector<float>(64, value), 0);
            Bytes bytes(push_salt_bytes + encoding.size());
            std::copy(encoding.begin(), encoding.end(), bytes.begin() + push_salt_bytes);
            return bytes;
        };
        (void)values.take(order, pushed(0), at_first);  // a first look
        return values.take(order, pushed(target), std::vector<float>(64, step)).measured.why;
    };
    EXPECT_EQ(SwapReason::none, taken_after(0.1F, 1.0F));
    EXPECT_EQ(SwapReason::ascent, taken_after(-0.1F, 1.0F));
    EXPECT_EQ(SwapReason::ascent, taken_after(1.0F, 1.1F));  // a step on would go too far
}

}  // namespace
}  // namespace p2p::test
