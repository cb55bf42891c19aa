// The depth of bytes: sealed and cut at random, a run is the same run as with messages as values.

#include "tools/sim/byte_links.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "core/mixing/recipe.hpp"
#include "tests/tools/sim/toy_stage.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {
namespace {

constexpr std::uint64_t seed = 5;

/// The digest at the end of a short job; 0 where it did not end.
std::uint64_t digest_of(const Stage& stage, bool as_bytes) {
    auto data = toy_data();
    Classroom room(stage.job, data, core::best_kernel_level());
    WorldSetup setup;
    setup.stage = stage;
    setup.seed = seed;
    setup.as_bytes = as_bytes;
    for (const auto& identity : draw_identities(seed, stage.nodes.size()))
        setup.ids.push_back(identity.id());
    setup.make_trainer = [&](const auto& order, core::PeerId self, std::size_t) {
        return make_learner(order.spec, self, room);
    };
    World world(std::move(setup));
    world.run_for(std::chrono::seconds{2});
    world.submit(0, stage.job);
    const bool is_done = world.run_until(
        [&] { return world.all_in(core::JobState::done); }, std::chrono::seconds{120});
    EXPECT_TRUE(is_done) << world.audit().fault().value_or("") << world.describe();
    return is_done ? world.digest() : 0;
}

class Depths : public testing::TestWithParam<const char*> {};

TEST_P(Depths, MakeNoDifferenceToARun) {
    Stage stage = toy_stage();
    stage.job.mixing.recipe = GetParam();
    const std::uint64_t as_values = digest_of(stage, false);
    EXPECT_NE(0U, as_values);
    EXPECT_EQ(as_values, digest_of(stage, true));
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, Depths, testing::Values("auto", "moniqua", "d-psgd", "gossiping", "sparse-loco"));

TEST(ByteLinks, MakeNoDifferenceToARunWithKillsAndCuts) {
    for (const Mishap what : {Mishap::kill, Mishap::cut}) {
        Stage stage = toy_stage();
        stage.events.push_back(
            {.what = what,
             .at = std::chrono::milliseconds{2500},
             .every = std::chrono::seconds{2},
             .lasts = std::chrono::milliseconds{700}});
        const std::uint64_t as_values = digest_of(stage, false);
        EXPECT_NE(0U, as_values);
        EXPECT_EQ(as_values, digest_of(stage, true));
    }
}

TEST(ByteLinks, ReadsWhatWasSaidAndBeginsAnewWithEachSession) {
    ByteLinks links(1, 3);
    for (const std::uint64_t session : {1U, 1U, 2U}) {
        const auto read = links.pass(2, 0, session, core::Ping{.nonce = 77 + session});
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(77 + session, std::get<core::Ping>(*read).nonce);
    }
}

}  // namespace
}  // namespace p2p::sim
