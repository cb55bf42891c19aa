#include "core/mixing/recipe.hpp"

#include <gtest/gtest.h>

#include "core/mixing/layout.hpp"
#include "core/mixing/weights.hpp"

namespace p2p::core {
namespace {

TEST(Recipe, TakesEachAxisOverItsRow) {
    const auto recipe = resolve_recipe("ad-psgd", {{"when", "every"}, {"codec", "delta(q8)"}}, 16);
    ASSERT_TRUE(recipe);
    EXPECT_EQ(When::every, recipe->when.kind);
    EXPECT_EQ(16U, recipe->when.every_steps);
    EXPECT_EQ(CodecId::delta_q8, recipe->codec);
    EXPECT_EQ(Partners::random, recipe->partners.kind);
}

TEST(Recipe, NamesTheKnownOnesWhereTheNameIsWrong) {
    const auto recipe = resolve_recipe("adpsgd", {}, 1);
    ASSERT_FALSE(recipe);
    EXPECT_NE(std::string::npos, recipe.error().next.find("ad-psgd"));
}

TEST(Recipe, RefusesWhatMakesNoSenseWithTheReason) {
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"wait", "round"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"partners", "random"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"when", "continuous"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"when", "every(0)"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"when", "every(2"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"codec", "q9"}}, 1));
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"codec", "q4"}}, 1));  // of whole parameters
    EXPECT_TRUE(resolve_recipe("ad-psgd", {{"codec", "delta(q4)"}}, 1));
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"codec", ""}}, 1));
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"codec", "q8 *.bias"}}, 1));
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"codec", "q8 *.bias=q9"}}, 1));
    EXPECT_FALSE(resolve_recipe("gossiping", {{"codec", "q8 *.bias=fp16"}}, 1));  // it pushes
    EXPECT_EQ(
        CodecId::delta_topk64, resolve_recipe("ad-psgd", {{"codec", "delta(topk)"}}, 1)->codec);
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"guard", "norm(0.5)"}}, 1));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"speed", "fast"}}, 1));
}

TEST(Recipe, RefusesPartnersThatDoNotGoWithTheRounds) {
    EXPECT_FALSE(resolve_recipe("diloco", {{"wait", "none"}}, 16));   // exact needs rounds
    EXPECT_FALSE(resolve_recipe("diloco", {{"wait", "delay"}}, 16));  // with an outer step
    EXPECT_FALSE(resolve_recipe("exponential", {{"when", "continuous"}, {"wait", "none"}}, 1));
    EXPECT_FALSE(resolve_recipe("old-sgd", {{"wait", "delay(17)"}}, 16));  // longer than a round
    EXPECT_TRUE(resolve_recipe("old-sgd", {{"wait", "delay(16)"}}, 16));
    EXPECT_FALSE(resolve_recipe("ad-psgd", {{"local", "anchor"}}, 16));  // no outer, no anchor
    EXPECT_FALSE(resolve_recipe("dc-asgd", {{"wait", "round"}}, 16));    // nothing is late
    EXPECT_FALSE(resolve_recipe("prague", {{"guard", "finite+clip(1)"}}, 16));
    EXPECT_FALSE(resolve_recipe("d-psgd", {{"outer", "noloco"}, {"wait", "round"}}, 16));
}

TEST(Recipe, RefusesNumbersThatAnAxisCannotHave) {
    for (const auto& [axis, value] :
         std::vector<std::pair<std::string, std::string>>{{"partners", "groups(1)"},
                                                          {"partners", "groups"},
                                                          {"partners", "groups(2.5)"},
                                                          {"partners", "random(3)"},
                                                          {"when", "adaptive(0.2,0.1)"},
                                                          {"when", "every(1,2)"},
                                                          {"warmup", "many"},
                                                          {"wait", "delay(-1)"},
                                                          {"shards", "staggered(1)"},
                                                          {"local", "quasi-global(1)"},
                                                          {"local", "global-hint(1)"},
                                                          {"local", "anchor(1,0.5)"},
                                                          {"local", "compensate(-1)"},
                                                          {"local", "predict(1)"},
                                                          {"outer", "nesterov(0,0.9)"},
                                                          {"outer", "nesterov(0.7,1)"},
                                                          {"outer", "noloco(1,0.5,0)"},
                                                          {"exchange", "gather(2)"},
                                                          {"exchange", "push(1)"},
                                                          {"when", "chance(0)"},
                                                          {"partners", "density(1)"},
                                                          {"wait", "bounded(3,2)"},
                                                          {"shards", "ready(2)"},
                                                          {"guard", "clip"},
                                                          {"guard", "norm(x)"}}) {
        const auto recipe = resolve_recipe("ad-psgd", {{axis, value}}, 16);
        ASSERT_FALSE(recipe) << axis << " = " << value;
        EXPECT_NE(std::string::npos, recipe.error().what.find(value));
        EXPECT_FALSE(recipe.error().next.empty());
    }
}

TEST(Recipe, OfEachRowResolvesByNameAndTellsItself) {
    for (const std::string& name : recipe_names()) {
        const auto recipe = resolve_recipe(name, {}, 16);
        ASSERT_TRUE(recipe) << name << ": " << recipe.error().text();
        EXPECT_TRUE(recipe->text().starts_with(name + ": "));
    }
}

TEST(Recipe, TakesEveryCodecThatItNamesWhereTheNameIsWrong) {
    const std::string told = resolve_recipe("ad-psgd", {{"codec", "q9"}}, 1).error().next;
    for (const CodecName& codec : codec_names) {
        const std::string name(codec.name);
        const bool is_taken = resolve_recipe("ad-psgd", {{"codec", name}}, 1).has_value();
        EXPECT_EQ(codec.id != CodecId::q4, is_taken) << name;
        EXPECT_EQ(is_taken, (told + ",").find(" " + name + ",") != std::string::npos) << told;
    }
}

TEST(Recipe, RefusesWhatMakesNoSenseOfAPushAndSaysWhy) {
    using Axes = std::map<std::string, std::string>;
    const std::vector<std::pair<std::string, Axes>> clashes{
        {"layup", {{"codec", "delta(q8)"}}},
        {"layup", {{"partners", "all"}}},
        {"layup", {{"wait", "round"}, {"partners", "ring"}}},
        {"layup", {{"guard", "clip(0.1)"}}},
        {"layup", {{"outer", "nesterov"}}},
        {"sparse-loco", {{"codec", "modulo(1)"}}},
        {"sparse-loco", {{"partners", "random"}, {"wait", "none"}}},
        {"ad-psgd", {{"guard", "descent"}}},
        {"ad-psgd", {{"when", "chance(0.5)"}}},
        {"dssp", {{"partners", "all"}}},
        {"dssp", {{"when", "continuous"}}}};
    for (const auto& [name, axes] : clashes) {
        const auto recipe = resolve_recipe(name, axes, 8);
        ASSERT_FALSE(recipe) << recipe->text();
        EXPECT_FALSE(recipe.error().why.empty());
        EXPECT_FALSE(recipe.error().next.empty());
    }
}

TEST(Recipe, ReadsGuardsJoinedByPlus) {
    const auto recipe = resolve_recipe("d-psgd", {{"guard", "finite+norm(3)"}}, 1);
    ASSERT_TRUE(recipe);
    EXPECT_TRUE(recipe->guard.finite);
    EXPECT_DOUBLE_EQ(3, recipe->guard.norm_ratio);
}

TEST(OfferedShare, OfOnePartnerIsHalfThenWhatIsLeftThenNothing) {
    EXPECT_FLOAT_EQ(0.5F, offered_share(ShareRule::one_partner, 5, 0).value());
    EXPECT_FLOAT_EQ(0.25F, offered_share(ShareRule::one_partner, 5, 0.5F).value());
    EXPECT_FALSE(offered_share(ShareRule::one_partner, 5, 0.7F));
}

TEST(OfferedShare, OfAllLinksAddsUpToTheBudget) {
    for (std::size_t links = 1; links < 64; ++links) {
        float taken = 0;
        for (std::size_t i = 0; i < links; ++i) {
            const auto share = offered_share(ShareRule::all_links, links, taken);
            ASSERT_TRUE(share) << links << " links, the " << i << "th";
            taken += *share;
        }
        EXPECT_LE(taken, budget_total * 1.0001F);
    }
}

TEST(OfferedShare, OfMetropolisLeavesOneShareForTheNodeItself) {
    EXPECT_FLOAT_EQ(0.25F, offered_share(ShareRule::metropolis, 3, 0).value());
    EXPECT_FLOAT_EQ(0.25F, offered_share(ShareRule::metropolis, 3, 0.5F).value());
    EXPECT_FALSE(offered_share(ShareRule::metropolis, 3, 0.75F));
}

TEST(Layout, CutsIntoNearlyEqualShardsThatCoverEverything) {
    const Layout layout({{.name = "a", .shape = {10, 10}, .offset = 0}}, 30);
    ASSERT_EQ(4U, layout.shard_count());
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(next, layout.shard(ShardIndex{i}).offset);
        EXPECT_EQ(25U, layout.shard(ShardIndex{i}).floats);
        next += layout.shard(ShardIndex{i}).floats;
    }
    EXPECT_EQ(100U, next);
}

TEST(Recipe, TakesTheCodecOutOfTheControllersHandsWhereOneIsNamed) {
    EXPECT_TRUE(resolve_recipe("auto", {}, 1)->is_codec_steered);
    const auto named = resolve_recipe("auto", {{"codec", "delta(q8) a.*=fp16 a.b=fp32"}}, 1);
    ASSERT_TRUE(named);
    EXPECT_FALSE(named->is_codec_steered);
    EXPECT_TRUE(named->is_steered);
    EXPECT_EQ(CodecId::fp16, named->layer_codec("a.b"));  // the first that fits
    EXPECT_EQ(std::nullopt, named->layer_codec("b.a"));
    EXPECT_NE(std::string::npos, named->text().find("fp16 of a.*"));
}

TEST(LayerCodec, FitsNamesAsItsStarsSay) {
    const auto fits = [](const std::string& pattern, const std::string& name) {
        return LayerCodec{.pattern = pattern, .codec = CodecId::fp16}.fits(name);
    };
    EXPECT_TRUE(fits("*", ""));
    EXPECT_TRUE(fits("*.bias", "layers.0.bias"));
    EXPECT_TRUE(fits("a*b*c", "axxbyybc"));
    EXPECT_TRUE(fits("ab", "ab"));
    EXPECT_TRUE(fits("*aab", "aaaab"));
    EXPECT_FALSE(fits("*.bias", "layers.0.biases"));
    EXPECT_FALSE(fits("a*b*c", "axxbyyb"));
    EXPECT_FALSE(fits("ab", "abc"));
    EXPECT_FALSE(fits("", "a"));
}

}  // namespace
}  // namespace p2p::core
