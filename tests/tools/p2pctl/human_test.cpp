#include "tools/p2pctl/human.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace p2p::tools {
namespace {

TEST(Printable, LeavesNothingThatATerminalObeys) {
    for (int byte = 0; byte < 256; ++byte) {
        for (const char letter : printable(std::string(1, static_cast<char>(byte)))) {
            EXPECT_TRUE(letter >= 0x20 && letter < 0x7f) << byte;
        }
    }
}

TEST(Printable, KeepsPlainTextAndDoublesBackslashes) {
    EXPECT_EQ("ams1-a \"x\" 10%", printable("ams1-a \"x\" 10%"));
    EXPECT_EQ("a\\\\x1b", printable("a\\x1b"));
    EXPECT_EQ("\\x1b[2J", printable("\x1b[2J"));
    EXPECT_EQ("\\xc3\\xbc", printable("\xc3\xbc"));
}

TEST(HumanDelay, IsInMillisecondsBelowASecond) {
    EXPECT_EQ("0.4 ms", human_delay(0.0004));
    EXPECT_EQ("12.1 ms", human_delay(0.0121));
    EXPECT_EQ("78 ms", human_delay(0.078));
    EXPECT_EQ("1.2 s", human_delay(1.2));
}

TEST(HumanDuration, HasItsTwoLargestUnits) {
    EXPECT_EQ("0 s", human_duration(-1));
    EXPECT_EQ("38 s", human_duration(38.9));
    EXPECT_EQ("9 m", human_duration(9 * 60 + 59));
    EXPECT_EQ("1h 7m", human_duration(67 * 60));
    EXPECT_EQ("2h", human_duration(2 * 3600));
    EXPECT_EQ("3d 4h", human_duration(76 * 3600));
}

TEST(HumanBytes, AreInPowersOfAThousand) {
    EXPECT_EQ("0 B", human_bytes(0));
    EXPECT_EQ("999 B", human_bytes(999));
    EXPECT_EQ("1 kB", human_bytes(1000));
    EXPECT_EQ("9.8 MB", human_bytes(9.8e6));
    EXPECT_EQ("41 MB", human_bytes(41e6));
    EXPECT_EQ("1 MB", human_bytes(999'700));
}

TEST(HumanPercent, NeverSaysAllBeforeAllIsDone) {
    EXPECT_EQ("0 %", human_percent(0));
    EXPECT_EQ("71 %", human_percent(0.7199));
    EXPECT_EQ("99 %", human_percent(0.9999));
    EXPECT_EQ("100 %", human_percent(1));
    EXPECT_EQ("96.8 %", human_percent(0.968, 1));
}

TEST(HumanCount, HasCommas) {
    EXPECT_EQ("0", human_count(0));
    EXPECT_EQ("999", human_count(999));
    EXPECT_EQ("1,000", human_count(1000));
    EXPECT_EQ("424,310", human_count(424'310));
    EXPECT_EQ("18,446,744,073,709,551,615", human_count(~std::uint64_t{0}));
}

TEST(HumanNumber, HasThreeDigitsThatCount) {
    EXPECT_EQ("0.214", human_number(0.2141));
    EXPECT_EQ("0.0041", human_number(0.0041));
    EXPECT_EQ("21300", human_number(21'300));
}

TEST(HumanClock, IsTheLocalTimeAndLeavesOtherTextsAlone) {
    ::setenv("TZ", "UTC", 1);
    EXPECT_EQ("14:02", human_clock("2026-11-30T14:02:02Z"));
    EXPECT_EQ("never\\x0a", human_clock("never\n"));
}

}  // namespace
}  // namespace p2p::tools
