#pragma once

// Curves of outcomes as JSON lines, one a look at the mesh: what tools/sim/plot.py draws.
// What a point holds is outcome.hpp's.

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "tools/sim/outcome.hpp"

namespace p2p::sim {

/// "p2psim.curve/1", a line a point; each line says of which recipe, stage and seed it is.
[[nodiscard]] std::string curve_lines(const Outcome& outcome);

/// `unwritable` where the file cannot be made, or not all of it.
[[nodiscard]] core::Status write_curves(
    const std::string& path, const std::vector<Outcome>& outcomes);

}  // namespace p2p::sim
