// Stage files: those that come with the program are sound, and what is wrong with one is named.

#include "tools/sim/stage_file.hpp"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace p2p::sim {
namespace {

constexpr const char* job = R"(schema = "p2pd.job/1"
job.name = "toy"
model.kind = "mlp"
model.layers = [784, 16, 10]
data.set = "fashion-mnist"
train.epochs = 1
)";

constexpr const char* sound = R"(schema = "p2psim.stage/1"
[stage]
description = "two sites"
job = "toy.job.toml"
step = "20ms"
message_scale = 100
[[site]]
name = "A"
speeds = [1, 0.5]
up_megabits = 8
[[site]]
name = "B"
speeds = [2]
[[between]]
sites = ["B", "A"]
round_trip = "80ms"
loss = 0.01
[[event]]
what = "kill"
at = "5s"
every = "15s"
)";

core::Result<Stage> read(const std::string& text) {
    const tests::TempDir folder;
    std::ofstream(folder.path() / "toy.job.toml") << job;
    std::ofstream(folder.path() / "stage.toml") << text;
    return read_stage((folder.path() / "stage.toml").string());
}

std::string with(const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    return text;
}

TEST(StageFile, SaysWhatTheStageIs) {
    const auto stage = read(sound);
    ASSERT_TRUE(stage) << stage.error().what << stage.error().why;
    EXPECT_EQ(3U, stage->nodes.size());
    EXPECT_EQ(1U, stage->nodes[2].site);
    EXPECT_DOUBLE_EQ(1e6, stage->sites[0].up_bytes_per_second);
    EXPECT_EQ(std::chrono::milliseconds{80}, stage->between(0, 1).round_trip);
    EXPECT_EQ(std::chrono::milliseconds{1}, stage->between(1, 1).round_trip);
    EXPECT_DOUBLE_EQ(0.01, stage->between(1, 0).loss_ratio);
    EXPECT_DOUBLE_EQ(3.5 / 0.02, stage->steps_per_second());
    ASSERT_EQ(1U, stage->events.size());
    EXPECT_EQ(Mishap::kill, stage->events[0].what);
    EXPECT_EQ(784U, stage->job.model.layers.front());
}

std::string crowd(const std::string& keys) {
    return "schema = \"p2psim.stage/1\"\n[stage]\njob = \"toy.job.toml\"\n[crowd]\n" + keys;
}

TEST(StageFile, ACrowdIsDrawnFromItsSeedAndItsFirstNodesStay) {
    const auto small = read(crowd("nodes = 20\nseed = 5\nlinks = 6\n"));
    const auto large = read(crowd("nodes = 40\nseed = 5\n"));
    const auto other = read(crowd("nodes = 20\nseed = 6\n"));
    ASSERT_TRUE(small && large && other);
    ASSERT_EQ(20U, small->nodes.size());
    EXPECT_EQ(6U, small->crowd->links);
    bool is_other = false;
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(small->nodes[i].speed, large->nodes[i].speed);
        EXPECT_EQ(small->nodes[i].site, large->nodes[i].site);
        is_other = is_other || small->nodes[i].speed != other->nodes[i].speed;
    }
    EXPECT_TRUE(is_other);
    EXPECT_EQ(small->between(1, 0).round_trip, large->between(0, 1).round_trip);
    EXPECT_GE(small->sites[0].up_bytes_per_second, 1.25e6);
    EXPECT_LE(small->sites[0].up_bytes_per_second, 125e6);
}

TEST(StageFile, ACrowdDrawsAllOrNothing) {
    const auto mixed = read(crowd("nodes = 3\n[[site]]\nname = \"A\"\nspeeds = [1]\n"));
    ASSERT_FALSE(mixed);
    EXPECT_NE(std::string::npos, mixed.error().why.find("[crowd]"));
}

TEST(StageFile, ReadsWhatMixingCostsAndRefusesWhatIsNoTime) {
    const auto costs = read(crowd("nodes = 3\n[costs]\nencode_ns_a_float = 3\norder_us = 20\n"));
    ASSERT_TRUE(costs) << costs.error().text();
    EXPECT_DOUBLE_EQ(3e-9, costs->costs.encode_seconds_a_float);
    EXPECT_DOUBLE_EQ(20e-6, costs->costs.order_seconds);
    EXPECT_DOUBLE_EQ(Costs{}.apply_seconds_a_float, costs->costs.apply_seconds_a_float);
    EXPECT_FALSE(read(crowd("nodes = 3\n[costs]\napply_ns_a_float = -1\n")));
}

TEST(StageFile, ReadsWhatHappensAndRefusesWhatCannot) {
    const auto read_event = [](const std::string& keys) {
        return read(std::string(sound) + "[[event]]\nat = \"2s\"\n" + keys);
    };
    const auto clog = read_event("what = \"clog\"\nway = \"in\"\ntarget = 1\n");
    ASSERT_TRUE(clog);
    EXPECT_EQ(Way::in, clog->events[1].way);
    EXPECT_EQ(Mishap::clog, clog->events[1].what);
    const auto join = read_event("what = \"join\"\ntarget = 1\n");
    ASSERT_TRUE(join);
    EXPECT_EQ(2U, join->first_nodes());
    EXPECT_FALSE(read_event("what = \"join\"\n"));
    EXPECT_FALSE(read_event("what = \"clog\"\nway = \"up\"\n"));
    EXPECT_FALSE(read_event("what = \"flood\"\n"));
    EXPECT_FALSE(read_event("what = \"slow\"\nfactor = 0\n"));
}

TEST(StageFile, NamesAnUnknownKeyItsPlaceAndTheNearestOne) {
    const auto stage = read(with("up_megabits", "up_megabit"));
    ASSERT_FALSE(stage);
    EXPECT_NE(std::string::npos, stage.error().what.find("line 10")) << stage.error().what;
    EXPECT_NE(std::string::npos, stage.error().why.find("up_megabits")) << stage.error().why;
}

TEST(StageFile, RefusesWhatMakesNoSense) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"speeds = [2]", "speeds = [0]"},
             {"speeds = [2]", "speeds = []"},
             {"[\"B\", \"A\"]", "[\"B\", \"D\"]"},
             {"[\"B\", \"A\"]", "[\"B\", \"B\"]"},
             {"loss = 0.01", "loss = 2"},
             {"step = \"20ms\"", "step = \"0s\""},
             {"\"80ms\"", "80"},
             {"\"kill\"", "\"hug\""},
             {"p2psim.stage/1", "p2psim.stage/9"},
             {"toy.job.toml", "none.job.toml"},
             {"message_scale = 100", "message_scale = \"big\""}}) {
        EXPECT_FALSE(read(with(from, to))) << to;
    }
}

TEST(StageFile, RefusesAJobThatOnlyATrainingProcessCouldTrain) {
    const tests::TempDir folder;
    std::ofstream(folder.path() / "toy.job.toml")
        << "schema = \"p2pd.job/1\"\njob.name = \"toy\"\nmodel.kind = \"external\"\n"
           "model.tensors = [{name = \"x\", shape = [5]}]\ntrain.samples = 100\n";
    std::ofstream(folder.path() / "stage.toml") << sound;
    const auto stage = read_stage((folder.path() / "stage.toml").string());
    ASSERT_FALSE(stage);
    EXPECT_NE(std::string::npos, stage.error().next.find("mlp"));
}

TEST(StageFile, OfEachStageThatComesWithTheProgramIsSound) {
    EXPECT_GE(stage_names().size(), 1U);
    for (const std::string& name : stage_names()) {
        const auto stage = read_stage(name);
        EXPECT_TRUE(stage) << name << ": " << stage.error().what << " " << stage.error().why;
    }
}

TEST(StageFile, ThatIsNotThereIsToldWithTheOnesThatAre) {
    const auto stage = read_stage("three-sites");
    ASSERT_FALSE(stage);
    EXPECT_NE(std::string::npos, stage.error().next.find("three-site-8"));
}

}  // namespace
}  // namespace p2p::sim
