#include "daemon/trust_file.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/nearest.hpp"
#include "daemon/option_values.hpp"
#include "proto/sodium.hpp"
#include "proto/toml.hpp"

namespace p2p::daemon {

using core::AllowedPeer;
using core::Error;
using core::ErrorCode;
using core::NetworkId;
using core::PeerId;
using core::Result;
using core::Role;
using core::Status;
using proto::TomlArray;
using proto::TomlTable;
using proto::TomlValue;

namespace {

struct RoleName {
    std::string_view name;
    Role role;
};

constexpr std::array<RoleName, 4> role_names{{
    {"train", Role::train},
    {"observe", Role::observe},
    {"submit", Role::submit},
    {"admin", Role::admin},
}};

constexpr std::array<std::string_view, 4> peer_keys{"id", "name", "addresses", "roles"};

/// The entry under the reader's eye: errors say where it stands.
struct Place {
    const Path& file;

    [[nodiscard]] Error fault(proto::TomlPlace at, const std::string& what) const {
        return {
            ErrorCode::invalid,
            file.string() + ", " + at.text() + ": " + what,
            "",
            "edit the file, then `p2pd --check`"};
    }
};

bool read_texts(const TomlValue& value, std::vector<std::string>& texts, std::size_t count_max) {
    const auto* list = value.get<TomlArray>();
    if (list == nullptr || list->size() > count_max) return false;
    for (const auto& item : *list) {
        const auto* text = item.get<std::string>();
        if (text == nullptr) return false;
        texts.push_back(*text);
    }
    return true;
}

bool read_roles(const TomlValue& value, std::set<Role>& roles) {
    std::vector<std::string> names;
    if (!read_texts(value, names, role_names.size())) return false;
    roles.clear();
    for (const auto& name : names) {
        const auto found = std::find_if(
            role_names.begin(), role_names.end(), [&](const auto& r) { return r.name == name; });
        if (found == role_names.end()) return false;
        roles.insert(found->role);
    }
    return !roles.empty();
}

Status read_entry(const proto::TomlEntry& entry, const Place& place, AllowedPeer& peer) {
    const auto* text = entry.value.get<std::string>();
    if (entry.name == "id") {
        const auto id = text != nullptr ? PeerId::from_text(*text) : std::nullopt;
        if (!id) return place.fault(entry.place, "id takes the 52 characters of a peer's id");
        peer.id = *id;
        return {};
    }
    if (entry.name == "name") {
        if (text == nullptr || text->size() > core::limits::name_bytes_max) {
            return place.fault(entry.place, "name takes a text of at most 63 bytes");
        }
        peer.name = *text;
        return {};
    }
    if (entry.name == "addresses") {
        const bool is_good =
            read_texts(entry.value, peer.addresses, core::limits::addresses_a_peer_max)
            && std::all_of(peer.addresses.begin(), peer.addresses.end(), [](const auto& address) {
                   return address.size() <= core::limits::address_bytes_max
                          && is_host_port(address);
               });
        if (is_good) return {};
        return place.fault(entry.place, "addresses takes a list of at most 8 \"host:port\"");
    }
    if (entry.name == "roles") {
        if (read_roles(entry.value, peer.roles)) return {};
        return place.fault(entry.place, "roles takes some of train, observe, submit, admin");
    }
    const auto nearest = core::nearest_name(entry.name, peer_keys);
    return place.fault(
        entry.place,
        "there is no key " + entry.name
            + (nearest ? "; the nearest is " + std::string(*nearest) : ""));
}

Result<AllowedPeer> read_peer(const TomlValue& value, const Place& place) {
    const auto* table = value.get<TomlTable>();
    if (table == nullptr) return place.fault(value.place, "write each peer as [[peer]]");
    AllowedPeer peer;
    for (const auto& entry : table->entries) {
        if (auto status = read_entry(entry, place, peer); !status) return status.error();
    }
    if (peer.id.is_zero()) return place.fault(value.place, "this peer has no id");
    return peer;
}

Path network_file(const Path& state_dir) {
    return state_dir / "trust" / "network";
}

}  // namespace

Result<std::vector<AllowedPeer>> read_peers(std::string_view text, const Path& file) {
    const auto tree = proto::parse_toml(text, core::limits::config_bytes_max);
    if (!tree) return tree.error().with_context(file.string());
    const Place place{file};
    std::vector<AllowedPeer> peers;
    for (const auto& entry : tree->entries) {
        const auto* list = entry.value.get<TomlArray>();
        if (entry.name != "peer" || list == nullptr) {
            return place.fault(entry.place, "write each peer as [[peer]]");
        }
        for (const auto& value : *list) {
            auto peer = read_peer(value, place);
            if (!peer) return peer.error();
            const bool is_twice = std::any_of(
                peers.begin(), peers.end(), [&](const auto& p) { return p.id == peer->id; });
            if (is_twice) return place.fault(value.place, "this id is there twice");
            peers.push_back(*std::move(peer));
        }
    }
    return peers;
}

Result<std::vector<AllowedPeer>> load_peers(const Path& file) {
    const auto text = read_file(file, core::limits::config_bytes_max);
    if (text) return read_peers(core::as_text(*text), file);
    if (text.error().code == ErrorCode::not_found) return std::vector<AllowedPeer>{};
    return text.error();
}

Result<std::optional<NetworkId>> read_network(const Path& state_dir) {
    const auto text = read_file(network_file(state_dir), 128);
    if (!text) {
        if (text.error().code == ErrorCode::not_found) return std::optional<NetworkId>{};
        return text.error();
    }
    std::string_view line = core::as_text(*text);
    if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    const auto id = NetworkId::from_text(line);
    if (!id || id->is_zero()) {
        return Error{
            ErrorCode::malformed,
            network_file(state_dir).string() + " does not hold a network id",
            "",
            "restore it from a backup or another node, or remove it to leave the network"};
    }
    return std::optional(*id);
}

Result<NetworkId> settle_network(const Path& state_dir, std::optional<NetworkId> configured) {
    const auto written = read_network(state_dir);
    if (!written) return written.error();
    if (*written && configured && **written != *configured) {
        return Error{
            ErrorCode::conflict,
            "this node belongs to another network than its configuration says",
            network_file(state_dir).string() + " says " + (*written)->text() + ", network.id "
                + configured->text(),
            "correct network.id, or remove that file to leave the network"};
    }
    if (*written) return **written;
    return configured.value_or(NetworkId{});
}

Result<NetworkId> found_network(const Path& state_dir, PeerId founder) {
    const auto written = read_network(state_dir);
    if (!written) return written.error();
    if (*written) {
        return Error{
            ErrorCode::conflict,
            "this node belongs to a network already",
            "its id is " + (*written)->text(),
            "remove " + network_file(state_dir).string() + " to leave it"};
    }
    std::array<std::uint8_t, 64> seed{};
    std::copy(founder.bytes.begin(), founder.bytes.end(), seed.begin());
    proto::fill_random(core::MutableByteView(seed).subspan(32));
    const NetworkId id{proto::blake2b_256(seed)};
    const std::string line = id.text() + "\n";
    if (auto status = make_folder(state_dir / "trust"); !status) return status.error();
    auto status = replace_file(network_file(state_dir), core::as_bytes(line));
    if (!status) return status.error();
    return id;
}

}  // namespace p2p::daemon
