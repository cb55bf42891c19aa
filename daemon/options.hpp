#pragma once

// The configuration of a p2pd: one table of keys drives the parser, the defaults, --print-config,
// the errors and the checks.
//
// Precedence: environment (P2PD_SECTION_KEY) > conf.d/*.toml in name order > the file > default.
// A key that is not in the table does not exist; what is wrong ends the start with exit code 78
// and says file, line, column, and the nearest known key. Flags belong to main.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/node/config.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

struct BootstrapPeer {
    core::PeerId id;
    std::string address;  ///< "host:port"

    bool operator==(const BootstrapPeer&) const = default;
};

struct Options {
    // [node]
    std::string name;  ///< empty: the host's
    std::string site;
    Path state_dir;

    // [identity]
    Path key_file;

    // [network]
    std::optional<core::NetworkId> network_id;
    std::vector<std::string> listen;     ///< "host:port"
    std::vector<std::string> advertise;  ///< empty: what is listened on
    std::vector<BootstrapPeer> bootstrap;
    bool accept_unknown_id = false;
    std::uint32_t max_peers = 64;

    // [trust]
    Path peers_file;

    // [control]
    Path socket;
    Path status_socket;
    Path tensor_socket;
    std::string socket_group;  ///< empty: this process's own
    mode_t socket_mode = 0660;
    mode_t status_mode = 0666;

    // [log]
    std::string log_level;
    std::string log_format;

    // [limits]
    std::uint64_t min_free_bytes = 0;
    std::string kernel_level;  ///< "auto" or a level's name

    // [datasets]
    std::map<std::string, Path> datasets;

    // [jobs]
    core::JobAccept accept = core::JobAccept::all;
    std::uint32_t threads = 0;  ///< 0: all cores but one
    double duty = 1;
    std::uint32_t keep_finished = 20;
    std::uint32_t batch_size = 0;  ///< 0: the job's

    // [shutdown]
    core::Duration drain_timeout{};
};

/// Value of an environment variable, as std::getenv; null where it is not set.
using Environment = std::function<const char*(const char*)>;

struct OptionSources {
    std::optional<Path> file;  ///< from --config: must be there; else the default, which may lack
    bool is_user = false;      ///< --user: everything under the XDG folders
    Environment environment;
};

/// Where a p2pd looks and writes when nothing else is said.
struct DefaultPaths {
    Path config;
    Path state_dir;
    Path runtime;
};

[[nodiscard]] DefaultPaths default_paths(bool is_user, const Environment& environment);

/// All sources, merged and checked. Errors: invalid, malformed or unreadable; for exit code 78.
[[nodiscard]] core::Result<Options> load_options(const OptionSources& sources);

/// One text over the defaults; `file` is named in errors.
[[nodiscard]] core::Result<Options> read_options(
    std::string_view text, const Path& file, const Options& defaults);

[[nodiscard]] Options default_options(bool is_user, const Environment& environment);

/// A configuration file with every key, its default and what it is for.
[[nodiscard]] std::string default_config_text(const Options& defaults);

/// "section.key" of all keys, and whether SIGHUP takes it up.
struct OptionName {
    std::string_view name;
    bool is_reloaded = false;
};

[[nodiscard]] std::vector<OptionName> option_names();

}  // namespace p2p::daemon
