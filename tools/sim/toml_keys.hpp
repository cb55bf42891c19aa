#pragma once

// Keys of the simulator's own TOML files: what each takes, where its value goes, and what is said
// of one that does not fit. Which keys a file has is the business of who reads it (stage_file,
// costs).

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "proto/toml.hpp"

namespace p2p::sim {

struct TomlKey {
    std::string_view name;
    std::string_view form;  ///< "a string like \"80ms\"": for the sentence
    std::function<bool(const proto::TomlValue&)> set;
};

/// `invalid`, naming file, line and column.
[[nodiscard]] core::Error toml_fault(
    const std::string& file, const proto::TomlPlace& place, std::string why);

/// Every entry of `table` is one of `keys`, and takes; else the fault names the nearest key.
[[nodiscard]] core::Status read_toml_keys(
    const std::string& file, const proto::TomlTable& table, const std::vector<TomlKey>& keys);

[[nodiscard]] std::optional<double> toml_number(const proto::TomlValue& value);

// `out` must outlive the key; it changes only where the value fits.
[[nodiscard]] TomlKey text_key(std::string_view name, std::string& out);
[[nodiscard]] TomlKey time_key(std::string_view name, core::Duration& out);
[[nodiscard]] TomlKey number_key(std::string_view name, double& out, double least, double most);

/// Written in `unit` seconds, 0 or more; `out` is seconds.
[[nodiscard]] TomlKey seconds_key(std::string_view name, double& out, double unit);

/// Written in megabits a second, as links are sold; `out` is bytes a second.
[[nodiscard]] TomlKey rate_key(std::string_view name, double& out);

}  // namespace p2p::sim
