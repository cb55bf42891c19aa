#pragma once

// gamma: how far one swap of a lossy codec moves, learnt on each link.
//
// It starts at the share of the energy that the coding keeps (Koloskova et al. 2019, CHOCO, theorem
// 2 bounds it by that) and returns to it slowly; a distance that more than doubles from one swap to
// the next halves it, since then the coding's noise is being fed back.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/codec_id.hpp"

namespace p2p::core {

/// The most that gamma may be under `codec` where the swap is no keyframe: 4^b / 128 under
/// modulo(b) of 1 or 2 bits.
///
/// What a rounded difference d moves has the mean of d and, where d is below the step, the square
/// |d| * step: a swap brings two replicas nearer only while weight * gamma < |d| / step, and throws
/// single values apart by 2 * weight * gamma * step. theta keeps the mean |d| near theta / 12 at
/// 1 bit, which is step / 27, and theta / 8 above: step / 6 at 2 bits, near the step and more at 4
/// and 8. (Moniqua's slack
/// matrix does the same: Lu and De Sa 2020, theorem 3.)
[[nodiscard]] constexpr float gamma_max(CodecId codec) {
    switch (modulo_bits(codec)) {
        case 1: return 1.0F / 32;
        case 2: return 1.0F / 8;
        default: return 1;
    }
}

class StepSize {
  public:
    /// In [1/32, 1].
    [[nodiscard]] float gamma() const { return static_cast<float>(gamma_); }

    /// After encoding: the share of energy that the coding kept.
    void on_kept(double kept_ratio) {
        const double kept = std::clamp(kept_ratio, gamma_min, 1.0);
        ceiling_ = has_kept_ ? ceiling_ + 0.25 * (kept - ceiling_) : kept;
        has_kept_ = true;
        gamma_ = std::min(gamma_, ceiling_);
    }

    /// After a swap was measured.
    void on_distance(double distance) {
        const bool is_growing = distance_ && *distance_ > 0 && distance > 2 * *distance_;
        gamma_ = is_growing && ceiling_ < 0.9 ? gamma_ / 2 : gamma_ * 1.1;
        gamma_ = std::clamp(gamma_, gamma_min, ceiling_);
        distance_ = distance;
    }

  private:
    static constexpr double gamma_min = 1.0 / 32;

    double gamma_ = 1;
    double ceiling_ = 1;
    bool has_kept_ = false;
    std::optional<double> distance_;
};

}  // namespace p2p::core
