#pragma once

// The one door to nlohmann/json: for the control API and the tensor socket, never between nodes.
//
// Headers that only name the type include proto/json_fwd.hpp. Whoever reads foreign JSON uses
// `parse_json` and `json_member`, which never throw; `operator[]` and `get` are for values that
// this program made itself.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/result.hpp"
#include "proto/json_fwd.hpp"

namespace p2p::proto {

/// How deep a foreign value may nest: copying and writing one recurses.
inline constexpr std::size_t json_depth_max = 32;

/// One value and nothing after it; `bytes_max` bounds the text.
[[nodiscard]] core::Result<Json> parse_json(std::string_view text, std::size_t bytes_max);

/// On one line, ASCII only where `is_ascii`; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(const Json& value, bool is_ascii = false);

/// Over several lines, indented by two.
[[nodiscard]] std::string json_pretty_text(const Json& value);

/// The value as a T (bool, std::string, double, or an integer type that holds it), else nothing.
template <typename T>
[[nodiscard]] std::optional<T> json_as(const Json& value) {
    if constexpr (std::is_same_v<T, bool>) {
        if (value.is_boolean()) return value.get<bool>();
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (value.is_string()) return value.get<std::string>();
    } else if constexpr (std::is_floating_point_v<T>) {
        if (value.is_number()) return value.get<T>();
    } else {
        static_assert(std::is_integral_v<T>);
        if (value.is_number_unsigned()) {
            const auto number = value.get<std::uint64_t>();
            if (std::in_range<T>(number)) return static_cast<T>(number);
        } else if (value.is_number_integer()) {
            const auto number = value.get<std::int64_t>();
            if (std::in_range<T>(number)) return static_cast<T>(number);
        }
    }
    return std::nullopt;
}

/// The member `name` of an object as a T; nothing where it is absent or of another kind.
template <typename T>
[[nodiscard]] std::optional<T> json_member(const Json& object, std::string_view name) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(name);
    return found == object.end() ? std::nullopt : json_as<T>(*found);
}

}  // namespace p2p::proto
