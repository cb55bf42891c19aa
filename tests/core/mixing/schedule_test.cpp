// Graphs that are as sparse as may be, bounds on running ahead, and the cut of a model by layers.

#include <gtest/gtest.h>

#include "core/mixing/density.hpp"
#include "core/mixing/layout.hpp"
#include "core/mixing/staleness_bound.hpp"

namespace p2p::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PeerId peer(std::uint8_t i) {
    PeerId id;
    id.bytes[0] = i;
    return id;
}

std::vector<MemberPlace> members_in(std::size_t count, std::size_t sites) {
    std::vector<MemberPlace> members;
    for (std::size_t i = 0; i < count; ++i) {
        members.push_back(
            {.id = peer(static_cast<std::uint8_t>(i + 1)), .site = std::to_string(i % sites)});
    }
    return members;
}

TEST(SparseGraph, MixesAtLeastAsFastAsItsBoundWithFewerLinksTheLooserThatIs) {
    for (const std::size_t count : {3U, 8U, 16U, 33U}) {
        const auto members = members_in(count, 3);
        std::size_t links_before = count * count;
        for (const double bound : {0.5, 0.7, 0.9}) {
            const Phase phase = sparse_graph(members, bound);
            const std::size_t links_all = count * (count - 1) / 2;
            EXPECT_TRUE(second_eigenvalue(phase, count) <= bound || phase.size() == links_all);
            EXPECT_LE(phase.size(), links_before) << count << " members, bound " << bound;
            links_before = phase.size();
        }
        EXPECT_GE(links_before, count - 1);
    }
}

TEST(SparseGraph, PrefersLinksInsideSites) {
    const auto members = members_in(24, 3);
    std::size_t across = 0;
    const Phase phase = sparse_graph(members, 0.8);
    for (const WeightedPair& pair : phase)
        across += members[pair.low].site == members[pair.high].site ? 0U : 1U;
    // Of all pairs two thirds are across.
    EXPECT_LT(across * 2, phase.size());
    EXPECT_GE(across, 2U);
}

TEST(SparseGraph, OfManyMembersIsConnectedAndSparse) {
    const Phase phase = sparse_graph(members_in(200, 4), 0.8);
    EXPECT_LT(phase.size(), 200U * 9);
    EXPECT_LT(second_eigenvalue(phase, 200), 0.99);
}

TEST(SecondEigenvalue, OfKnownGraphsIsWhatTheFormulaSays) {
    EXPECT_NEAR(0, second_eigenvalue({{.low = 0, .high = 1, .weight = 0.5}}, 2), 1e-6);
    Phase ring;  // eigenvalues 1/3 + 2/3 cos(2 pi k / 6), the largest below 1 at k = 1: 2/3
    for (std::size_t i = 0; i < 6; ++i)
        ring.push_back({.low = i, .high = (i + 1) % 6, .weight = 1.0 / 3});
    EXPECT_NEAR(2.0 / 3, second_eigenvalue(ring, 6), 1e-3);
}

/// Clocks of a fast and a slow runner under a bound, by event time; returns what the fast one
/// waited, and how far it was ahead at most.
struct Race {
    Duration waited{};
    std::uint64_t ahead_most = 0;
    std::uint64_t clocks = 0;
};

Race race(std::uint64_t low, std::uint64_t high, Duration fast, Duration slow) {
    StalenessBound bound(low, high, seconds{10});
    TimePoint now{};
    bound.restart(now, 1);
    bound.on_peer(now, peer(2), 1);
    std::uint64_t own = 1;
    std::uint64_t theirs = 1;
    TimePoint own_done = now + fast;
    TimePoint theirs_done = now + slow;
    Race result;
    std::optional<TimePoint> stands_since;
    while (now < TimePoint{} + seconds{60}) {
        if (!stands_since && own_done <= theirs_done) {
            now = own_done;
            bound.on_own(now, ++own);
            result.ahead_most = std::max(result.ahead_most, own - theirs);
        } else {
            now = theirs_done;
            theirs_done = now + slow;
            bound.on_peer(now, peer(2), ++theirs);
        }
        const bool may_go = own <= bound.limit(now).value_or(UINT64_MAX);
        if (may_go) {
            if (stands_since) result.waited += now - *stands_since;
            if (stands_since || own_done <= now) own_done = now + fast;
            stands_since.reset();
        } else if (!stands_since) {
            stands_since = now;
        }
    }
    result.clocks = own;
    return result;
}

TEST(StalenessBound, IsNeverPassedByMoreThanItsUpperEnd) {
    for (const std::uint64_t high : {2U, 5U, 15U}) {
        const Race result = race(2, high, milliseconds{10}, milliseconds{70});
        EXPECT_LE(result.ahead_most, high + 1);
        EXPECT_GE(result.ahead_most, 2U);
    }
}

TEST(StalenessBound, LetsEqualRunnersNeverWait) {
    EXPECT_EQ(Duration{}, race(2, 6, milliseconds{10}, milliseconds{10}).waited);
}

TEST(StalenessBound, DoesNotWaitForWhoHasBeenSilentForLong) {
    StalenessBound bound(1, 1, seconds{2});
    bound.restart({}, 1);
    bound.on_peer({}, peer(2), 1);
    bound.on_own(TimePoint{} + seconds{1}, 9);
    EXPECT_EQ(2U, bound.limit(TimePoint{} + seconds{1}));
    EXPECT_EQ(TimePoint{} + seconds{2}, bound.next_wakeup(TimePoint{} + seconds{1}));
    EXPECT_EQ(std::nullopt, bound.limit(TimePoint{} + seconds{2}));
}

TEST(LayoutByLayer, HasTheLastLayerFirstAndCoversTheWholeModelOnce) {
    const Layout layout = Layout::by_layer(
        {{.name = "fc1.weight", .shape = {4, 3}, .offset = 0},
         {.name = "fc1.bias", .shape = {4}, .offset = 12},
         {.name = "fc2.weight", .shape = {2, 4}, .offset = 16},
         {.name = "fc2.bias", .shape = {2}, .offset = 24}});
    ASSERT_EQ(2U, layout.shard_count());
    EXPECT_EQ((ShardRange{16, 10}), layout.shard(ShardIndex{0}));
    EXPECT_EQ((ShardRange{0, 16}), layout.shard(ShardIndex{1}));
}

}  // namespace
}  // namespace p2p::core
