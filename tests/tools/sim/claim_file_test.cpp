// Claim files: what one says is what is read, and what is wrong with one is named with its place.

#include "tools/sim/claim_file.hpp"

#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace p2p::sim {
namespace {

constexpr const char* sound = R"toml(schema = "p2psim.claim/1"
claim = "Two are better than one."
source = "Somebody 2020, section 3"
stage = "stages/toy.toml"
measure = "time"
bound = 0.5
links = 4
expected = false
why = "they are not"
[target]
over_free = 0.1
[recipe]
name = "moniqua"
axes = ["codec=modulo(2)"]
tries = [["when=every(1)"], ["when=every(4)"]]
[baseline]
name = "allreduce"
rates = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[small]
recipe = ["lr=2", "when=every(4)"]
baseline = ["lr=4"]
expected = true
)toml";

std::string with(const std::string& from, const std::string& to) {
    std::string text = sound;
    const auto at = text.find(from);
    EXPECT_NE(std::string::npos, at) << from;
    return text.replace(at, from.size(), to);
}

TEST(ClaimFile, SaysWhatTheClaimIs) {
    const auto claim = parse_claim("papers/two.toml", sound);
    ASSERT_TRUE(claim) << claim.error().text();
    EXPECT_EQ("two", claim->name);
    EXPECT_EQ("stages/toy.toml", claim->stage);
    EXPECT_EQ(Measure::time, claim->measure);
    EXPECT_DOUBLE_EQ(0.5, claim->bound);
    EXPECT_EQ(4U, claim->links);
    EXPECT_EQ((Target{.loss = 0.1, .is_over_free = true}), claim->target);
    EXPECT_EQ("moniqua", claim->recipe.recipe);
    EXPECT_EQ((Settings{{"codec", "modulo(2)"}}), claim->recipe.axes);
    EXPECT_EQ(2U, claim->recipe.tries.size());
    EXPECT_EQ((Settings{{"when", "every(4)"}}), claim->recipe.tries.at(1));
    EXPECT_EQ(5U, claim->recipe.rates.size());
    EXPECT_EQ(10U, claim->baseline.rates.size());
    EXPECT_EQ((Settings{{"lr", "2"}, {"when", "every(4)"}}), claim->recipe.small);
    EXPECT_FALSE(claim->is_expected);
    EXPECT_TRUE(claim->is_expected_small);
}

TEST(ClaimFile, NamesAnUnknownKeyItsPlaceAndTheNearestOne) {
    for (const auto& [from, to, line, near] :
         std::vector<std::tuple<std::string, std::string, std::string, std::string>>{
             {"measure =", "mesure =", "line 5", "measure"},
             {"over_free", "over_fre", "line 11", "over_free"},
             {"axes =", "axis =", "line 14", "axes"},
             {"baseline = [", "baselin = [", "line 21", "baseline"}}) {
        const auto claim = parse_claim("two.toml", with(from, to));
        ASSERT_FALSE(claim) << to;
        EXPECT_NE(std::string::npos, claim.error().what.find(line)) << claim.error().text();
        EXPECT_NE(std::string::npos, claim.error().why.find(near)) << claim.error().text();
        EXPECT_NE(std::string::npos, claim.error().next.find("tests/papers"));
    }
}

TEST(ClaimFile, RefusesWhatMakesNoSense) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"claim/1", "claim/2"},
             {"claim = \"Two are better than one.\"\n", ""},
             {"source = \"Somebody 2020, section 3\"\n", ""},
             {"bound = 0.5\n", ""},
             {"bound = 0.5", "bound = -0.5"},
             {"bound = 0.5", "bound = \"0.5\""},
             {"measure = \"time\"", "measure = \"speed\""},
             {"measure = \"time\"", "measure = \"loss\""},
             {"measure = \"time\"\n", ""},
             {"over_free = 0.1", "over_free = 0.1\nloss = 0.5"},
             {"over_free = 0.1\n", ""},
             {"[target]\nover_free = 0.1\n", ""},
             {"why = \"they are not\"\n", ""},
             {"expected = false\nwhy", "why"},
             {"name = \"moniqua\"\n", ""},
             {"[\"codec=modulo(2)\"]", "[\"codec\"]"},
             {"[\"codec=modulo(2)\"]", "\"codec=q8\""},
             {"rates = [1,", "rates = [0,"},
             {"[\"lr=4\"]", "[4]"}}) {
        EXPECT_FALSE(parse_claim("two.toml", with(from, to))) << from << " -> " << to;
    }
}

TEST(ClaimFile, WantsToBeToldWhyASmallRunAloneIsNotExpectedToHold) {
    std::string text = with("baseline = [\"lr=4\"]\nexpected = true", "expected = false");
    text.replace(text.find("expected = false\nwhy"), 16, "expected = true");
    EXPECT_TRUE(parse_claim("two.toml", text));
    const std::string why = "why = \"they are not\"\n";
    EXPECT_FALSE(parse_claim("two.toml", text.replace(text.find(why), why.size(), "")));
}

TEST(ClaimFile, RefusesMoreTriesForOneSideThanForTheOther) {
    const auto claim = parse_claim("two.toml", with("rates = [1, 2, 3,", "rates = [3,"));
    ASSERT_FALSE(claim);
    EXPECT_NE(std::string::npos, claim.error().why.find("10 and 8")) << claim.error().why;
}

TEST(ClaimFile, OfAFolderAreReadByNameAndAStageBesideThemIsFound) {
    const tests::TempDir folder;
    std::ofstream(folder.path() / "b.toml") << sound;
    std::ofstream(folder.path() / "a.toml") << with("stages/toy.toml", "three-site-8");
    const auto all = read_claims(folder.path().string(), {});
    ASSERT_TRUE(all) << all.error().text();
    ASSERT_EQ(2U, all->size());
    EXPECT_EQ("three-site-8", all->at(0).stage);
    EXPECT_EQ((folder.path() / "stages/toy.toml").string(), all->at(1).stage);
    const auto one = read_claims(folder.path().string(), {"b"});
    ASSERT_TRUE(one);
    EXPECT_EQ("b", one->front().name);
    const auto none = read_claims(folder.path().string(), {"c"});
    ASSERT_FALSE(none);
    EXPECT_NE(std::string::npos, none.error().next.find("a, b")) << none.error().next;
}

TEST(ClaimFile, OfEachClaimThatComesWithTheSourcesIsSound) {
    const auto claims = read_claims("", {});
    ASSERT_TRUE(claims) << claims.error().text();
    EXPECT_GE(claims->size(), 3U);
}

}  // namespace
}  // namespace p2p::sim
