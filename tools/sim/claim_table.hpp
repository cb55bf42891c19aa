#pragma once

// Verdicts as people and programs read them: a table with a row a claim, and JSON. What a figure
// means is claim_measure's and claim_run's.

#include <string>
#include <vector>

#include "proto/json_fwd.hpp"
#include "tools/sim/claim_run.hpp"

namespace p2p::sim {

/// One row each, then what there is to say of single ones: notes, trouble, what was not expected.
///
/// VALUE is the recipe's against the baseline's, less is better, with its 95 % interval and the
/// bound; HOLDS is yes, no, `no measure` where the control passes too, or trouble; SEC is processor
/// time.
[[nodiscard]] std::string claims_table(const std::vector<Verdict>& verdicts);

/// "p2psim.claims/1"
[[nodiscard]] proto::Json claims_json(const std::vector<Verdict>& verdicts);

}  // namespace p2p::sim
