// Exact averaging: for every number of members, in how many phases, and with whom.

#include "core/mixing/averaging.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "core/mixing/meetings.hpp"

namespace p2p::core {
namespace {

std::vector<double> drawn_values(std::size_t n) {
    Rng rng(n);
    std::vector<double> values(n);
    for (double& value : values)
        value = rng.normal();
    return values;
}

void meet(const Phase& phase, std::vector<double>& values) {
    const std::vector<double> before = values;
    for (const WeightedPair& pair : phase) {
        const double moved = pair.weight * (before[pair.high] - before[pair.low]);
        values[pair.low] += moved;
        values[pair.high] -= moved;
    }
}

class ExactSequence : public testing::TestWithParam<std::size_t> {};

TEST_P(ExactSequence, LeavesEverybodyAtTheMeanForEveryNumberOfMembers) {
    for (std::size_t n = 2; n <= 100; ++n) {
        std::vector<double> values = drawn_values(n);
        const double mean =
            std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
        for (const Phase& phase : exact_sequence(n, GetParam()))
            meet(phase, values);
        for (const double value : values)
            ASSERT_NEAR(mean, value, 1e-12) << n << " members";
    }
}

TEST_P(ExactSequence, IsAsShortAsThePaperSays) {
    const std::size_t k = GetParam();
    for (std::size_t n = 2; n <= 100; ++n) {
        // Takezawa et al. 2023, theorem 1: 2 log_{k+1}(n) + 2.
        const double bound =
            2 * std::log(static_cast<double>(n)) / std::log(static_cast<double>(k + 1)) + 2;
        EXPECT_LE(static_cast<double>(exact_sequence(n, k).size()), bound + 1e-9) << n;
    }
    EXPECT_EQ(1U, exact_sequence(k + 1, k).size());
}

TEST_P(ExactSequence, NeverMeetsMoreThanKInOnePhase) {
    const std::size_t k = GetParam();
    for (std::size_t n = 2; n <= 100; ++n) {
        for (const Phase& phase : exact_sequence(n, k)) {
            std::map<std::size_t, std::size_t> met;
            std::set<std::pair<std::size_t, std::size_t>> pairs;
            for (const WeightedPair& pair : phase) {
                ++met[pair.low];
                ++met[pair.high];
                EXPECT_TRUE(pairs.insert({pair.low, pair.high}).second);
                EXPECT_TRUE(pair.low < pair.high && pair.high < n);
                EXPECT_TRUE(pair.weight > 0 && pair.weight < 1);
            }
            for (const auto& [member, count] : met)
                EXPECT_LE(count, k) << n;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(PeersAPhase, ExactSequence, testing::Values(1U, 2U, 3U, 5U));

std::vector<MemberPlace> members(std::size_t n) {
    std::vector<MemberPlace> list(n);
    for (std::size_t i = 0; i < n; ++i) {
        list[i].id.bytes[0] = static_cast<std::uint8_t>(i);
        list[i].site = i % 3 == 0 ? "a" : "b";
    }
    return list;
}

class Schedule : public testing::TestWithParam<PartnerSpec> {};

TEST_P(Schedule, IsTheSameSeenFromBothEndsOfEachMeeting) {
    for (const std::size_t n : {2U, 3U, 7U, 8U, 12U}) {
        const auto all = members(n);
        for (std::uint64_t round = 1; round < 9; ++round) {
            std::map<std::tuple<std::size_t, PeerId, PeerId>, float> told;
            for (const MemberPlace& member : all) {
                const auto phases = meetings_of(member.id, GetParam(), all, Round{round}, 5);
                for (std::size_t i = 0; i < phases.size(); ++i) {
                    for (const Meeting& meeting : phases[i])
                        told[{i, member.id, meeting.peer}] = meeting.weight;
                }
            }
            for (const auto& [meeting, weight] : told) {
                const auto& [phase, one, other] = meeting;
                const auto back = told.find({phase, other, one});
                ASSERT_NE(told.end(), back);
                EXPECT_EQ(weight, back->second);
                EXPECT_NE(one, other);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Partners,
    Schedule,
    testing::Values(
        PartnerSpec{.kind = Partners::exponential},
        PartnerSpec{.kind = Partners::ring},
        PartnerSpec{.kind = Partners::random_ring},
        PartnerSpec{.kind = Partners::groups, .group_size = 4},
        PartnerSpec{.kind = Partners::groups, .group_size = 0, .peers_a_phase = 3},
        PartnerSpec{.kind = Partners::grid, .group_size = 2},
        PartnerSpec{.kind = Partners::sites},
        PartnerSpec{.kind = Partners::all, .group_size = 0, .peers_a_phase = 2}));

TEST(Schedule, OfAGridIsExactOnceAllSidesHaveHadTheirTurn) {
    const auto all = members(8);
    std::map<PeerId, double> values;
    for (std::size_t i = 0; i < all.size(); ++i)
        values[all[i].id] = static_cast<double>(i);
    const PartnerSpec grid{.kind = Partners::grid, .group_size = 2};
    for (std::uint64_t round = 0; round < 3; ++round) {
        const auto before = values;
        for (const MemberPlace& member : all) {
            for (const auto& phase : meetings_of(member.id, grid, all, Round{round}, 0)) {
                for (const Meeting& meeting : phase) {
                    values[member.id] += static_cast<double>(meeting.weight)
                                         * (before.at(meeting.peer) - before.at(member.id));
                }
            }
        }
    }
    for (const auto& [id, value] : values)
        EXPECT_DOUBLE_EQ(3.5, value);
}

TEST(Schedule, OfRandomGroupsIsAnotherOneInTheNextRound) {
    const auto all = members(12);
    const PartnerSpec groups{.kind = Partners::groups, .group_size = 4};
    std::set<PeerId> met;
    for (std::uint64_t round = 0; round < 20; ++round) {
        for (const auto& phase : meetings_of(all[0].id, groups, all, Round{round}, 1)) {
            for (const Meeting& meeting : phase)
                met.insert(meeting.peer);
        }
    }
    EXPECT_EQ(11U, met.size());
}

}  // namespace
}  // namespace p2p::core
