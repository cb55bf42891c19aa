#include "core/base/duration_text.hpp"

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::core {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, ReadsEveryUnit) {
    EXPECT_EQ(Duration{30s}, duration_from_text("30s"));
    EXPECT_EQ(Duration{5min}, duration_from_text("5m"));
    EXPECT_EQ(Duration{200ms}, duration_from_text("200ms"));
    EXPECT_EQ(Duration{1h}, duration_from_text("1h"));
    EXPECT_EQ(Duration{48h}, duration_from_text("2d"));
    EXPECT_EQ(Duration{7us}, duration_from_text("7us"));
    EXPECT_EQ(Duration{9ns}, duration_from_text("9ns"));
}

TEST(DurationText, ReadsSumsAndFractionsExactly) {
    EXPECT_EQ(Duration{90min}, duration_from_text("1h30m"));
    EXPECT_EQ(Duration{1500ms}, duration_from_text("1.5s"));
    EXPECT_EQ(Duration{1ns}, duration_from_text("0.000000001s"));
    EXPECT_EQ(Duration::zero(), duration_from_text("0"));
}

TEST(DurationText, RefusesWhatIsNoDuration) {
    for (const auto* text : {"",         "30",   "s",    "-1s",    "1 s",
                             "1s ",      "1.s",  ".5s",  "5S",     "1sec",
                             "1e3s",     "1s30", "inf",  "1,5s",   "0.5ns",
                             "1..5s",    "+1s",  "0x1s", "36501d", "99999999999999999999s",
                             "36500d1ns"}) {
        EXPECT_FALSE(duration_from_text(text)) << text;
    }
}

TEST(DurationText, GivesBackWhatItWrites) {
    Rng rng(7);
    for (int i = 0; i < 1000; ++i) {
        const Duration duration{
            static_cast<std::int64_t>(rng.below(std::uint64_t{1} << (1 + rng.below(61))))};
        EXPECT_EQ(duration, duration_from_text(duration_text(duration))) << duration.count();
    }
    EXPECT_EQ("1m30s", duration_text(90s));
    EXPECT_EQ("0s", duration_text(0s));
}

}  // namespace
}  // namespace p2p::core
