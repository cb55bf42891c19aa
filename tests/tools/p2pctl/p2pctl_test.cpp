// How p2pctl ends, what it changes, how it waits and is interrupted.

#include <filesystem>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "proto/json.hpp"
#include "tests/tools/p2pctl/p2pctl_run.hpp"

namespace p2p::tools {
namespace {

using proto::Json;

// --- exit codes ---------------------------------------------------------------------------------

TEST_F(P2pctlTest, EndsWithThreeWhenP2pdIsNotRunning) {
    server.reset();
    const Ran ran = run("status");
    EXPECT_EQ(3, ran.code);
    EXPECT_EQ("", ran.out);
    EXPECT_NE(std::string::npos, ran.err.find("p2pctl: p2pd is not running: "));
    EXPECT_NE(std::string::npos, ran.err.find("next: systemctl status p2pd"));
    EXPECT_EQ(3, run("health -q").code);
    const Ran version = run("version");
    EXPECT_EQ(3, version.code);
    EXPECT_NE(std::string::npos, version.out.find("p2pctl 0."));
}

TEST_F(P2pctlTest, AnErrorIsADocumentOnStdoutWhereJsonIsAskedFor) {
    server.reset();
    const Ran ran = run("status --json");
    EXPECT_EQ("unreachable", Json::parse(ran.out).at("error").at("code"));
    EXPECT_NE("", ran.err);
}

TEST_F(P2pctlTest, EndsWithFourWhenTheSocketDoesNotLetItInAndReadsOverTheOther) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may open every socket";
    ASSERT_EQ(0, ::chmod(control.c_str(), 0));
    EXPECT_EQ(0, run("status").code);
    EXPECT_EQ(4, run("job pause mnist-mlp").code);
}

TEST_F(P2pctlTest, EndsWithFourWhenP2pdRefuses) {
    EXPECT_EQ(4, run("--socket " + status.string() + " job pause mnist-mlp").code);
    change([](auto& node) {
        node.refusal = core::Error{core::ErrorCode::not_permitted, "you may not", "", ""};
    });
    EXPECT_EQ(4, run("job stop mnist-mlp").code);
}

TEST_F(P2pctlTest, EndsWithFiveWhenThereIsNoSuchThing) {
    EXPECT_EQ(5, run("peer show nobody").code);
    EXPECT_EQ(5, run("job show nothing").code);
    EXPECT_EQ(5, run("job pause nothing").code);
    EXPECT_EQ(5, run("checkpoint verify mnist-mlp").code);
    EXPECT_EQ(5, run("checkpoint export mnist-mlp --to model").code);
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "model"));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "model.part"));
}

TEST_F(P2pctlTest, EndsWithSixOnAConflict) {
    EXPECT_EQ(0, run("init").code);
    EXPECT_EQ(6, run("init").code);
}

TEST_F(P2pctlTest, EndsWithSevenWhenTheNodeIsNotHealthy) {
    EXPECT_EQ(0, run("health").code);
    change([](auto& node) { node.status.health[0].severity = "error"; });
    const Ran loud = run("health");
    EXPECT_EQ(7, loud.code);
    EXPECT_NE(std::string::npos, loud.out.find("not healthy"));
    const Ran quiet = run("health --quiet");
    EXPECT_EQ(7, quiet.code);
    EXPECT_EQ("", quiet.out + quiet.err);
}

TEST_F(P2pctlTest, EndsWithEightWhenNoAnswerComes) {
    {
        const std::lock_guard lock(mutex);
        is_stuck = true;
    }
    EXPECT_EQ(8, run("status").code);                  // p2pd's own limit
    EXPECT_EQ(8, run("status --timeout 100ms").code);  // p2pctl's
}

TEST_F(P2pctlTest, EndsWithTwoOnWrongUsage) {
    for (const char* arguments :
         {"",
          "nonsense",
          "peer",
          "job show",
          "status --timeout soon",
          "status -o yaml",
          "status --watch=0s",
          "wait something",
          "wait peers=many",
          "wait job=x",
          "wait job=x:odd",
          "job list extra",
          "checkpoint export mnist-mlp",
          "--no-such-flag status"}) {
        const Ran ran = run(arguments);
        EXPECT_EQ(2, ran.code) << arguments;
        EXPECT_EQ("", ran.out) << arguments;
        EXPECT_NE("", ran.err) << arguments;
    }
    EXPECT_NE(std::string::npos, run("statsu").err.find("did you mean status?"));
    EXPECT_EQ(0, run("--help").code);
    EXPECT_NE(std::string::npos, run("job submit --help").out.find("--wait"));
}

TEST_F(P2pctlTest, EndsWithOneWhenAFileCannotBeReadOrMakesNoSense) {
    EXPECT_EQ(1, run("job submit absent.toml").code);
    const Ran ran = run("job validate -", "bad");
    EXPECT_EQ(1, ran.code);
    EXPECT_NE(std::string::npos, ran.err.find("next: did you mean train.epochs?"));
    EXPECT_EQ(1, run("job submit -", std::string(300'000, '#')).code);
    EXPECT_EQ(0U, commands());
}

// --- changing -----------------------------------------------------------------------------------

TEST_F(P2pctlTest, ASubmittedJobIsShownWithItsIdAndState) {
    write_file(dir.path() / "job.toml", "schema = \"p2pd.job/1\"\n");
    const std::string id = tests::id_of<core::JobId>(0x51).text();
    const Ran ran = run("job submit job.toml");
    EXPECT_EQ(0, ran.code) << ran.err;
    EXPECT_EQ("mnist-mlp   " + id + "   running\ndone as asked\n", ran.out);
    EXPECT_EQ(id + "\n", run("job submit - -o name", "x").out);
    EXPECT_EQ(2U, commands());
}

TEST_F(P2pctlTest, SubmittingWithWaitEndsWithTheJob) {
    change([](auto& node) { node.status.jobs[0].state = core::JobState::done; });
    const Ran ran = run("job submit --wait -", "x");
    EXPECT_EQ(0, ran.code) << ran.err;
    EXPECT_NE(std::string::npos, ran.out.find("mnist-mlp is done\n"));
    change([](auto& node) { node.status.jobs[0].state = core::JobState::stopped; });
    EXPECT_EQ(6, run("job submit --wait -", "x").code);
    change([](auto& node) { node.status.jobs[0].state = core::JobState::running; });
    EXPECT_EQ(8, run("job submit --wait --timeout 300ms -", "x").code);
}

TEST_F(P2pctlTest, TheVerbsOfAJobReachTheNode) {
    for (const char* verb : {"join", "pause", "resume", "stop", "remove"}) {
        EXPECT_EQ(0, run(std::string("job ") + verb + " mnist-mlp").code) << verb;
    }
    const std::lock_guard lock(mutex);
    ASSERT_EQ(5U, fake.commands.size());
    EXPECT_TRUE(std::holds_alternative<core::StopJob>(fake.commands[3]));
    EXPECT_TRUE(std::holds_alternative<core::RemoveJob>(fake.commands[4]));
}

TEST_F(P2pctlTest, ACheckpointIsExportedWholeToAFileOrStdout) {
    const std::string content(200'000, 'm');
    write_file(dir.path() / "source", content);
    change([&](auto& node) { node.model = dir.path() / "source"; });
    EXPECT_EQ(0, run("checkpoint export mnist-mlp final --to model").code);
    EXPECT_EQ(content, content_of(dir.path() / "model"));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "model.part"));
    EXPECT_EQ(content, run("checkpoint export mnist-mlp --to -").out);
    EXPECT_EQ(1, run("checkpoint export mnist-mlp --to /no/such/folder/model").code);
}

TEST_F(P2pctlTest, ACheckpointIsVerified) {
    change([](auto& node) { node.checkpoints = {tests::sample_checkpoint()}; });
    EXPECT_EQ("mnist-mlp step-00022400: whole, 2.1 MB\n", run("checkpoint verify mnist-mlp").out);
    EXPECT_EQ(5, run("checkpoint verify mnist-mlp 7").code);
}

// --- waiting ------------------------------------------------------------------------------------

TEST_F(P2pctlTest, WaitingEndsWhenTheConditionHolds) {
    for (const char* condition :
         {"ready", "joined", "peers=2", "peers=0", "job=mnist-mlp:running"}) {
        const Ran ran = run(std::string("wait ") + condition);
        EXPECT_EQ(0, ran.code) << condition << ran.err;
        EXPECT_EQ("", ran.out + ran.err) << condition;
    }
}

TEST_F(P2pctlTest, WaitingEndsWithEightWhenTimeRunsOut) {
    for (const char* condition : {"peers=3", "job=mnist-mlp:done", "job=later:running"}) {
        const Ran ran = run(std::string("wait --timeout 300ms ") + condition);
        EXPECT_EQ(8, ran.code) << condition;
        EXPECT_NE(std::string::npos, ran.err.find("time ran out")) << condition;
    }
    server.reset();
    EXPECT_EQ(8, run("wait ready --timeout 300ms").code);
}

TEST_F(P2pctlTest, WaitingForWhatCannotComeEndsWithSixAtOnce) {
    change([](auto& node) {
        node.status.jobs[0].state = core::JobState::failed;
        node.status.jobs[0].reason = "disk full";
    });
    const Ran ran = run("wait job=mnist-mlp:done --timeout 60s");
    EXPECT_EQ(6, ran.code);
    EXPECT_NE(std::string::npos, ran.err.find("disk full"));
}

// --- signals and pipes --------------------------------------------------------------------------

TEST_F(P2pctlTest, CtrlCEndsWithOneHundredAndThirty) {
    EXPECT_EQ(
        130,
        run("status --watch >live & child=$!; "
            "until grep -q node live; do :; done; kill -INT $child; wait $child")
            .code);
}

TEST_F(P2pctlTest, WatchingPrintsAgainAndAgain) {
    const Ran ran =
        run("job list --watch=100ms >live & child=$!; "
            "until test $(grep -c NAME live) -ge 3; do :; done; "
            "kill -TERM $child; wait $child");
    EXPECT_EQ(130, ran.code);
}

TEST_F(P2pctlTest, AClosedPipeEndsItInSilence) {
    const Ran ran = run("peer list -o json --watch=100ms | head -c 1");
    EXPECT_EQ(0, ran.code);
    EXPECT_EQ("{", ran.out);
    EXPECT_EQ("", ran.err);
}

}  // namespace
}  // namespace p2p::tools
