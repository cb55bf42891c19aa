// Stages that nobody chose, and how near each recipe is to the best one on them.

#include <set>

#include <gtest/gtest.h>

#include "tools/sim/drawn.hpp"
#include "tools/sim/rank_table.hpp"
#include "tools/sim/stage_file.hpp"

namespace p2p::sim {
namespace {

TEST(Drawn, StagesCanBeReadAndAreOthersForEachSeed) {
    std::set<std::string> texts;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto stage = read_stage(drawn_name(seed));
        ASSERT_TRUE(stage) << stage.error().text();
        EXPECT_EQ(drawn_name(seed), stage->name);
        EXPECT_GE(stage->nodes.size(), 4U);
        EXPECT_LE(stage->nodes.size(), 24U);
        texts.insert(stage->text.stage);
    }
    EXPECT_EQ(200U, texts.size());
    EXPECT_EQ(drawn_stage_text(7), drawn_stage_text(7));
}

TEST(Drawn, NamesAreThoseOfASeedAndNoOthers) {
    EXPECT_EQ(7001U, drawn_seed("drawn-7001"));
    for (const char* other :
         {"drawn-", "drawn-x", "drawn-1x", "drawn--1", "drawn-2000000000", "crowd"})
        EXPECT_FALSE(drawn_seed(other)) << other;
}

StageTimes times(std::optional<double> a, std::optional<double> b, std::optional<double> c) {
    return {.stage = "s", .target = 0.8, .free = 5, .seconds = {a, b, c}};
}

TEST(Rank, HoldsEachRecipeAgainstTheBestOfTheOthersWhereAnyGotThere) {
    const auto all = standings(
        {"a", "b", "c"},
        {times(10, 20, {}), times(30, 20, {}), times({}, {}, {}), times(10, {}, {})});
    EXPECT_EQ(3U, all[0].stages);
    EXPECT_EQ(3U, all[0].reached);
    EXPECT_EQ(2U, all[0].won);
    EXPECT_DOUBLE_EQ(0.5, all[0].median.value());  // 0.5, 1.5, and 0 where nobody else did
    EXPECT_DOUBLE_EQ(1.5, all[0].worst.value());
    EXPECT_DOUBLE_EQ(0.5, all[0].of_free.value());
    EXPECT_EQ(2U, all[1].reached);
    EXPECT_FALSE(all[1].worst.has_value());
    EXPECT_EQ(0U, all[2].reached);
    EXPECT_FALSE(all[2].median.has_value());
}

}  // namespace
}  // namespace p2p::sim
