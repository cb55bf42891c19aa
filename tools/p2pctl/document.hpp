#pragma once

// Reading p2pd's documents: a value by its path, as what it should be; nothing instead of a throw.
//
// Documents come from another program, maybe of another version: a key that is missing or of
// another kind reads as unknown.

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "proto/json_fwd.hpp"

namespace p2p::tools {

using proto::Json;

/// The value at "node.protocol.speaks"; null JSON where there is none.
[[nodiscard]] const Json& value_at(const Json& document, std::string_view path);

[[nodiscard]] std::optional<double> number_at(const Json& document, std::string_view path);

/// Empty where it is no text. As sent: not safe for a terminal.
[[nodiscard]] std::string text_at(const Json& document, std::string_view path);

[[nodiscard]] bool flag_at(const Json& document, std::string_view path);

/// The entries of an array; an empty one where it is none.
[[nodiscard]] const Json& list_at(const Json& document, std::string_view path);

/// A document of that schema. unsupported: p2pd speaks of something else, of another version.
[[nodiscard]] core::Result<Json> read_document(std::string_view text, std::string_view schema);

}  // namespace p2p::tools
