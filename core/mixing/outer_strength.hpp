#pragma once

// How much of an outer step is taken: all of it, unless replicas part.
//
// Outer momentum carries on what swaps have moved a replica, too, so it amplifies the mixing; where
// swaps are slow, or were missed, that feeds back and replicas swing ever further apart. A distance
// of more than twice what it has been lately forgets the momentum and halves what is taken; it
// comes back by a tenth a step. At nothing there is no outer step and mixing is stable by its
// budget (weights.hpp).

#include <algorithm>
#include <optional>

namespace p2p::core {

class OuterStrength {
  public:
    /// In [0, 1].
    [[nodiscard]] double get() const { return strength_ < strength_min ? 0 : strength_; }

    /// Before an outer step, with the consensus distance now; true where momentum is to be
    /// forgotten.
    [[nodiscard]] bool is_tripped_by(double distance) {
        const bool is_parting = usual_ && distance > 2 * *usual_ && distance > 0;
        if (!usual_) {
            if (distance > 0) usual_ = distance;
            return false;
        }
        *usual_ += (is_parting ? 0.25 : 0.1) * (distance - *usual_);
        strength_ = is_parting ? strength_ / 2 : std::min(1.0, std::max(strength_, 0.02) * 1.1);
        return is_parting;
    }

  private:
    static constexpr double strength_min = 0.02;

    double strength_ = 1;
    std::optional<double> usual_;
};

}  // namespace p2p::core
