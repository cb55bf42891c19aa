#include "tools/sim/toml_keys.hpp"

#include <algorithm>
#include <utility>

#include "core/base/duration_text.hpp"
#include "core/base/nearest.hpp"

namespace p2p::sim {

using core::Duration;
using core::Error;
using core::ErrorCode;
using core::Status;
using proto::TomlEntry;
using proto::TomlTable;
using proto::TomlValue;

Error toml_fault(const std::string& file, const proto::TomlPlace& place, std::string why) {
    return {
        ErrorCode::invalid,
        file + ", " + place.text(),
        std::move(why),
        "see tools/sim/stages for stages that work"};
}

Status read_toml_keys(
    const std::string& file, const TomlTable& table, const std::vector<TomlKey>& keys) {
    std::vector<std::string_view> names;
    names.reserve(keys.size());
    for (const TomlKey& key : keys)
        names.push_back(key.name);
    for (const TomlEntry& entry : table.entries) {
        const auto found = std::find(names.begin(), names.end(), entry.name);
        if (found == names.end()) {
            const auto near = core::nearest_name(entry.name, names);
            return toml_fault(
                file,
                entry.place,
                "there is no key " + entry.name
                    + (near ? "; is it " + std::string(*near) + "?" : std::string{}));
        }
        const TomlKey& key = keys[static_cast<std::size_t>(found - names.begin())];
        if (!key.set(entry.value)) {
            return toml_fault(
                file, entry.value.place, entry.name + " wants " + std::string(key.form));
        }
    }
    return {};
}

std::optional<double> toml_number(const TomlValue& value) {
    if (const auto* real = value.get<double>()) return *real;
    if (const auto* whole = value.get<std::int64_t>()) return static_cast<double>(*whole);
    return std::nullopt;
}

TomlKey text_key(std::string_view name, std::string& out) {
    return {name, "a string", [&out](const TomlValue& value) {
                const auto* text = value.get<std::string>();
                if (text != nullptr) out = *text;
                return text != nullptr;
            }};
}

TomlKey time_key(std::string_view name, Duration& out) {
    return {name, "a string like \"80ms\"", [&out](const TomlValue& value) {
                const auto* text = value.get<std::string>();
                const auto read = text != nullptr ? core::duration_from_text(*text) : std::nullopt;
                if (read) out = *read;
                return read.has_value();
            }};
}

TomlKey number_key(std::string_view name, double& out, double least, double most) {
    return {name, "a number in its range", [&out, least, most](const TomlValue& value) {
                const auto read = toml_number(value);
                if (!read || !(*read >= least && *read <= most)) return false;
                out = *read;
                return true;
            }};
}

TomlKey seconds_key(std::string_view name, double& out, double unit) {
    return {name, "a number, 0 or more", [&out, unit](const TomlValue& value) {
                const auto read = toml_number(value);
                if (!read || !(*read >= 0 && *read <= 1e9)) return false;
                out = *read * unit;
                return true;
            }};
}

TomlKey rate_key(std::string_view name, double& out) {
    return {name, "megabits a second, above 0", [&out](const TomlValue& value) {
                const auto read = toml_number(value);
                if (!read || !(*read > 0 && *read <= 1e6)) return false;
                out = *read * 1e6 / 8;
                return true;
            }};
}

}  // namespace p2p::sim
