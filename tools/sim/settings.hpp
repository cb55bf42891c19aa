#pragma once

// What is set over a recipe's own row, or a baseline's: axis to value, as --set gives them. Which
// axes there are is core/mixing/axes' business, and baseline's.

#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace p2p::sim {

/// "lr" multiplies the job's learning rate.
using Settings = std::map<std::string, std::string>;

/// "axis=value" each; `invalid` says which one is not.
[[nodiscard]] core::Result<Settings> read_settings(const std::vector<std::string>& given);

/// What read_settings reads, joined by ':'.
[[nodiscard]] std::string settings_text(const Settings& settings);

/// `over` where both say something.
[[nodiscard]] Settings joined(Settings under, const Settings& over);

}  // namespace p2p::sim
