#pragma once

// The learning rate as a function of the mesh's progress, so that late joiners agree with it.
// Pure functions of the mesh's progress; who asks and when is the trainer's business.

#include <cstddef>

#include "core/base/learning.hpp"

namespace p2p::core {

/// The rate at `progress_ratio` of the job's work (cut to [0, 1]).
///
/// Rises in a straight line from 0 to the peak, base_lr * scale, over the first `warmup` of the
/// work; then stays (`constant`) or falls along half a cosine to final_lr (`cosine`; Loshchilov
/// and Hutter 2017, arXiv:1608.03983). final_lr is not scaled.
/// @pre 0 <= warmup <= 1
[[nodiscard]] double learning_rate(const ScheduleSpec& spec, double progress_ratio, double scale);

/// How much larger a rate `members` nodes allow: the mean of n replicas moves by the mean of n
/// gradients, as a batch n times as large would (MIXING: schedule.scale).
///
/// `none` 1; `sqrt` the square root, at most 4; `linear` the number itself, which only recipes
/// that average exactly at each step can stand. Never below 1.
[[nodiscard]] double schedule_scale(ScheduleScale scale, std::size_t members);

}  // namespace p2p::core
