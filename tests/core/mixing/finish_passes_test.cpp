// The passes of a job's end: what each node meets in turn, and when they are over.

#include "core/mixing/finish_passes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

using std::chrono::seconds;

constexpr double tolerance = 1e-4;

PeerId id_of(std::size_t i) {
    PeerId id;
    id.bytes[0] = static_cast<std::uint8_t>(i + 1);
    return id;
}

std::vector<MemberPlace> members_of(std::size_t n) {
    std::vector<MemberPlace> members;
    for (std::size_t i = 0; i < n; ++i)
        members.push_back({.id = id_of(i), .site = i % 2 == 0 ? "a" : "b"});
    return members;
}

/// Nodes with one value each, whose swaps are applied as soon as both ends are at the same phase.
struct Mesh {
    explicit Mesh(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            nodes.emplace_back(id_of(i), 1U, tolerance);
            nodes.back().set_members(TimePoint{}, members_of(n));
            nodes.back().begin(TimePoint{});
            values.push_back(1 + static_cast<double>(i * i % 7));
        }
    }

    /// One swap that both ends wait for, if there is one.
    bool swap_one() {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const Meeting& meeting : std::vector(nodes[i].meetings())) {
                const auto j = static_cast<std::size_t>(meeting.peer.bytes[0] - 1);
                if (i > j || !nodes[i].is_waiting_for({meeting.peer, ShardIndex{0}})) continue;
                nodes[j].follow(TimePoint{}, nodes[i].on_wire());
                nodes[i].follow(TimePoint{}, nodes[j].on_wire());
                if (nodes[i].on_wire() != nodes[j].on_wire()) continue;
                swap(i, j, static_cast<double>(meeting.weight));
                return true;
            }
        }
        return false;
    }

    void swap(std::size_t i, std::size_t j, double weight) {
        const double difference = values[j] - values[i];
        values[i] += weight * difference;
        values[j] -= weight * difference;
        const Round round = nodes[i].on_wire();
        nodes[i].on_swapped(TimePoint{}, {id_of(j), ShardIndex{0}}, round, std::abs(difference));
        nodes[j].on_swapped(TimePoint{}, {id_of(i), ShardIndex{0}}, round, std::abs(difference));
        ++swaps;
    }

    [[nodiscard]] bool is_settled() const {
        return std::all_of(
            nodes.begin(), nodes.end(), [](const auto& node) { return node.is_settled(); });
    }

    std::vector<FinishPasses> nodes;
    std::vector<double> values;
    std::size_t swaps = 0;
};

TEST(FinishPasses, BringEveryMeshToItsMeanInTwoPasses) {
    for (std::size_t n = 1; n <= 40; ++n) {
        Mesh mesh(n);
        const double mean =
            std::accumulate(mesh.values.begin(), mesh.values.end(), 0.0) / static_cast<double>(n);
        while (mesh.swap_one()) {
        }
        EXPECT_TRUE(mesh.is_settled()) << n << " nodes";
        for (const double value : mesh.values)
            EXPECT_NEAR(mean, value, 1e-6) << n << " nodes";
        if (n == 8) {
            EXPECT_EQ(2U * 12U, mesh.swaps);  // two passes of three phases of four pairs
        }
    }
}

TEST(FinishPasses, OfNodesThatAreOneAlreadyAreOver) {
    Mesh mesh(6);
    mesh.values.assign(6, 3.0);
    while (mesh.swap_one()) {
    }
    EXPECT_TRUE(mesh.is_settled());
    for (const FinishPasses& node : mesh.nodes)
        EXPECT_LT(node.on_wire().value, FinishPasses::outside_passes.value + 2 * 256);
}

TEST(FinishPasses, AreGivenUpWhereAPhaseStandsForTooLong) {
    FinishPasses passes(id_of(0), 1, tolerance);
    passes.set_members(TimePoint{}, members_of(2));
    passes.begin(TimePoint{});
    passes.expire(TimePoint{} + seconds{9}, seconds{10});
    EXPECT_FALSE(passes.has_given_up());
    passes.expire(TimePoint{} + seconds{10}, seconds{10});
    EXPECT_TRUE(passes.has_given_up());
}

TEST(FinishPasses, AreMadeAgainForWhoComesButNotForWhoLeaves) {
    Mesh mesh(4);
    while (mesh.swap_one()) {
    }
    FinishPasses& node = mesh.nodes.front();
    ASSERT_TRUE(node.is_settled());
    node.set_members(TimePoint{}, members_of(3));
    EXPECT_TRUE(node.is_settled());
    node.set_members(TimePoint{}, members_of(4));
    EXPECT_FALSE(node.is_settled());
    EXPECT_FALSE(node.meetings().empty());
}

TEST(FinishPasses, AreMadeAgainWhereAPeerMakesOneMore) {
    Mesh mesh(2);
    while (mesh.swap_one()) {
    }
    FinishPasses& node = mesh.nodes.front();
    ASSERT_TRUE(node.is_settled());
    EXPECT_TRUE(node.is_past(node.on_wire()));
    const Round later{node.on_wire().value + 256};
    EXPECT_FALSE(node.is_past(later));
    node.follow(TimePoint{}, later);
    EXPECT_FALSE(node.is_settled());
}

TEST(FinishPasses, ThatMissASwapFindNothingSettled) {
    FinishPasses passes(id_of(0), 1, tolerance);
    passes.set_members(TimePoint{}, members_of(2));
    passes.begin(TimePoint{});
    const Round first = passes.on_wire();
    passes.on_missed(TimePoint{}, {id_of(1), ShardIndex{0}}, first);
    EXPECT_FALSE(passes.is_settled());
    EXPECT_GT(passes.on_wire(), first);
    passes.on_swapped(TimePoint{}, {id_of(1), ShardIndex{0}}, passes.on_wire(), 0.0);
    EXPECT_TRUE(passes.is_settled());
}

TEST(FinishPasses, TakeNoNumberFromAPeerThatHasNoEnd) {
    Mesh mesh(2);
    while (mesh.swap_one()) {
    }
    FinishPasses& node = mesh.nodes.front();
    node.follow(TimePoint{}, Round{~std::uint64_t{0}});
    EXPECT_TRUE(node.is_settled());
}

}  // namespace
}  // namespace p2p::core
