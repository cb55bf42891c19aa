// What p2pctl prints: screens, formats, and that nothing in them moves a terminal.

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proto/json.hpp"
#include "tests/tools/p2pctl/p2pctl_run.hpp"

namespace p2p::tools {
namespace {

using proto::Json;

TEST_F(P2pctlTest, ScreensAreAsTheyWereAgreedOn) {
    for (const char* command :
         {"status",
          "health",
          "peer list",
          "job list",
          "job show mnist-mlp",
          "job show cifar-vit",
          "peer show fra1-b",
          "job show mnist-mlp -o wide",
          "peer list -o wide",
          "peer list -o csv",
          "job list -o name"}) {
        const Ran ran = run(command);
        EXPECT_EQ(0, ran.code) << command << ran.err;
        EXPECT_EQ("", ran.err) << command;
        std::string name = command;
        for (char& letter : name) {
            if (letter == ' ') letter = '_';
        }
        expect_golden(name, ran.out);
    }
}

TEST_F(P2pctlTest, CheckpointsHaveAScreen) {
    change([](auto& node) { node.checkpoints = {tests::sample_checkpoint()}; });
    const Ran ran = run("checkpoint list");
    EXPECT_EQ(0, ran.code);
    expect_golden("checkpoint_list", ran.out);
    EXPECT_EQ(ran.out, run("checkpoint list mnist-mlp").out);
    EXPECT_EQ("step-00022400\n", run("checkpoint list -o name").out);
}

TEST_F(P2pctlTest, AnEmptyNodeHasAStatusThatSaysWhatToDo) {
    change([](auto& node) {
        node.status.network = {};
        node.status.peers.clear();
        node.status.jobs.clear();
        node.status.health.clear();
    });
    expect_golden("status_empty", run("status").out);
    EXPECT_EQ("NAME  STATE  PROGRESS  LOSS  PEERS  SINCE  REASON\n", run("job list").out);
}

TEST_F(P2pctlTest, NothingFromOtherNodesReachesTheTerminalUnescaped) {
    change([](auto& node) { node.status = tests::nasty_status(); });
    for (const char* command :
         {"status",
          "peer list",
          "peer list -o wide",
          "job list",
          "job show mnist-mlp",
          "job show cifar-vit",
          "peer list -o csv",
          "peer list -o name",
          "health"}) {
        const Ran ran = run(command);
        EXPECT_EQ(0, ran.code) << command << ran.err;
        for (const char letter : ran.out) {
            EXPECT_TRUE(letter == '\n' || (letter >= 0x20 && letter < 0x7f)) << command;
        }
    }
    EXPECT_NE(std::string::npos, run("peer list").out.find("red \\x1b[31mhat\\x1b[2J"));
}

TEST_F(P2pctlTest, ColumnsStayLinedUpWhateverTheNames) {
    change([](auto& node) { node.status = tests::nasty_status(); });
    std::istringstream lines(run("peer list").out);
    std::string line;
    std::getline(lines, line);
    const auto column = line.find("ID");
    while (std::getline(lines, line)) {
        EXPECT_EQ(' ', line.at(column - 1));
        EXPECT_NE(' ', line.at(column));
    }
}

TEST_F(P2pctlTest, ColorIsOnlyWhereItIsWanted) {
    EXPECT_EQ(std::string::npos, run("peer list").out.find('\x1b'));
    const std::string colored = run("peer list --color always").out;
    EXPECT_NE(std::string::npos, colored.find("\x1b[32mconnected\x1b[0m"));
}

// --- formats ------------------------------------------------------------------------------------

TEST_F(P2pctlTest, JsonIsValidNamesItsSchemaAndIsAllOfStdout) {
    change([](auto& node) { node.status = tests::nasty_status(); });
    for (const char* command :
         {"status",
          "health",
          "peer list",
          "peer show ams1-a",
          "job list",
          "job show mnist-mlp",
          "checkpoint list",
          "id",
          "version"}) {
        for (const char* format : {" -o json", " --json"}) {
            const Ran ran = run(std::string(command) + format);
            EXPECT_EQ(0, ran.code) << command << ran.err;
            ASSERT_TRUE(Json::accept(ran.out)) << command;
            EXPECT_TRUE(Json::parse(ran.out).contains("schema")) << command;
        }
    }
}

TEST_F(P2pctlTest, JsonLinesAreOneObjectALine) {
    std::istringstream lines(run("peer list -o jsonl").out);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
        EXPECT_TRUE(Json::parse(line).contains("id"));
        ++count;
    }
    EXPECT_EQ(5, count);
}

TEST_F(P2pctlTest, TheIdIsPrintedWhole) {
    EXPECT_EQ(tests::id_of<core::PeerId>(1).text() + "\n", run("id").out);
}

TEST_F(P2pctlTest, AHeaderCanBeLeftOut) {
    const auto words = [](const std::string& text) {
        std::istringstream stream(text);
        return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
    };
    const std::string with = run("job list").out;
    EXPECT_EQ(words(with.substr(with.find('\n') + 1)), words(run("job list --no-header").out));
}

}  // namespace
}  // namespace p2p::tools
