#pragma once

// Which codec a link's next swap offers, where the controller chooses: the one that has brought the
// two ends together fastest.
//
// What a swap is worth is its weight, times the codec's step size, over the time that it took; all
// are measured, nothing is modelled. The codecs stand on a ladder from many bits to few,
// whose references are the same, so that a change costs no keyframe. One swap in sixteen tries the
// rung beside the best.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/codec_id.hpp"
#include "core/base/ewma.hpp"

namespace p2p::core {

class CodecChoice {
  public:
    static constexpr std::array<CodecId, 4> ladder{
        CodecId::delta_q8, CodecId::delta_q4, CodecId::delta_topk256, CodecId::delta_topk64};

    /// What to offer now.
    [[nodiscard]] CodecId offer() const { return ladder[is_trying_ ? trial_ : best_]; }

    [[nodiscard]] CodecId best() const { return ladder[best_]; }

    /// A swap was applied under `codec`; keyframes tell nothing and are left out by the caller.
    void on_swapped(CodecId codec, double weight, double seconds) {
        for (std::size_t i = 0; i < ladder.size(); ++i) {
            if (ladder[i] != codec) continue;
            rungs_[i].weight = mixed(rungs_[i].weight, weight);
            rungs_[i].seconds = mixed(rungs_[i].seconds, seconds);
        }
        ++swaps_;
        if (is_trying_ && ++tried_ >= swaps_a_trial) end_trial();
        if (!is_trying_ && swaps_ % swaps_between_trials == 0) begin_trial();
    }

  private:
    static constexpr std::uint64_t swaps_between_trials = 32;
    static constexpr std::uint64_t swaps_a_trial = 3;  // the first pays for what another left
    static constexpr double better_by = 1.15;

    struct Rung {
        std::optional<double> weight;
        std::optional<double> seconds;

        [[nodiscard]] double worth() const { return *weight / *seconds; }
    };

    static std::optional<double> mixed(std::optional<double> old, double value) {
        return old ? *old + 0.2 * (value - *old) : value;
    }

    void begin_trial() {
        is_trying_ = true;
        tried_ = 0;
        goes_down_ = !goes_down_;
        const bool can_go_down = best_ + 1 < ladder.size();
        trial_ = (goes_down_ && can_go_down) || best_ == 0 ? best_ + 1 : best_ - 1;
    }

    void end_trial() {
        is_trying_ = false;
        const bool is_known = rungs_[best_].seconds && rungs_[trial_].seconds;
        if (is_known && rungs_[trial_].worth() > better_by * rungs_[best_].worth()) best_ = trial_;
    }

    std::array<Rung, ladder.size()> rungs_{};
    std::size_t best_ = 1;
    std::size_t trial_ = 1;
    bool is_trying_ = false;
    bool goes_down_ = false;
    std::uint64_t tried_ = 0;
    std::uint64_t swaps_ = 0;
};

}  // namespace p2p::core
