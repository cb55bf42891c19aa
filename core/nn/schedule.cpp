#include "core/nn/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

constexpr double sqrt_scale_max = 4;

}  // namespace

double learning_rate(const ScheduleSpec& spec, double progress_ratio, double scale) {
    P2P_CHECK(spec.warmup >= 0 && spec.warmup < 1);
    const double progress = std::clamp(progress_ratio, 0.0, 1.0);
    const double peak = spec.base_lr * scale;

    if (progress < spec.warmup) return peak * progress / spec.warmup;
    if (spec.kind == ScheduleKind::constant) return peak;
    const double done = (progress - spec.warmup) / (1 - spec.warmup);
    return spec.final_lr + (peak - spec.final_lr) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

double schedule_scale(ScheduleScale scale, std::size_t members) {
    const auto count = static_cast<double>(std::max<std::size_t>(members, 1));
    switch (scale) {
        case ScheduleScale::none: return 1;
        case ScheduleScale::sqrt: return std::min(std::sqrt(count), sqrt_scale_max);
        case ScheduleScale::linear: return count;
    }
    return 1;
}

}  // namespace p2p::core
