#pragma once

// An average that forgets: exponentially weighted, by count or by time.
// It is told the time; who measures and how often is the caller's affair.

#include <cmath>

#include "core/base/time.hpp"

namespace p2p::core {

/// Each value weighs `share` of the average; the first one is the average.
class Ewma {
  public:
    explicit Ewma(double share)
        : share_(share) {}

    void add(double value) {
        average_ = has_value_ ? average_ + share_ * (value - average_) : value;
        has_value_ = true;
    }

    [[nodiscard]] bool has_value() const { return has_value_; }

    [[nodiscard]] double value_or(double otherwise) const {
        return has_value_ ? average_ : otherwise;
    }

  private:
    double share_;
    double average_ = 0;
    bool has_value_ = false;
};

/// A rate in units a second over about the last `half_life`.
class RateMeter {
  public:
    explicit RateMeter(Duration half_life)
        : half_life_(half_life) {}

    void add(TimePoint now, double amount) {
        decay(now);
        weight_ += amount;
    }

    [[nodiscard]] double per_second(TimePoint now) {
        decay(now);
        const double window = to_seconds(half_life_) / std::log(2.0);
        const double lived = started_ ? to_seconds(now - first_) : 0;
        const double effective = window * (1.0 - std::exp(-lived / window));
        return effective > 0 ? weight_ / effective : 0;
    }

  private:
    void decay(TimePoint now) {
        if (!started_) {
            first_ = now;
            last_ = now;
            started_ = true;
        }
        weight_ *= std::exp2(-to_seconds(now - last_) / to_seconds(half_life_));
        last_ = now;
    }

    Duration half_life_;
    double weight_ = 0;
    TimePoint first_{};
    TimePoint last_{};
    bool started_ = false;
};

}  // namespace p2p::core
