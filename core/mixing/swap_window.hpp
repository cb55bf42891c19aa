#pragma once

// How many swaps out of the site a node keeps open at once: as many as the wires take without
// queueing, as TCP Vegas does with packets (Brakmo, Peterson 1995).
//
// Where time goes by waiting for answers, several swaps at once cost nothing; where it goes by
// moving bytes, one after the other with a larger weight brings replicas together sooner. A swap's
// time is held against the least that its link has shown lately. Whom to swap with is mixer's.

#include <algorithm>
#include <cstddef>
#include <map>

#include "core/base/ewma.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

class SwapWindow {
  public:
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Swaps' times lately over the least of their links; 1 before any.
    [[nodiscard]] double stretch() const { return stretch_.value_or(1); }

    /// @pre seconds > 0
    void on_swapped(PeerId peer, double seconds) {
        const auto [known, is_new] = least_seconds_.emplace(peer, seconds);
        known->second = std::min(known->second * forget, seconds);
        stretch_.add(seconds / known->second);
        if (++swaps_ < std::max(swaps_min, size_)) return;
        swaps_ = 0;
        if (stretch() < stretch_low) ++size_;
        if (stretch() > stretch_high) size_ = std::max<std::size_t>(1, size_ * 3 / 4);
    }

    /// No more than there are links.
    void limit_to(std::size_t links) {
        size_ = std::clamp<std::size_t>(size_, 1, std::max<std::size_t>(links, 1));
    }

  private:
    static constexpr double forget =
        1.0005;  // a swap: a slower wire is taken for what it is at last
    static constexpr double stretch_low = 1.6;
    static constexpr double stretch_high = 2.4;
    static constexpr std::size_t swaps_min = 4;

    std::map<PeerId, double> least_seconds_;
    Ewma stretch_{0.15};
    std::size_t size_ = 2;
    std::size_t swaps_ = 0;
};

}  // namespace p2p::core
