#pragma once

// A stage made of what a live mesh says of itself: p2pctl's documents in, a stage file out.
//
// Steps and round trips are taken from the documents; rates of links are in none of them. Whatever
// is not measured takes a default and is said so beside it. What the keys mean is stage_file's.

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/job/spec.hpp"

namespace p2p::sim {

struct MeshDocument {
    std::string name;  ///< of the file: for errors
    std::string
        text;  ///< p2pd.peers/1 (peer list), p2pd.job/1 (job show) or p2pd.status/1 (status)
};

/// The text of a stage file, with the job at `job_file`. Round trips are known from each node whose
/// peer list is given: more lists, more pairs of sites.
///
/// `malformed` for what is no JSON, `unsupported` for another document, `not_found` where none of
/// them names a node.
[[nodiscard]] core::Result<std::string> stage_from_mesh(
    const std::vector<MeshDocument>& documents,
    const std::string& job_file,
    const core::JobSpec& spec);

}  // namespace p2p::sim
