#pragma once

// Several runs at the same time, each in a process of its own: a run has no threads.
//
// Outcomes come back over pipes and are the same whatever `jobs` is.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tools/sim/run.hpp"

namespace p2p::sim {

struct RunReport {
    const RunRequest* request = nullptr;
    std::optional<Outcome> outcome;
    std::size_t done = 0;  ///< runs that have ended, this one included
};

/// Outcomes in the order of the requests. Errors: that of the first run which could not be made,
/// or a process that died.
[[nodiscard]] core::Result<std::vector<Outcome>> run_each(
    const std::vector<RunRequest>& requests,
    std::size_t jobs,
    const std::function<void(const RunReport&)>& on_report);

}  // namespace p2p::sim
