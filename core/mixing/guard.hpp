#pragma once

// Whether the two values of a swap may be mixed: both finite, and of comparable size.
//
// The verdict is a symmetric function of both values, so that both ends reach the same one; where
// they would not, neither applies (core/mixing/swap).

#include "core/mixing/messages.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

struct GuardSpec {
    bool finite = true;
    double norm_ratio = 10;  ///< 0: not looked at

    bool operator==(const GuardSpec&) const = default;
};

/// `none` where the values may be mixed.
[[nodiscard]] SwapReason judge(const GuardSpec& guard, const Decoded& values);

}  // namespace p2p::core
