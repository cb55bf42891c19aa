#pragma once

// The name of a JSON value, for headers, since the whole of nlohmann/json costs a second a file.
// Reading and writing values is left to proto/json.

#include <nlohmann/json_fwd.hpp>

namespace p2p::proto {

/// Keys stay in the order in which they were put in: the schema's name first.
using Json = nlohmann::ordered_json;

}  // namespace p2p::proto
