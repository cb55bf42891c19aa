#pragma once

// Whether the two values of a swap may be mixed, and how far: finite, of comparable size, clipped.
//
// The verdict is a symmetric function of both values, so that both ends reach the same one; where
// they would not, neither applies (core/mixing/swap).

#include "core/mixing/guard_spec.hpp"
#include "core/mixing/messages.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

/// `none` where the values may be mixed.
[[nodiscard]] SwapReason judge(const GuardSpec& guard, const Decoded& values);

/// What is left of a swap's weight where the distance is beyond the guard's clip (He, Karimireddy,
/// Jaggi 2022, arXiv:2202.01545, self-centred clipping; here at both ends alike, so that the mean
/// stays). In (0, 1].
[[nodiscard]] float clip_factor(const GuardSpec& guard, double distance, double smaller_norm);

}  // namespace p2p::core
