#include "proto/toml.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <toml++/toml.h>

namespace p2p::proto {

using core::Error;
using core::ErrorCode;
using core::Result;

namespace {

TomlPlace place_of(const toml::source_region& source) {
    return {source.begin.line, source.begin.column};
}

Error fault(ErrorCode code, const TomlPlace& place, std::string why) {
    return {code, place.text(), std::move(why), ""};
}

Result<TomlValue> value_of(const toml::node& node);

// toml++ nests at most 256 deep (TOML_MAX_NESTED_VALUES), which bounds these recursions.
// NOLINTBEGIN(misc-no-recursion)
Result<TomlTable> table_of(const toml::table& table) {
    TomlTable out{.entries = {}, .place = place_of(table.source())};
    out.entries.reserve(table.size());
    for (const auto& [key, node] : table) {
        auto value = value_of(node);
        if (!value) return value.error();
        out.entries.push_back(
            {std::string(key.str()), place_of(key.source()), std::move(value).value()});
    }
    return out;
}

Result<TomlValue> array_of(const toml::array& array) {
    TomlArray out;
    out.reserve(array.size());
    for (const auto& node : array) {
        auto value = value_of(node);
        if (!value) return value.error();
        out.push_back(std::move(value).value());
    }
    return TomlValue{std::move(out), place_of(array.source())};
}

Result<TomlValue> value_of(const toml::node& node) {
    const TomlPlace place = place_of(node.source());
    if (const auto* found = node.as_boolean()) return TomlValue{found->get(), place};
    if (const auto* found = node.as_integer()) return TomlValue{found->get(), place};
    if (const auto* found = node.as_floating_point()) return TomlValue{found->get(), place};
    if (const auto* found = node.as_string()) return TomlValue{found->get(), place};
    if (const auto* found = node.as_array()) return array_of(*found);
    if (const auto* found = node.as_table()) {
        auto table = table_of(*found);
        if (!table) return table.error();
        return TomlValue{std::move(table).value(), place};
    }
    return fault(ErrorCode::invalid, place, "dates and times have no place here");
}

void add_leaves(const TomlTable& table, const std::string& prefix, std::vector<TomlLeaf>& leaves) {
    for (const auto& entry : table.entries) {
        const auto* inner = entry.value.get<TomlTable>();
        if (inner != nullptr && !inner->entries.empty()) {
            add_leaves(*inner, prefix + entry.name + ".", leaves);
        } else {
            leaves.push_back({prefix + entry.name, entry.place, &entry.value});
        }
    }
}

// NOLINTEND(misc-no-recursion)

}  // namespace

std::string TomlPlace::text() const {
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

const TomlValue* TomlTable::find(std::string_view name) const {
    const auto found = std::find_if(
        entries.begin(), entries.end(), [&](const TomlEntry& entry) { return entry.name == name; });
    return found == entries.end() ? nullptr : &found->value;
}

std::string_view TomlValue::kind() const {
    if (get<bool>() != nullptr) return "a boolean";
    if (get<std::int64_t>() != nullptr) return "a whole number";
    if (get<double>() != nullptr) return "a number";
    if (get<std::string>() != nullptr) return "a string";
    return get<TomlArray>() != nullptr ? "an array" : "a table";
}

Result<TomlTable> parse_toml(std::string_view text, std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        return Error{
            ErrorCode::too_large,
            "a text of " + std::to_string(text.size()) + " bytes",
            "at most " + std::to_string(bytes_max) + " are read",
            ""};
    }
    // Debian's library is built with exceptions; this is where they end.
    try {
        return table_of(toml::parse(text));
    } catch (const toml::parse_error& error) {
        return fault(
            ErrorCode::malformed, place_of(error.source()), std::string(error.description()));
    }
}

std::vector<TomlLeaf> toml_leaves(const TomlTable& table) {
    std::vector<TomlLeaf> leaves;
    add_leaves(table, "", leaves);
    std::sort(leaves.begin(), leaves.end(), [](const TomlLeaf& a, const TomlLeaf& b) {
        return a.name < b.name;
    });
    return leaves;
}

std::string toml_quoted(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += "\\u00";
            quoted += digits[byte >> 4U];
            quoted += digits[byte & 15U];
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace p2p::proto
