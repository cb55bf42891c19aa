#pragma once

// Runs one way of mixing on one stage and measures it: recipes through whole Nodes in a World,
// baselines (baseline.hpp) by what they would do and cost.
//
// A run is a function of its request. Reading stages and printing are left to others.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "core/data/dataset.hpp"
#include "tools/sim/outcome.hpp"
#include "tools/sim/stage.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {

struct RunRequest {
    Stage stage;
    std::string recipe;  ///< of core/mixing/recipe, or a baseline
    std::map<std::string, std::string> axes;
    std::string label;  ///< what tables call it; empty: the recipe's name
    std::uint64_t seed = 1;
    std::shared_ptr<const core::Dataset> data;
    double limit_seconds = 3600;  ///< virtual
    std::size_t looks = 40;       ///< points of the curve, about
    std::size_t links_a_node = 0;
    bool as_bytes = false;  ///< messages go as sealed bytes
};

/// Called at each look; may be empty.
using Progress = std::function<void(const CurvePoint& point, double progress_ratio)>;

/// Errors: a recipe or axis that does not exist or makes no sense, a job that fits not.
/// `on_point` is told digests as a recipe runs; baselines have none.
[[nodiscard]] core::Result<Outcome> run(
    const RunRequest& request, const Progress& progress, const OnDigest& on_point = {});

/// What run() knows by name.
[[nodiscard]] std::vector<std::string> runnable_recipes();

}  // namespace p2p::sim
