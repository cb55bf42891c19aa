#pragma once

// "Did you mean": the known name that is closest to one that nobody knows.
//
// For configuration keys, job keys and commands alike. It only measures; the sentence belongs to
// the caller.

#include <optional>
#include <span>
#include <string_view>

namespace p2p::core {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (the optimal
/// string alignment distance: Damerau 1964, each place edited once).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name fewest edits away, the first of equals; nothing where all differ by more than a third
/// of the unknown one (at least 2), unless one ends in the same part ("train.momentum" is near
/// "optimizer.momentum"). The view is one of `known`.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view unknown, std::span<const std::string_view> known);

}  // namespace p2p::core
