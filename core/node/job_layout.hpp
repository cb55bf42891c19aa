#pragma once

// How a job's model is cut into shards, and which of them have a codec of their own: what the
// recipe says of layers, held against the tensors of the spec.

#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/job/spec.hpp"
#include "core/mixing/layout.hpp"
#include "core/mixing/recipe.hpp"

namespace p2p::core {

/// A shard holds tensors of one codec only. @pre the spec and the recipe are valid
[[nodiscard]] Layout layout_of(const JobSpec& spec, const Recipe& recipe);

/// By shard; nothing: the recipe's.
[[nodiscard]] std::vector<std::optional<CodecId>> shard_codecs(
    const Layout& layout, const Recipe& recipe);

/// `invalid` where a pattern fits none of the model's tensors.
[[nodiscard]] Status check_layers(const JobSpec& spec, const Recipe& recipe);

}  // namespace p2p::core
