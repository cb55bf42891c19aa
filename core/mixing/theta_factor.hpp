#pragma once

// How much further apart than in the last swap two ends may be before modulo fails, on each link.
//
// Twice to begin with. Where that was exceeded (SwapReason::theta), and both ends hear of it, it
// doubles up to 16; after each 8 swaps that went well it falls by a quarter, down to twice again.
// It travels with each encoding, so a swap between two factors is decoded; but it teaches little
// (core/codec/theta), so both ends then go on with the larger one, and count anew.

#include <algorithm>
#include <cstdint>

namespace p2p::core {

class ThetaFactor {
  public:
    /// In [2, 16].
    [[nodiscard]] float factor() const { return factor_; }

    void on_exceeded() {
        factor_ = std::min(factor_max, 2 * factor_);
        good_ = 0;
    }

    /// `peer_factor` is 0 where the swap was a keyframe.
    void on_applied(float peer_factor) {
        if (peer_factor != 0 && peer_factor != factor_) {
            factor_ = std::clamp(std::max(factor_, peer_factor), factor_min, factor_max);
            good_ = 0;
            return;
        }
        if (++good_ < good_before_fall) return;
        good_ = 0;
        factor_ = std::max(factor_min, 0.75F * factor_);
    }

  private:
    static constexpr float factor_min = 2;
    static constexpr float factor_max = 16;
    static constexpr std::uint32_t good_before_fall = 8;

    float factor_ = factor_min;
    std::uint32_t good_ = 0;
};

}  // namespace p2p::core
