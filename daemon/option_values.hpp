#pragma once

// How the values of configuration keys are read and shown: one function a kind of value.
//
// A reader gives false where the value is not what it takes, and changes nothing then; the sentence
// that says so is made by daemon/options from the key's row in the table.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/options.hpp"
#include "proto/toml.hpp"

namespace p2p::daemon {

/// No control characters, at most `bytes_max`.
bool read_text(const proto::TomlValue& value, std::string& text, std::size_t bytes_max);
bool read_name(const proto::TomlValue& value, std::string& text);

/// Absolute.
bool read_path(const proto::TomlValue& value, Path& path);
bool read_bool(const proto::TomlValue& value, bool& flag);

/// Above 0, at most 1.
bool read_share(const proto::TomlValue& value, double& share);

/// Octal in a text: "0660".
bool read_mode(const proto::TomlValue& value, mode_t& mode);
bool read_addresses(const proto::TomlValue& value, std::vector<std::string>& addresses);
bool read_bootstrap(const proto::TomlValue& value, std::vector<BootstrapPeer>& peers);

/// An empty text stands for none.
bool read_network_id(const proto::TomlValue& value, std::optional<core::NetworkId>& network);
bool read_accept(const proto::TomlValue& value, core::JobAccept& accept);

/// "auto", or a level that this processor runs.
bool read_kernel_level(const proto::TomlValue& value, std::string& level);
bool read_drain_timeout(const proto::TomlValue& value, core::Duration& duration);

template <typename Unsigned>
bool read_number(const proto::TomlValue& value, Unsigned& number, Unsigned low, Unsigned high) {
    const auto* found = value.get<std::int64_t>();
    if (found == nullptr || !std::in_range<Unsigned>(*found)) return false;
    const auto given = static_cast<Unsigned>(*found);
    if (given < low || given > high) return false;
    number = given;
    return true;
}

template <std::size_t Count>
bool read_choice(
    const proto::TomlValue& value,
    std::string& text,
    const std::array<std::string_view, Count>& choices) {
    const auto* found = value.get<std::string>();
    const bool is_known =
        found != nullptr && std::find(choices.begin(), choices.end(), *found) != choices.end();
    if (is_known) text = *found;
    return is_known;
}

/// In the order of core::JobAccept.
inline constexpr std::array<std::string_view, 3> accept_names{"all", "ask", "none"};

[[nodiscard]] std::string show_list(const std::vector<std::string>& items);
[[nodiscard]] std::string show_mode(mode_t mode);
[[nodiscard]] std::string show_share(double share);
[[nodiscard]] std::string show_bootstrap(const Options& options);

/// "host:port", with brackets around an IPv6 host; port 0 lets the system choose.
[[nodiscard]] bool is_host_port(std::string_view text);

}  // namespace p2p::daemon
