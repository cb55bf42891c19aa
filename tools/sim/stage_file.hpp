#pragma once

// A stage as TOML: reads stage files, says what is wrong with one, and knows where those lie that
// come with the program. What the values mean is stage.hpp's.

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "tools/sim/stage.hpp"

namespace p2p::sim {

/// `path` names a file, or is the name of a stage that comes with the program. Errors name line and
/// column, the key, and what would do.
[[nodiscard]] core::Result<Stage> read_stage(const std::string& path);

/// Names of the stages that come with the program, sorted.
[[nodiscard]] std::vector<std::string> stage_names();

}  // namespace p2p::sim
