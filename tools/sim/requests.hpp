#pragma once

// What a command line asks to be run, as requests: the stage and the data are read, axes and names
// are taken apart. Running them is run.hpp's.

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "tools/sim/commands.hpp"
#include "tools/sim/run.hpp"

namespace p2p::sim {

/// Errors: a stage, a folder or an axis that cannot be read.
[[nodiscard]] core::Result<RunRequest> make_request(const Options& options);

/// The same with other machines. @pre nothing else hangs on the stage
void set_stage(RunRequest& request, Stage stage, const Options& options);

/// "ad-psgd:codec=delta(q8):when=every(16)": a recipe, and axes of its own over those of --set.
[[nodiscard]] core::Result<RunRequest> with_recipe(const RunRequest& base, const std::string& text);

/// Each recipe of --recipes, with each seed.
[[nodiscard]] core::Result<std::vector<RunRequest>> requests_of(
    const RunRequest& base, const Options& options);

/// The command that makes this run again.
[[nodiscard]] std::string replay_command(const RunRequest& request, const Options& options);

}  // namespace p2p::sim
