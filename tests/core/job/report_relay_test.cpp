// Each report comes to each node about once, and goes on coming whatever breaks.

#include "core/job/report_relay.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "tests/support/peers.hpp"
#include "tools/sim/event_heap.hpp"

namespace p2p::test {
namespace {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration period = seconds{1};

/// Nodes with links that take 5 to 100 ms, each of which reports once a period.
class RelayWorld {
  public:
    RelayWorld(std::uint64_t seed, std::size_t nodes, std::size_t links_a_node)
        : rng_(seed) {
        for (std::size_t i = 0; i < nodes; ++i)
            nodes_.emplace_back(period, rng_.split(i));
        for (std::size_t i = 0; i < nodes; ++i) {
            link(i, (i + 1) % nodes);
            for (std::size_t more = 2; more < links_a_node; more += 2)
                link(i, rng_.below(nodes));
            heap_.after(milliseconds{rng_.below(1000)}, [this, i] { report(i); });
        }
    }

    void link(std::size_t a, std::size_t b) {
        if (a == b || !links_.insert(std::minmax(a, b)).second) return;
        nodes_[a].relay.on_linked(peer(b));
        nodes_[b].relay.on_linked(peer(a));
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
            for (const auto& [author, number] : nodes_[from].newest)
                send(from, to, author, number);
    }

    void unlink(std::size_t a, std::size_t b) {
        if (links_.erase(std::minmax(a, b)) == 0) return;
        nodes_[a].relay.on_unlinked(peer(b));
        nodes_[b].relay.on_unlinked(peer(a));
    }

    void kill(std::size_t node) {
        dead_.insert(node);
        for (std::size_t other = 0; other < nodes_.size(); ++other)
            unlink(node, other);
    }

    void run_for(Duration time) {
        const TimePoint until = heap_.now + time;
        while (heap_.run_next(until)) {
        }
        heap_.now = until;
    }

    /// How many reports the worst informed live node lacks of any live author.
    [[nodiscard]] std::uint64_t reports_behind() {
        std::uint64_t most = 0;
        for (std::size_t node = 0; node < nodes_.size(); ++node)
            for (std::size_t author = 0; author < nodes_.size(); ++author)
                if (node != author && !dead_.contains(node) && !dead_.contains(author))
                    most =
                        std::max(most, nodes_[author].number - nodes_[node].newest[peer(author)]);
        return most;
    }

    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> take_counts() {
        return {std::exchange(copies_, 0), std::exchange(news_, 0)};
    }

    bool tells_age = false;  // else all have just begun, and everything is passed on

  private:
    struct Node {
        Node(Duration interval, Rng rng)
            : relay(interval, rng) {}

        ReportRelay relay;
        std::uint64_t number = 0;
        std::map<PeerId, std::uint64_t> newest;
    };

    static PeerId peer(std::size_t node) { return test::peer(static_cast<std::uint8_t>(node)); }

    static std::size_t index(const PeerId& id) { return id.bytes[0]; }

    /// In order on each link, and lost where it ends.
    void carry(std::size_t from, std::size_t to, std::function<void()> act) {
        TimePoint& free = links_free_[{from, to}];
        const std::uint64_t spread = 5 + (from * 7 + to * 13) % 90;
        free = std::max(free, heap_.now + milliseconds{spread + rng_.below(6)});
        heap_.at(free, [this, from, to, act = std::move(act)] {
            if (links_.contains(std::minmax(from, to))) act();
        });
    }

    void send(std::size_t from, std::size_t to, PeerId author, std::uint64_t number) {
        carry(from, to, [this, from, to, author, number] { hear(from, to, author, number); });
    }

    void hear(std::size_t from, std::size_t to, PeerId author, std::uint64_t number) {
        Node& node = nodes_[to];
        ++copies_;
        const bool is_news = author != peer(to) && node.newest[author] < number;
        if (is_news) node.newest[author] = number;
        if (is_news) ++news_;
        for (const PeerId& next :
             node.relay.on_report(heap_.now, peer(from), author, report_of(number), is_news).to)
            send(to, index(next), author, number);
    }

    /// An age as of a training that began with the world, where ages are told.
    [[nodiscard]] JobReport report_of(std::uint64_t number) const {
        JobReport report;
        report.sequence = number;
        if (tells_age) report.training_time = number * period;
        return report;
    }

    void report(std::size_t i) {
        if (dead_.contains(i)) return;
        ++nodes_[i].number;
        for (std::size_t other = 0; other < nodes_.size(); ++other)
            if (links_.contains(std::minmax(i, other))) send(i, other, peer(i), nodes_[i].number);
        for (const ReportRelay::Wish& wish : nodes_[i].relay.take_wishes(heap_.now))
            carry(i, index(wish.to), [this, i, wish] { grant(i, wish); });
        heap_.after(period, [this, i] { report(i); });
    }

    void grant(std::size_t from, const ReportRelay::Wish& wish) {
        Node& node = nodes_[index(wish.to)];
        node.relay.on_wish(peer(from), wish.route, wish.authors);
        if (wish.route != ReportRoute::want) return;
        for (const PeerId& author : wish.authors)
            if (node.newest.contains(author))
                send(index(wish.to), from, author, node.newest[author]);
    }

    Rng rng_;
    sim::EventHeap heap_;
    std::uint64_t copies_ = 0;
    std::uint64_t news_ = 0;
    std::vector<Node> nodes_;
    std::set<std::pair<std::size_t, std::size_t>> links_;
    std::map<std::pair<std::size_t, std::size_t>, TimePoint> links_free_;
    std::set<std::size_t> dead_;
};

class EveryMesh : public testing::TestWithParam<std::uint64_t> {};

TEST_P(EveryMesh, HearsAllReportsInAThirdMoreCopiesThanNewsAtMost) {
    RelayWorld world(GetParam(), 36, 8);
    world.run_for(5 * period);
    (void)world.take_counts();
    world.run_for(60 * period);
    EXPECT_LE(world.reports_behind(), 1U);
    const auto [copies, news] = world.take_counts();
    EXPECT_GE(news, 59U * 36 * 35);
    EXPECT_LE(static_cast<double>(copies), 1.35 * static_cast<double>(news));
}

TEST_P(EveryMesh, HearsAllReportsAgainSoonAfterATenthOfItDied) {
    RelayWorld world(GetParam(), 36, 8);
    world.run_for(20 * period);
    for (std::size_t node = 3; node < 36; node += 10)
        world.kill(node);
    world.run_for(6 * period);
    EXPECT_LE(world.reports_behind(), 1U);
}

TEST_P(EveryMesh, HearsAllReportsWhileLinksComeAndGo) {
    RelayWorld world(GetParam(), 30, 6);
    Rng rng(GetParam());
    for (int i = 0; i < 60; ++i) {
        // The ring stays: one component whatever the others do.
        const std::size_t a = rng.below(30);
        const std::size_t b = (a + 2 + rng.below(26)) % 30;
        world.unlink(a, b);
        world.run_for(period / 2);
        world.link(a, b);
        world.run_for(period / 2);
    }
    world.run_for(5 * period);
    EXPECT_LE(world.reports_behind(), 2U);
}

TEST_P(EveryMesh, HearsAllReportsWhereNoTwoWaysLead) {
    RelayWorld world(GetParam(), 20, 2);
    world.run_for(5 * period);
    world.unlink(0, 19);
    world.run_for(20 * period);
    EXPECT_LE(world.reports_behind(), 2U);
}

TEST_P(EveryMesh, HearsOfAllInABudgetOfBytesOnceTheirTrainingIsOldEnough) {
    RelayWorld world(GetParam(), 72, 8);
    world.tells_age = true;
    world.run_for(64 * period);
    (void)world.take_counts();
    world.run_for(32 * period);
    // 72 authors at 512 B in 4 KiB/s: each 9 s, and so every eighth report.
    EXPECT_LE(world.reports_behind(), 9U);
    const auto [copies, news] = world.take_counts();
    const double copies_a_node_second = static_cast<double>(copies) / 72 / 32;
    EXPECT_LE(copies_a_node_second, 72.0 / 8 * 1.35 + 8);
    EXPECT_GE(news, 72U * 71 * 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EveryMesh, testing::Range<std::uint64_t>(1, 5));

TEST(ReportRelay, PassesOnToAllButItsSenderAndItsAuthor) {
    ReportRelay relay(period, Rng(1));
    for (std::uint8_t each = 1; each <= 5; ++each)
        relay.on_linked(peer(each));
    const auto targets = relay.on_report(TimePoint{}, peer(2), peer(4), JobReport{}, true).to;
    EXPECT_EQ((std::vector<PeerId>{peer(1), peer(3), peer(5)}), targets);
    EXPECT_TRUE(relay.on_report(TimePoint{}, peer(3), peer(4), JobReport{}, false).to.empty());
}

TEST(ReportRelay, NeverRefusesTheLinkToTheAuthorItself) {
    ReportRelay relay(period, Rng(1));
    relay.on_linked(peer(1));
    relay.on_linked(peer(2));
    (void)relay.on_report(TimePoint{}, peer(2), peer(1), JobReport{}, true);
    (void)relay.on_report(TimePoint{}, peer(1), peer(1), JobReport{}, false);
    const auto wishes = relay.take_wishes(TimePoint{});
    ASSERT_EQ(1U, wishes.size());
    EXPECT_EQ(peer(2), wishes[0].to);
    EXPECT_EQ(ReportRoute::refuse, wishes[0].route);
}

TEST(ReportRelay, PassesOnAChangeOfStateWhateverTheBlock) {
    ReportRelay relay(period, Rng(1));
    relay.on_linked(peer(1));
    relay.on_linked(peer(2));
    for (std::uint32_t i = 0; i < 200; ++i) {  // a mesh in which not every report is passed on
        PeerId author = peer(9);
        author.bytes[1] = static_cast<std::uint8_t>(i);
        (void)relay.on_report(TimePoint{}, peer(1), author, JobReport{}, true);
    }
    JobReport report;
    report.training_time = seconds{1000};
    int passed = 0;
    Duration spacing{};
    for (report.sequence = 1; report.sequence <= 160; ++report.sequence) {
        const auto passing = relay.on_report(TimePoint{}, peer(1), peer(9), report, true);
        passed += passing.to.empty() ? 0 : 1;
        spacing = passing.spacing;
    }
    EXPECT_LE(passed, 11);
    EXPECT_GE(passed, 10);
    EXPECT_EQ(16 * period, spacing);
    report.state = JobState::done;
    EXPECT_FALSE(relay.on_report(TimePoint{}, peer(1), peer(9), report, true).to.empty());
}

TEST(ReportRelay, OffersANewAuthorWhereReportsWereRefused) {
    ReportRelay relay(period, Rng(1));
    for (std::uint8_t each = 1; each <= 3; ++each)
        relay.on_linked(peer(each));
    relay.on_wish(peer(2), ReportRoute::refuse, {peer(8)});
    const auto passing = relay.on_report(TimePoint{}, peer(1), peer(9), JobReport{}, true);
    EXPECT_EQ(std::vector<PeerId>{peer(3)}, passing.to);
    const auto wishes = relay.take_wishes(TimePoint{});
    ASSERT_EQ(1U, wishes.size());
    EXPECT_EQ(peer(2), wishes[0].to);
    EXPECT_EQ(ReportRoute::have, wishes[0].route);
    EXPECT_EQ(std::vector<PeerId>{peer(9)}, wishes[0].authors);
}

TEST(ReportRelay, AsksOneAfterTheOtherOfThoseThatOfferAnUnknownAuthor) {
    ReportRelay relay(period, Rng(1));
    relay.on_linked(peer(1));
    relay.on_linked(peer(2));
    relay.on_wish(peer(1), ReportRoute::have, {peer(9)});
    relay.on_wish(peer(2), ReportRoute::have, {peer(9)});
    std::set<PeerId> asked;
    for (int turn = 0; turn < 2; ++turn) {
        const auto wishes = relay.take_wishes(TimePoint{});
        ASSERT_EQ(1U, wishes.size());
        EXPECT_EQ(ReportRoute::want, wishes[0].route);
        asked.insert(wishes[0].to);
    }
    EXPECT_EQ(2U, asked.size());
    EXPECT_TRUE(relay.take_wishes(TimePoint{}).empty());
}

TEST(ReportRelay, RefusesNobodyWhileItLooksForAnAuthor) {
    ReportRelay relay(period, Rng(1));
    relay.on_linked(peer(1));
    relay.on_linked(peer(2));
    (void)relay.on_report(TimePoint{}, peer(1), peer(9), JobReport{}, true);
    (void)relay.on_report(TimePoint{}, peer(2), peer(9), JobReport{}, false);
    relay.on_unlinked(peer(1));
    (void)relay.take_wishes(TimePoint{} + period);
    (void)relay.on_report(
        TimePoint{} + period, peer(2), peer(9), JobReport{}, false);  // it has no more yet
    EXPECT_TRUE(relay.take_wishes(TimePoint{} + 2 * period).empty());
}

TEST(ReportRelay, AsksForASilentAuthorOnceAndInMessagesThatFit) {
    ReportRelay relay(period, Rng(1));
    relay.on_linked(peer(1));
    std::set<PeerId> authors;
    for (std::uint32_t i = 0; i < limits::wish_authors_max + 10; ++i) {
        PeerId author = peer(9);
        author.bytes[1] = static_cast<std::uint8_t>(i);
        author.bytes[2] = static_cast<std::uint8_t>(i >> 8U);
        authors.insert(author);
        (void)relay.on_report(TimePoint{}, peer(1), author, JobReport{}, true);
    }
    EXPECT_TRUE(relay.take_wishes(TimePoint{} + 3 * period).empty());
    std::set<PeerId> asked;
    for (const auto& wish : relay.take_wishes(TimePoint{} + 4 * period)) {
        EXPECT_EQ(ReportRoute::want, wish.route);
        EXPECT_LE(wish.authors.size(), limits::wish_authors_max);
        asked.insert(wish.authors.begin(), wish.authors.end());
    }
    EXPECT_EQ(authors, asked);
    EXPECT_TRUE(relay.take_wishes(TimePoint{} + 8 * period).empty());
}

}  // namespace
}  // namespace p2p::test
