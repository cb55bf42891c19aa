#pragma once

// The name of a JSON value, for headers: cheap to include. Values are made through proto/json.hpp.

#include <nlohmann/json_fwd.hpp>

namespace p2p::proto {

/// Keys stay in the order in which they were put in: the schema's name first.
using Json = nlohmann::ordered_json;

}  // namespace p2p::proto
