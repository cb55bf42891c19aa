#pragma once

// How much of the time a trainer may use, and how much of that it did.
//
// A step may take a third of a millisecond, so the governor adds up what the steps took and rests
// in slices that a sleep can hit. Oversleeping is caught up with; time that the trainer stood at a
// limit is not. Arithmetic only: the trainer owns the clock and the sleeping.

#include <algorithm>
#include <chrono>
#include <optional>

namespace p2p::daemon {

using SteadyTime = std::chrono::steady_clock::time_point;
using SteadySpan = std::chrono::steady_clock::duration;

class Duty {
  public:
    /// @pre 0 < share <= 1
    explicit Duty(double share)
        : share_(share) {}

    /// A step ran from `begin` to `end`.
    void on_step(SteadyTime begin, SteadyTime end) {
        if (!first_) first_ = last_ = begin;
        advance(end);
        balance_ -= seconds(end - begin);
        busy_ += seconds(end - begin);
    }

    /// The trainer stood still until `end` because it may not step; nothing is owed for it.
    void on_held(SteadyTime end) { last_ = std::max(last_, end); }

    /// How long to stand still before the next step; zero while it is not worth a sleep.
    [[nodiscard]] SteadySpan rest(SteadyTime now) {
        if (!first_) return SteadySpan::zero();
        advance(now);
        const double wanted = -balance_ / share_;
        if (wanted < rest_seconds_min) return SteadySpan::zero();
        return std::chrono::duration_cast<SteadySpan>(std::chrono::duration<double>(wanted));
    }

    /// Time in steps over the time allotted since the first step, limits included.
    [[nodiscard]] double utilization(SteadyTime now) const {
        if (!first_ || now <= *first_) return 0;
        return busy_ / (share_ * seconds(now - *first_));
    }

  private:
    static constexpr double rest_seconds_min = 0.002;
    static constexpr double credit_seconds_max = 0.1;

    static double seconds(SteadySpan span) { return std::chrono::duration<double>(span).count(); }

    void advance(SteadyTime now) {
        if (now <= last_) return;
        balance_ = std::min(balance_ + share_ * seconds(now - last_), credit_seconds_max);
        last_ = now;
    }

    double share_;
    double balance_ = 0;  ///< allotted less used, in seconds
    double busy_ = 0;
    std::optional<SteadyTime> first_;
    SteadyTime last_{};
};

}  // namespace p2p::daemon
