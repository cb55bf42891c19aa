#pragma once

// The text of an axis' value, read and written: "groups(4)", "every(16)", "nesterov(0.7,0.9)".
//
// Whether values go together is recipe's business; what they do is that of the schedule, the
// controller and core/train.

#include <string>
#include <string_view>
#include <vector>

#include "core/mixing/recipe.hpp"

namespace p2p::core {

/// Sets one axis. `round_steps` is the H of every() without a number. Errors: invalid, with the
/// values that the axis has, or the axes that there are.
Status set_axis(
    Recipe& recipe, const std::string& axis, const std::string& value, std::uint32_t round_steps);

/// "partners", "when", ...: all that set_axis takes.
[[nodiscard]] const std::vector<std::string>& axis_names();

/// Whether the values of all axes go together. Errors: invalid, with the reason.
Status check_combination(const Recipe& recipe);

}  // namespace p2p::core
