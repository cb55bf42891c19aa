#pragma once

// How long a round waits for those who do not answer: by how long rounds have taken lately.
//
// The median plus eight times the median absolute deviation of the last rounds' times, at least
// four times the median: a straggler that was always slow is waited for, one that has stopped is
// left behind. Until eight rounds have ended, and never beyond, the job's own deadline holds.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/ring.hpp"
#include "core/base/time.hpp"

namespace p2p::core {

class RoundDeadline {
  public:
    explicit RoundDeadline(Duration most)
        : most_(most) {}

    void add(Duration took) { taken_.push(took); }

    [[nodiscard]] Duration get() const {
        if (taken_.size() < rounds_min) return most_;
        std::vector<Duration> times(taken_.begin(), taken_.end());
        const Duration median = median_of(times);
        for (Duration& time : times)
            time = time > median ? time - median : median - time;
        const Duration spread = median_of(times);
        return std::min(most_, std::max({median + 8 * spread, 4 * median, least}));
    }

  private:
    static constexpr std::size_t rounds_min = 8;
    static constexpr Duration least = std::chrono::milliseconds{200};

    static Duration median_of(std::vector<Duration>& times) {
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        return *middle;
    }

    Duration most_;
    Ring<Duration> taken_{32};
};

}  // namespace p2p::core
