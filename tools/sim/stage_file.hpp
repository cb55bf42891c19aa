#pragma once

// A stage as TOML: reads stage files, says what is wrong with one, and knows where those lie that
// come with the program. What the values mean is stage.hpp's.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "tools/sim/stage.hpp"

namespace p2p::sim {

inline constexpr std::size_t stage_bytes_max = core::mib;

/// `path` names a file, or is the name of a stage that comes with the program (the job lies beside
/// it), or drawn-N (drawn.hpp). Errors name line and column, the key, and what would do.
[[nodiscard]] core::Result<StageText> read_stage_text(const std::string& path);

/// The stage that the texts describe, with `nodes` machines (0: as many as it says).
[[nodiscard]] core::Result<Stage> parse_stage(const StageText& text, std::size_t nodes = 0);

/// Both.
[[nodiscard]] core::Result<Stage> read_stage(const std::string& path, std::size_t nodes = 0);

/// Names of the stages that come with the program, sorted.
[[nodiscard]] std::vector<std::string> stage_names();

}  // namespace p2p::sim
