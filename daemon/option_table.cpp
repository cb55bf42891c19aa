#include "daemon/option_table.hpp"

#include <array>

#include "core/base/duration_text.hpp"
#include "daemon/option_values.hpp"

namespace p2p::daemon {

using proto::toml_quoted;
using proto::TomlValue;

namespace {

constexpr std::array<std::string_view, 5> log_levels{"error", "warn", "info", "debug", "trace"};
constexpr std::array<std::string_view, 4> log_formats{"auto", "text", "json", "journal"};
constexpr auto no_limit = std::uint64_t{1} << 62U;

constexpr std::string_view a_path = "an absolute path";
constexpr std::string_view a_mode = "an octal mode as text, such as \"0660\"";

// One line a key: captureless lambdas that name the field. This table is the only list of keys.
const std::array keys{
    OptionKey{
        "node",
        "name",
        "a text of at most 63 bytes",
        "empty: the host's name",
        false,
        [](const TomlValue& v, Options& o) { return read_name(v, o.name); },
        [](const Options& o) {
            return toml_quoted(o.name);
        }},
    OptionKey{
        "node",
        "site",
        "a text of at most 63 bytes",
        "data centre, e.g. \"ams1\", shown everywhere",
        false,
        [](const TomlValue& v, Options& o) { return read_name(v, o.site); },
        [](const Options& o) {
            return toml_quoted(o.site);
        }},
    OptionKey{
        "node",
        "state_dir",
        a_path,
        "keys, trust, jobs and checkpoints; one p2pd at a time",
        false,
        [](const TomlValue& v, Options& o) { return read_path(v, o.state_dir); },
        [](const Options& o) {
            return toml_quoted(o.state_dir.string());
        }},
    OptionKey{
        "identity",
        "key_file",
        a_path,
        "0600, owned by p2pd; made at the first start",
        false,
        [](const TomlValue& v, Options& o) { return read_path(v, o.key_file); },
        [](const Options& o) {
            return toml_quoted(o.key_file.string());
        }},
    OptionKey{
        "network",
        "id",
        "a network id (52 characters), or \"\"",
        "pins what `p2pctl init` wrote to state_dir/trust; alone, it names the network",
        false,
        [](const TomlValue& v, Options& o) { return read_network_id(v, o.network_id); },
        [](const Options& o) {
            return toml_quoted(o.network_id ? o.network_id->text() : "");
        }},
    OptionKey{
        "network",
        "listen",
        "a list of at most 8 texts \"host:port\"",
        "",
        false,
        [](const TomlValue& v, Options& o) {
            return read_addresses(v, o.listen) && !o.listen.empty();
        },
        [](const Options& o) {
            return show_list(o.listen);
        }},
    OptionKey{
        "network",
        "advertise",
        "a list of at most 8 texts \"host:port\"",
        "how peers reach this node; empty: what it listens on",
        false,
        [](const TomlValue& v, Options& o) { return read_addresses(v, o.advertise); },
        [](const Options& o) {
            return show_list(o.advertise);
        }},
    OptionKey{
        "network",
        "bootstrap",
        "a list of texts \"id@host:port\"",
        "peers to dial first",
        true,
        [](const TomlValue& v, Options& o) { return read_bootstrap(v, o.bootstrap); },
        show_bootstrap},
    OptionKey{
        "network",
        "accept_unknown_id",
        "true or false",
        "answer a caller who doesn't know this node's id; the allow-list still decides",
        false,
        [](const TomlValue& v, Options& o) { return read_bool(v, o.accept_unknown_id); },
        [](const Options& o) {
            return std::string(o.accept_unknown_id ? "true" : "false");
        }},
    OptionKey{
        "network",
        "max_peers",
        "a number from 1 to 4096",
        "",
        true,
        [](const TomlValue& v, Options& o) { return read_number(v, o.max_peers, 1U, 4096U); },
        [](const Options& o) {
            return std::to_string(o.max_peers);
        }},
    OptionKey{
        "trust",
        "peers_file",
        a_path,
        "the allow-list",
        true,
        [](const TomlValue& v, Options& o) { return read_path(v, o.peers_file); },
        [](const Options& o) {
            return toml_quoted(o.peers_file.string());
        }},
    OptionKey{
        "control",
        "socket",
        a_path,
        "full control",
        false,
        [](const TomlValue& v, Options& o) { return read_path(v, o.socket); },
        [](const Options& o) {
            return toml_quoted(o.socket.string());
        }},
    OptionKey{
        "control",
        "status_socket",
        a_path,
        "reading only",
        false,
        [](const TomlValue& v, Options& o) { return read_path(v, o.status_socket); },
        [](const Options& o) {
            return toml_quoted(o.status_socket.string());
        }},
    OptionKey{
        "control",
        "tensor_socket",
        a_path,
        "training processes; mode and group as socket",
        false,
        [](const TomlValue& v, Options& o) { return read_path(v, o.tensor_socket); },
        [](const Options& o) {
            return toml_quoted(o.tensor_socket.string());
        }},
    OptionKey{
        "control",
        "socket_group",
        "the name of a group, or \"\"",
        "empty: p2pd's own",
        false,
        [](const TomlValue& v, Options& o) { return read_name(v, o.socket_group); },
        [](const Options& o) {
            return toml_quoted(o.socket_group);
        }},
    OptionKey{
        "control",
        "socket_mode",
        a_mode,
        "",
        false,
        [](const TomlValue& v, Options& o) { return read_mode(v, o.socket_mode); },
        [](const Options& o) {
            return show_mode(o.socket_mode);
        }},
    OptionKey{
        "control",
        "status_mode",
        a_mode,
        "status, peer list; never secrets",
        false,
        [](const TomlValue& v, Options& o) { return read_mode(v, o.status_mode); },
        [](const Options& o) {
            return show_mode(o.status_mode);
        }},
    OptionKey{
        "log",
        "level",
        "error, warn, info, debug or trace",
        "",
        true,
        [](const TomlValue& v, Options& o) { return read_choice(v, o.log_level, log_levels); },
        [](const Options& o) {
            return toml_quoted(o.log_level);
        }},
    OptionKey{
        "log",
        "format",
        "auto, text, json or journal",
        "auto: journal under systemd, text on a tty, json else",
        true,
        [](const TomlValue& v, Options& o) { return read_choice(v, o.log_format, log_formats); },
        [](const Options& o) {
            return toml_quoted(o.log_format);
        }},
    OptionKey{
        "limits",
        "min_free_bytes",
        "a number of bytes",
        "below this checkpoints pause; training goes on",
        false,
        [](const TomlValue& v, Options& o) {
            return read_number(v, o.min_free_bytes, std::uint64_t{0}, no_limit);
        },
        [](const Options& o) {
            return std::to_string(o.min_free_bytes);
        }},
    OptionKey{
        "limits",
        "kernel_level",
        "auto, scalar, v2 or v3, as far as this processor goes",
        "which compiled form of the arithmetic runs",
        false,
        [](const TomlValue& v, Options& o) { return read_kernel_level(v, o.kernel_level); },
        [](const Options& o) {
            return toml_quoted(o.kernel_level);
        }},
    OptionKey{
        "jobs",
        "accept",
        "all, ask or none",
        "what becomes of a job that a peer announces",
        true,
        [](const TomlValue& v, Options& o) { return read_accept(v, o.accept); },
        [](const Options& o) {
            return toml_quoted(accept_names[static_cast<std::size_t>(o.accept)]);
        }},
    OptionKey{
        "jobs",
        "threads",
        "a number from 0 to 1024",
        "arithmetic of swaps; 0: all cores but one",
        false,
        [](const TomlValue& v, Options& o) { return read_number(v, o.threads, 0U, 1024U); },
        [](const Options& o) {
            return std::to_string(o.threads);
        }},
    OptionKey{
        "jobs",
        "duty",
        "a number above 0, at most 1",
        "share of the time that trainers may use",
        false,
        [](const TomlValue& v, Options& o) { return read_share(v, o.duty); },
        [](const Options& o) {
            return show_share(o.duty);
        }},
    OptionKey{
        "jobs",
        "keep_finished",
        "a number from 0 to 1024",
        "ended jobs that stay in the list",
        true,
        [](const TomlValue& v, Options& o) { return read_number(v, o.keep_finished, 0U, 1024U); },
        [](const Options& o) {
            return std::to_string(o.keep_finished);
        }},
    OptionKey{
        "jobs",
        "batch_size",
        "a number from 0 to 65536",
        "0: the job's own",
        false,
        [](const TomlValue& v, Options& o) { return read_number(v, o.batch_size, 0U, 65536U); },
        [](const Options& o) {
            return std::to_string(o.batch_size);
        }},
    OptionKey{
        "shutdown",
        "drain_timeout",
        "a duration of at most 1h, such as \"60s\"",
        "all that a stop may take",
        false,
        [](const TomlValue& v, Options& o) { return read_drain_timeout(v, o.drain_timeout); },
        [](const Options& o) {
            return toml_quoted(core::duration_text(o.drain_timeout));
        }},
};

}  // namespace

std::span<const OptionKey> option_table() {
    return keys;
}

}  // namespace p2p::daemon
