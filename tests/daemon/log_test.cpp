#include "daemon/log.hpp"

#include <cstdlib>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

constexpr std::int64_t at = 1796047331345;

TEST(LogFormat, TextIsTimeLevelEventAndFields) {
    const LogEvent event{LogLevel::info, "peer_connected", {{"peer", "k7f3q2"}, {"rtt_ms", "3"}}};
    EXPECT_EQ(
        "2026-11-30T14:02:11.345Z info event=peer_connected peer=k7f3q2 rtt_ms=3",
        format_log_line(LogFormat::text, at, event));
}

TEST(LogFormat, QuotesOnlyWhatNeedsIt) {
    const LogEvent event{LogLevel::warn, "x", {{"a", "two words"}, {"b", ""}, {"c", "1=2"}}};
    EXPECT_EQ(
        "2026-11-30T14:02:11.345Z warn event=x a=\"two words\" b=\"\" c=\"1=2\"",
        format_log_line(LogFormat::text, at, event));
}

TEST(LogFormat, LetsNoForeignByteReachTheTerminal) {
    const LogEvent event{LogLevel::info, "x", {{"name", "a\x1b[2J\n\"\\\x80"}}};
    for (const LogFormat format : {LogFormat::text, LogFormat::json, LogFormat::journal}) {
        const std::string line = format_log_line(format, at, event);
        for (const char c : line) {
            EXPECT_GE(c, 0x20);
            EXPECT_LT(c, 0x7f);
        }
        EXPECT_NE(std::string::npos, line.find(R"("a\u001b[2J\u000a\"\\\u0080")")) << line;
    }
}

TEST(LogFormat, JsonIsOneObject) {
    const LogEvent event{LogLevel::error, "bind_failed", {{"why", "in use"}}};
    EXPECT_EQ(
        R"({"time":"2026-11-30T14:02:11.345Z","level":"error",)"
        R"("event":"bind_failed","why":"in use"})",
        format_log_line(LogFormat::json, at, event));
}

TEST(LogFormat, JournalLinesBeginWithTheirPriority) {
    EXPECT_EQ("<3>event=x", format_log_line(LogFormat::journal, at, {LogLevel::error, "x", {}}));
    EXPECT_EQ("<6>event=x", format_log_line(LogFormat::journal, at, {LogLevel::info, "x", {}}));
}

TEST(LogLevel, NamesAndLevelsArePairs) {
    for (const char* name : {"error", "warn", "info", "debug", "trace"}) {
        const auto level = log_level_from(name);
        ASSERT_TRUE(level.has_value()) << name;
        EXPECT_EQ(name, log_level_name(*level));
    }
    EXPECT_FALSE(log_level_from("loud").has_value());
}

/// A pipe that a Log writes into.
class LogPipe : public testing::Test {
  protected:
    LogPipe() { EXPECT_EQ(0, pipe(ends_)); }

    ~LogPipe() override {
        close(ends_[0]);
        if (ends_[1] >= 0) close(ends_[1]);
    }

    void close_writing_end() {
        close(ends_[1]);
        ends_[1] = -1;
    }

    std::string read_all() {
        close_writing_end();
        return read_to_end();
    }

    std::string read_to_end() {
        std::string text;
        char buffer[4096];
        for (;;) {
            const ssize_t count = read(ends_[0], buffer, sizeof buffer);
            if (count <= 0) return text;
            text.append(buffer, static_cast<std::size_t>(count));
        }
    }

    int ends_[2] = {-1, -1};
};

TEST_F(LogPipe, WritesWhatIsAtItsLevelAndCountsRepeatsAtTheEnd) {
    {
        Log log({.level = LogLevel::info, .format = LogFormat::journal, .fd = ends_[1]});
        log.write(LogLevel::debug, "unseen", {});
        for (int i = 0; i < 5; ++i) {
            log.write(LogLevel::warn, "refused", {{"from", "10.0.0.1"}});
        }
        log.write(LogLevel::info, "other", {});
    }
    EXPECT_EQ(
        "<4>event=refused from=10.0.0.1\n<6>event=other\n"
        "<4>event=refused from=10.0.0.1 repeated=4\n",
        read_all());
}

TEST_F(LogPipe, FlushMeansThatLinesAreOut) {
    Log log({.level = LogLevel::info, .format = LogFormat::journal, .fd = ends_[1]});
    log.write(LogLevel::info, "now", {});
    log.flush();
    char buffer[64];
    const ssize_t count = read(ends_[0], buffer, sizeof buffer);
    ASSERT_GT(count, 0);
    EXPECT_EQ("<6>event=now\n", std::string(buffer, static_cast<std::size_t>(count)));
}

TEST_F(LogPipe, NeverWaitsForAReaderThatDoesNotRead) {
    // A pipe holds 64 KiB. 20,000 different lines are more than pipe and queue; write() returns.
    std::string text;
    std::thread reader;
    {
        Log log({.level = LogLevel::info, .format = LogFormat::journal, .fd = ends_[1]});
        for (int i = 0; i < 20'000; ++i) {
            log.write(
                LogLevel::info, "flood", {{"i", std::to_string(i)}, {"pad", std::string(64, 'x')}});
        }
        // Only now is there a reader, and it reads on until the log has ended.
        reader = std::thread([this, &text] { text = read_to_end(); });
    }
    close_writing_end();
    reader.join();
    EXPECT_NE(std::string::npos, text.find("event=log_dropped lines="));
}

TEST_F(LogPipe, EndsAlthoughNobodyReads) {
    std::size_t written = 0;
    {
        Log log({.level = LogLevel::info, .format = LogFormat::journal, .fd = ends_[1]});
        for (; written < 5'000; ++written) {
            log.write(
                LogLevel::info,
                "flood",
                {{"i", std::to_string(written)}, {"pad", std::string(64, 'x')}});
        }
    }
    const std::string text = read_all();              // what the pipe held when the log gave up:
    EXPECT_EQ(0U, text.find("<6>event=flood i=0 "));  // from the first line on, not all
    EXPECT_EQ(std::string::npos, text.find("i=" + std::to_string(written - 1) + " "));
}

}  // namespace
}  // namespace p2p::daemon
