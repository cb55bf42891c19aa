#pragma once

// The layout of a job's flat parameter vector, whoever trains it: the model's own for native jobs,
// the client's for external ones.

#include <vector>

#include "core/base/learning.hpp"
#include "core/base/tensor.hpp"

namespace p2p::daemon {

/// @pre the spec has been validated
[[nodiscard]] std::vector<core::TensorInfo> replica_layout(const core::ModelSpec& model);

}  // namespace p2p::daemon
