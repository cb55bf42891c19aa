#include "core/mixing/guard.hpp"

#include <algorithm>
#include <cmath>

namespace p2p::core {

SwapReason judge(const GuardSpec& guard, const Decoded& values) {
    if (!values.well_formed) return SwapReason::malformed;
    if (!values.within_theta) return SwapReason::theta;
    if (!guard.finite && guard.norm_ratio == 0) return SwapReason::none;

    const bool finite = values.finite && std::isfinite(values.distance)
                        && std::isfinite(values.own_norm) && std::isfinite(values.remote_norm);
    if (!finite) return SwapReason::not_finite;
    if (guard.norm_ratio == 0) return SwapReason::none;

    const double smaller = std::min(values.own_norm, values.remote_norm);
    const double larger = std::max({values.own_norm, values.remote_norm, values.distance});
    return larger <= guard.norm_ratio * smaller || larger == 0 ? SwapReason::none
                                                               : SwapReason::norm;
}

float clip_factor(const GuardSpec& guard, double distance, double smaller_norm) {
    const double most = guard.clip_ratio * smaller_norm;
    if (guard.clip_ratio == 0 || distance <= most) return 1;
    return static_cast<float>(std::max(most / distance, 1e-6));
}

}  // namespace p2p::core
