#pragma once

// The one door to toml++: text in, a tree of plain values out, each with its place in the text.
//
// Only toml.cpp sees the vendor. What a key means, and which keys there are, belongs to the key
// tables of who asks (proto/spec_keys, daemon/options); dates and times have no place in either and
// are refused here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"

namespace p2p::proto {

/// Where something stands in the text; both count from 1.
struct TomlPlace {
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    bool operator==(const TomlPlace&) const = default;

    /// "line 3, column 7".
    [[nodiscard]] std::string text() const;
};

struct TomlValue;
struct TomlEntry;

using TomlArray = std::vector<TomlValue>;

struct TomlTable {
    std::vector<TomlEntry> entries;  ///< sorted by name; names are unique
    TomlPlace place;

    /// Null where no entry has that name; lives as long as the table.
    [[nodiscard]] const TomlValue* find(std::string_view name) const;
};

struct TomlValue {
    std::variant<bool, std::int64_t, double, std::string, TomlArray, TomlTable> value;
    TomlPlace place;

    /// Null where the value is of another kind.
    template <typename T>
    [[nodiscard]] const T* get() const {
        return std::get_if<T>(&value);
    }

    /// A copy; nothing where the value is of another kind.
    template <typename T>
    [[nodiscard]] std::optional<T> as() const {
        if (!std::holds_alternative<T>(value)) return std::nullopt;
        return std::get<T>(value);
    }

    /// "a string", "a whole number"...: for the sentence that says what was found.
    [[nodiscard]] std::string_view kind() const;
};

struct TomlEntry {
    std::string name;
    TomlPlace place;  ///< of the name, not of its value
    TomlValue value;
};

/// A value and its whole name, section first ("train.epochs").
struct TomlLeaf {
    std::string name;
    TomlPlace place;         ///< of the name
    const TomlValue* value;  ///< lives in the table
};

/// The tree; errors name line and column and say what toml++ said. `bytes_max` bounds the text.
[[nodiscard]] core::Result<TomlTable> parse_toml(std::string_view text, std::size_t bytes_max);

/// Every value below `table` that is no table with entries of its own, sorted by name. An empty
/// table counts as a value, so that a misspelt empty section is not overlooked.
[[nodiscard]] std::vector<TomlLeaf> toml_leaves(const TomlTable& table);

/// `text` in quotes, escaped as a basic string of TOML.
[[nodiscard]] std::string toml_quoted(std::string_view text);

}  // namespace p2p::proto
