#include "daemon/duty.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Steps of `step` for `span`; each rest takes `oversleep` longer than asked. The end.
SteadyTime train(
    Duty& duty, SteadyTime now, SteadySpan span, SteadySpan step, SteadySpan oversleep) {
    const SteadyTime end = now + span;
    while (now < end) {
        const auto rest = duty.rest(now);
        if (rest > SteadySpan::zero()) {
            now += rest + oversleep;
            continue;
        }
        duty.on_step(now, now + step);
        now += step;
    }
    return now;
}

TEST(Duty, AWholeShareNeverRests) {
    Duty duty(1.0);
    const SteadyTime end = train(duty, {}, seconds{1}, microseconds{300}, {});
    EXPECT_EQ(SteadySpan::zero(), duty.rest(end));
    EXPECT_NEAR(1.0, duty.utilization(end), 1e-9);
}

TEST(Duty, AShareIsUsedAndNotExceeded) {
    for (const double share : {0.1, 0.25, 0.5, 0.9}) {
        Duty duty(share);
        const SteadyTime end = train(duty, {}, seconds{10}, microseconds{300}, {});
        EXPECT_NEAR(1.0, duty.utilization(end), 0.01) << share;
    }
}

TEST(Duty, OversleepingIsCaughtUpWith) {
    Duty duty(0.5);
    const SteadyTime end = train(duty, {}, seconds{10}, microseconds{300}, milliseconds{5});
    EXPECT_NEAR(1.0, duty.utilization(end), 0.01);
}

TEST(Duty, RestsAreLongEnoughToBeSlept) {
    Duty duty(0.5);
    SteadyTime now{};
    for (int i = 0; i < 1000; ++i) {
        const auto rest = duty.rest(now);
        EXPECT_TRUE(rest == SteadySpan::zero() || rest >= milliseconds{2});
        now += rest;
        duty.on_step(now, now + microseconds{300});
        now += microseconds{300};
    }
}

TEST(Duty, ALongStepIsPaidForAfterwards) {
    Duty duty(0.25);
    duty.on_step(SteadyTime{}, SteadyTime{} + milliseconds{100});
    const auto rest = duty.rest(SteadyTime{} + milliseconds{100});
    EXPECT_NEAR(0.3, std::chrono::duration<double>(rest).count(), 0.001);
}

TEST(Duty, TimeAtALimitIsNotOwedButCountsAsAllotted) {
    Duty duty(0.5);
    SteadyTime now = train(duty, {}, seconds{2}, milliseconds{1}, {});
    now += seconds{2};
    duty.on_held(now);
    EXPECT_NEAR(0.5, duty.utilization(now), 0.02);
    const SteadyTime end = train(duty, now, seconds{1}, milliseconds{1}, {});
    EXPECT_NEAR(1.5 / 2.5, duty.utilization(end), 0.02);  // no burst to make up for the two seconds
}

TEST(Duty, NothingIsUsedBeforeTheFirstStep) {
    Duty duty(0.5);
    EXPECT_EQ(0.0, duty.utilization(SteadyTime{} + seconds{5}));
    EXPECT_EQ(SteadySpan::zero(), duty.rest(SteadyTime{} + seconds{5}));
}

}  // namespace
}  // namespace p2p::daemon
