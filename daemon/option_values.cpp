#include "daemon/option_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/base/cpu.hpp"
#include "core/base/duration_text.hpp"
#include "core/base/limits.hpp"

namespace p2p::daemon {

using proto::toml_quoted;
using proto::TomlArray;
using proto::TomlValue;

// --- reading: false where the value is not what the key takes
// -------------------------------------

bool read_text(const TomlValue& value, std::string& text, std::size_t bytes_max) {
    const auto* found = value.get<std::string>();
    if (found == nullptr || found->size() > bytes_max) return false;
    const bool has_control = std::any_of(
        found->begin(), found->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (has_control) return false;
    text = *found;
    return true;
}

bool read_name(const TomlValue& value, std::string& text) {
    return read_text(value, text, core::limits::name_bytes_max);
}

bool read_path(const TomlValue& value, Path& path) {
    std::string text;
    if (!read_text(value, text, 4095) || text.empty() || text.front() != '/') return false;
    path = text;
    return true;
}

bool read_bool(const TomlValue& value, bool& flag) {
    const auto* found = value.get<bool>();
    if (found == nullptr) return false;
    flag = *found;
    return true;
}

bool read_share(const TomlValue& value, double& share) {
    const auto* real = value.get<double>();
    const auto* whole = value.get<std::int64_t>();
    if (real == nullptr && whole == nullptr) return false;
    const double given = real != nullptr ? *real : static_cast<double>(*whole);
    if (!(given > 0 && given <= 1)) return false;
    share = given;
    return true;
}

/// "0660".
bool read_mode(const TomlValue& value, mode_t& mode) {
    std::string text;
    if (!read_text(value, text, 4) || text.size() < 3) return false;
    unsigned number = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number, 8);
    if (parsed.ec != std::errc{} || parsed.ptr != end || number > 0777) return false;
    mode = number;
    return true;
}

bool read_addresses(const TomlValue& value, std::vector<std::string>& addresses) {
    const auto* list = value.get<TomlArray>();
    if (list == nullptr || list->size() > core::limits::addresses_a_peer_max) return false;
    std::vector<std::string> read;
    for (const auto& item : *list) {
        std::string text;
        if (!read_text(item, text, core::limits::address_bytes_max) || !is_host_port(text)) {
            return false;
        }
        read.push_back(text);
    }
    addresses = std::move(read);
    return true;
}

bool read_bootstrap(const TomlValue& value, std::vector<BootstrapPeer>& peers) {
    const auto* list = value.get<TomlArray>();
    if (list == nullptr || list->size() > core::limits::job_members_max) return false;
    std::vector<BootstrapPeer> read;
    for (const auto& item : *list) {
        std::string text;
        if (!read_text(item, text, core::limits::address_bytes_max + 64)) return false;
        const std::size_t at = text.find('@');
        if (at == std::string::npos) return false;
        const auto id = core::PeerId::from_text(text.substr(0, at));
        if (!id || !is_host_port(std::string_view(text).substr(at + 1))) return false;
        read.push_back({*id, text.substr(at + 1)});
    }
    peers = std::move(read);
    return true;
}

bool read_network_id(const TomlValue& value, std::optional<core::NetworkId>& network) {
    std::string text;
    if (!read_text(value, text, 64)) return false;
    const auto id = core::NetworkId::from_text(text);
    if (!id && !text.empty()) return false;
    network = id;
    return true;
}

bool read_accept(const TomlValue& value, core::JobAccept& accept) {
    std::string text;
    if (!read_choice(value, text, accept_names)) return false;
    const auto at = std::find(accept_names.begin(), accept_names.end(), text);
    accept = static_cast<core::JobAccept>(at - accept_names.begin());
    return true;
}

bool read_kernel_level(const TomlValue& value, std::string& level) {
    std::string text;
    if (!read_text(value, text, 16)) return false;
    const auto named = core::kernel_level_from_name(text);
    if (text != "auto" && (!named || *named > core::best_kernel_level())) return false;
    level = text;
    return true;
}

bool read_drain_timeout(const TomlValue& value, core::Duration& duration) {
    std::string text;
    if (!read_text(value, text, 32)) return false;
    const auto given = core::duration_from_text(text);
    if (!given || *given > std::chrono::hours{1}) return false;
    duration = *given;
    return true;
}

// --- showing ------------------------------------------------------------------------------------

std::string show_list(const std::vector<std::string>& items) {
    std::string text = "[";
    for (const auto& item : items) {
        if (text.size() > 1) text += ", ";
        text += toml_quoted(item);
    }
    return text + "]";
}

std::string show_mode(mode_t mode) {
    std::string text = "0";
    for (unsigned shift = 9; shift > 0; shift -= 3) {
        text += static_cast<char>('0' + ((mode >> (shift - 3)) & 7U));
    }
    return toml_quoted(text);
}

std::string show_share(double share) {
    std::string text = std::to_string(share);
    const std::size_t last = text.find_last_not_of('0');
    text.erase(text[last] == '.' ? last + 2 : last + 1);
    return text;
}

std::string show_bootstrap(const Options& options) {
    std::vector<std::string> items;
    for (const auto& peer : options.bootstrap)
        items.push_back(peer.id.text() + "@" + peer.address);
    return show_list(items);
}

bool is_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool is_port = !port.empty() && parsed.ec == std::errc{}
                         && parsed.ptr == port.data() + port.size() && number <= 65535;
    const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    const bool has_space = host.find_first_of(" \t/@") != std::string_view::npos;
    const bool is_plain = host.find_first_of(":[]") == std::string_view::npos;
    return is_port && !has_space && (is_bracketed || is_plain);
}

}  // namespace p2p::daemon
