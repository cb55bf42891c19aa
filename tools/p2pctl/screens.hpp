#pragma once

// The screens that are more than a table: status, health, id, job show.
//
// Each turns one document into lines. An unknown value leaves its part of the line out.

#include <string>

#include "tools/p2pctl/document.hpp"

namespace p2p::tools {

[[nodiscard]] std::string status_screen(const Json& document, bool is_wide, bool has_color);
[[nodiscard]] std::string health_screen(const Json& document, bool is_wide, bool has_color);
[[nodiscard]] std::string id_screen(const Json& document, bool is_wide, bool has_color);
[[nodiscard]] std::string job_screen(const Json& document, bool is_wide, bool has_color);

}  // namespace p2p::tools
