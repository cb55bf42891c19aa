#pragma once

// What the field does without us, on the same stage: real training, and the time its rounds take.
//
// No Node takes part. `free` is one model that all machines' steps go to at once, at no cost: the
// most that any mixing can reach. `none` never mixes and averages at the end: what no measure may
// pass. `allreduce` averages gradients each step over a ring; `allreduce-site` averages inside
// sites first, sends fp16 across, and sizes batches by speed. `diloco` takes local steps for a
// while, then waits for the average of what they did and takes an outer Nesterov step (Douillard
// et al. 2023, arXiv:2311.08105, Algorithm 1).

#include <string>
#include <vector>

#include "tools/sim/run.hpp"

namespace p2p::sim {

[[nodiscard]] bool is_baseline(const std::string& name);
[[nodiscard]] std::vector<std::string> baseline_names();

/// Axes are numbers: "lr" (times the job's, of all), "round_seconds", "outer_lr", "outer_momentum",
/// "wire_bits" (of diloco). @pre is_baseline(request.recipe)
[[nodiscard]] core::Result<Outcome> run_baseline(
    const RunRequest& request, const Progress& progress);

}  // namespace p2p::sim
