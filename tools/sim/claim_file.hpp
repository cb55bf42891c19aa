#pragma once

// Claims as TOML: reads the files of a folder and says what is wrong with one. Every key is told in
// tests/papers/README.md; what a claim is, claim.hpp says.

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "tools/sim/claim.hpp"

namespace p2p::sim {

/// The claim that `text`, the contents of `file`, makes. `invalid` names line, column and key.
[[nodiscard]] core::Result<Claim> parse_claim(const std::string& file, const std::string& text);

/// The claims `names` of `folder` (none: all), in the order of their names. `folder` may be empty:
/// the one that lies beside the sources. Errors: `not_found` says what there is; parse_claim's.
[[nodiscard]] core::Result<std::vector<Claim>> read_claims(
    const std::string& folder, const std::vector<std::string>& names);

}  // namespace p2p::sim
