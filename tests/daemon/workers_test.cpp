#include "daemon/workers.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

TEST(Workers, StoppingRunsAllThatWasSubmitted) {
    std::atomic<int> done = 0;
    Workers workers(2);
    for (int i = 0; i < 1000; ++i)
        workers.submit([&done] { ++done; });
    workers.stop();
    EXPECT_EQ(1000, done);
}

TEST(Workers, StoppingRunsWhatTasksSubmit) {
    std::atomic<int> done = 0;
    Workers workers(2);
    workers.submit([&] { workers.submit([&] { workers.submit([&] { ++done; }); }); });
    workers.stop();
    EXPECT_EQ(1, done);
}

TEST(Workers, OneThreadKeepsTheOrder) {
    std::vector<int> order;
    Workers workers(1);
    for (int i = 0; i < 100; ++i)
        workers.submit([&order, i] { order.push_back(i); });
    workers.stop();
    ASSERT_EQ(100U, order.size());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Workers, WhatComesAfterTheEndIsDropped) {
    std::atomic<int> done = 0;
    Workers workers(1);
    workers.stop();
    workers.submit([&done] { ++done; });
    workers.stop();
    EXPECT_EQ(0, done);
}

}  // namespace
}  // namespace p2p::daemon
