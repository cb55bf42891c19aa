// What the controller decides with: which links, which codec, how many swaps at once, how much of
// an outer step, how long a round waits.

#include <gtest/gtest.h>

#include "core/mixing/codec_choice.hpp"
#include "core/mixing/guard.hpp"
#include "core/mixing/link_choice.hpp"
#include "core/mixing/outer_strength.hpp"
#include "core/mixing/round_deadline.hpp"
#include "core/mixing/swap_window.hpp"

namespace p2p::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PeerId peer(std::uint8_t number) {
    PeerId id;
    id.bytes[0] = number;
    return id;
}

std::vector<MemberPlace> places(std::uint8_t count, std::uint8_t outside_from) {
    std::vector<MemberPlace> list;
    for (std::uint8_t i = 1; i <= count; ++i)
        list.push_back({.id = peer(i), .site = i >= outside_from ? "far" : "near"});
    return list;
}

TEST(LinkChoice, TakesAllWhereThereAreNoMoreThanAHandful) {
    LinkChoice choice;
    Rng rng(1);
    choice.choose(TimePoint{}, places(8, 5), "near", rng);
    EXPECT_EQ(8U, choice.count());
}

TEST(LinkChoice, KeepsTheBestAndAlwaysOneOutOfTheSite) {
    LinkChoice choice;
    Rng rng(2);
    const auto up = places(30, 21);
    for (std::uint8_t i = 1; i <= 30; ++i)
        choice.on_swapped(peer(i), i <= 6 ? 1.0 : 0.01, i >= 21 ? 1.0 : 0.1);
    for (int round = 1; round < 20; ++round) {
        choice.choose(TimePoint{} + seconds{3 * round}, up, "near", rng);
        EXPECT_EQ(LinkChoice::links_max, choice.count());
        std::size_t far = 0;
        std::size_t best = 0;
        for (std::uint8_t i = 1; i <= 30; ++i) {
            if (!choice.has(peer(i))) continue;
            far += i >= 21 ? 1 : 0;
            best += i <= 6 ? 1 : 0;
        }
        EXPECT_GE(far, 1U);
        EXPECT_EQ(6U, best);
    }
}

TEST(LinkChoice, TriesEveryLinkOnceItIsThere) {
    LinkChoice choice;
    Rng rng(3);
    const auto up = places(40, 30);
    std::set<PeerId> tried;
    for (int round = 0; round < 20; ++round) {
        choice.choose(TimePoint{} + seconds{3 * round}, up, "near", rng);
        for (const MemberPlace& place : up) {
            if (!choice.has(place.id)) continue;
            tried.insert(place.id);
            choice.on_swapped(place.id, 0.5, 1);
        }
    }
    EXPECT_EQ(40U, tried.size());
}

/// Seconds of a swap, by the bits of its codec: latency and bytes over a rate.
CodecId settled_codec(double latency_seconds, double seconds_a_bit) {
    CodecChoice choice;
    for (int i = 0; i < 2000; ++i) {
        const CodecId codec = choice.offer();
        const double bits = codec == CodecId::delta_q8        ? 8
                            : codec == CodecId::delta_q4      ? 4
                            : codec == CodecId::delta_topk256 ? 0.5
                                                              : 0.16;
        const double gamma = bits >= 4 ? 1 : bits > 0.3 ? 0.6 : 0.3;
        choice.on_swapped(codec, 0.1 * gamma * gamma, latency_seconds + bits * seconds_a_bit);
    }
    return choice.best();
}

TEST(CodecChoice, TakesManyBitsWhereAnswersTakeTheTimeAndFewWhereBytesDo) {
    EXPECT_GE(2, static_cast<int>(settled_codec(0.2, 0.0001)) - 15);  // q8 or q4: the same to it
    EXPECT_EQ(CodecId::delta_topk256, settled_codec(0.001, 1));
}

TEST(SwapWindow, GrowsWhileSwapsTakeNoLongerAndShrinksWhereTheyQueue) {
    SwapWindow window;
    for (int i = 0; i < 200; ++i)
        window.on_swapped(peer(1), 0.2);
    EXPECT_GT(window.size(), 6U);
    for (int i = 0; i < 400; ++i)
        window.on_swapped(peer(1), 0.2 * static_cast<double>(window.size()));
    EXPECT_LE(window.size(), 3U);
    EXPECT_GE(window.size(), 1U);
    window.limit_to(0);
    EXPECT_EQ(1U, window.size());
}

TEST(OuterStrength, GoesWhereReplicasPartAndComesBackOnceTheyDoNot) {
    OuterStrength strength;
    EXPECT_FALSE(strength.is_tripped_by(1));
    double distance = 1;
    int tripped = 0;
    for (int i = 0; i < 12; ++i)
        tripped += strength.is_tripped_by(distance *= 3) ? 1 : 0;
    EXPECT_GT(tripped, 6);
    EXPECT_LT(strength.get(), 0.1);
    for (int i = 0; i < 100; ++i)
        (void)strength.is_tripped_by(distance);
    EXPECT_DOUBLE_EQ(1, strength.get());
}

TEST(RoundDeadline, FollowsHowLongRoundsTakeOnceItHasSeenSome) {
    RoundDeadline deadline(seconds{30});
    for (int i = 0; i < 7; ++i)
        deadline.add(milliseconds{100});
    EXPECT_EQ(Duration(seconds{30}), deadline.get());
    for (int i = 0; i < 20; ++i)
        deadline.add(milliseconds{100 + i % 3});
    EXPECT_GE(deadline.get(), milliseconds{400});
    EXPECT_LE(deadline.get(), milliseconds{500});
    for (int i = 0; i < 40; ++i)
        deadline.add(seconds{20});
    EXPECT_EQ(Duration(seconds{30}), deadline.get());  // never beyond the job's own
}

TEST(Clip, LeavesNearValuesAloneAndMovesFarOnesNoFurtherThanItsLength) {
    const GuardSpec guard{.finite = true, .norm_ratio = 0, .clip_ratio = 0.1};
    EXPECT_EQ(1.0F, clip_factor(guard, 0.9, 10));
    EXPECT_FLOAT_EQ(0.25F, clip_factor(guard, 4, 10));
    EXPECT_EQ(1.0F, clip_factor(GuardSpec{}, 1e9, 1));
}

}  // namespace
}  // namespace p2p::core
