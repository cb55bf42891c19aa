// Wires of the simulator: what a transfer takes, alone, together, behind others, under loss.

#include "tools/sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tools/sim/toy_stage.hpp"

namespace p2p::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Wires {
    explicit Wires(Stage given = toy_stage())
        : stage(std::move(given)),
          network(heap, stage, {0, 0, 1, 1}, core::Rng(1)) {}

    /// Sends so many pieces and gives the second at which the last is there.
    double seconds_to_send(std::size_t from, std::size_t to, int pieces, double bytes) {
        double last = 0;
        for (int i = 0; i < pieces; ++i)
            network.send_bulk(
                from, to, bytes, [] {}, [&] { last = time(); });
        run();
        return last;
    }

    void run() {
        while (heap.run_next(core::TimePoint::max())) {
        }
    }

    [[nodiscard]] double time() const { return core::to_seconds(heap.now.time_since_epoch()); }

    Stage stage;
    EventHeap heap;
    Network network;
};

TEST(EventHeap, DoesThingsOfOneInstantInTheOrderOfTheirScheduling) {
    EventHeap heap;
    std::string order;
    heap.after(milliseconds{2}, [&] { order += "c"; });
    heap.after(milliseconds{1}, [&] {
        order += "a";
        heap.after({}, [&] { order += "b"; });
    });
    while (heap.run_next(core::TimePoint{milliseconds{1}})) {
    }
    EXPECT_EQ("ab", order);
    EXPECT_EQ(1U, heap.waiting());
}

TEST(Wires, TakeBytesOverTheSlowestPipePlusTheDelay) {
    EXPECT_NEAR(1.0 + 0.020, Wires().seconds_to_send(0, 2, 20, 62'500), 0.002);
    EXPECT_NEAR(0.01 + 0.0005, Wires().seconds_to_send(0, 1, 20, 62'500), 0.001);
}

TEST(Wires, ShareAnUplinkEvenlyBetweenSessions) {
    Wires wires;
    double first = 0;
    double second = 0;
    for (int i = 0; i < 20; ++i) {
        wires.network.send_bulk(
            0, 2, 62'500, [] {}, [&] { first = wires.time(); });
        wires.network.send_bulk(
            1, 3, 62'500, [] {}, [&] { second = wires.time(); });
    }
    wires.run();
    EXPECT_NEAR(2.0, first, 0.1);
    EXPECT_NEAR(2.0, second, 0.1);
}

TEST(Wires, LetWordsPassBehindAtMostAQueueOfBulk) {
    Wires wires;
    for (int i = 0; i < 100; ++i)
        wires.network.send_bulk(
            0, 2, 62'500, [] {}, [] {});
    double heard = 0;
    wires.network.send_word(1, 3, 100, [&] { heard = wires.time(); });
    wires.run();
    EXPECT_LT(heard, 0.020 + 3 * 0.050 + 0.01);
    EXPECT_GT(heard, 0.020);
}

TEST(Wires, KeepTheOrderOfWordsUnderJitterAndLoss) {
    Stage stage = toy_stage();
    for (Between& wire : stage.wires) {
        wire.jitter = milliseconds{30};
        wire.loss_ratio = 0.2;
    }
    Wires wires(stage);
    std::vector<int> order;
    for (int i = 0; i < 100; ++i)
        wires.network.send_word(0, 2, 100, [&, i] { order.push_back(i); });
    wires.run();
    ASSERT_EQ(100U, order.size());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Wires, CarryNoMoreUnderLossThanTcpWould) {
    Stage stage = toy_stage();
    for (Between& wire : stage.wires)
        wire.loss_ratio = 0.01;
    const double rate = 1448 / 0.040 * std::sqrt(1.5 / 0.01);  // 443 kB/s
    EXPECT_NEAR(1.25e6 / rate, Wires(stage).seconds_to_send(0, 2, 20, 62'500), 0.1);
}

TEST(Wires, HoldWhatAClogStandsInTheWayOfAndNothingElse) {
    Wires wires;
    std::string arrived;
    wires.network.clog(/*site=*/0, Way::out);
    wires.network.send_word(0, 2, 100, [&] { arrived += "o"; });
    wires.network.send_word(2, 0, 100, [&] { arrived += "i"; });
    wires.network.send_word(0, 1, 100, [&] { arrived += "l"; });
    wires.network.send_bulk(
        2, 0, 100, [] {}, [&] { arrived += "b"; });
    wires.run();
    EXPECT_EQ("li", arrived);  // what acknowledges bulk is lost
    wires.network.unclog(0, Way::out);
    wires.run();
    std::sort(arrived.begin(), arrived.end());
    EXPECT_EQ("bilo", arrived);
}

TEST(Wires, ForgetWhatWaitsWhenASessionIsGone) {
    Wires wires;
    int arrived = 0;
    for (int i = 0; i < 10; ++i)
        wires.network.send_bulk(
            0, 2, 62'500, [] {}, [&] { ++arrived; });
    wires.network.drop_queue(0, 2);
    EXPECT_NEAR(0.05, wires.seconds_to_send(0, 2, 1, 62'500) - 0.02 - 0.1, 0.01);
    EXPECT_EQ(2, arrived);  // those that were in the pipes
}

}  // namespace
}  // namespace p2p::sim
