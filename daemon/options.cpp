#include "daemon/options.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "core/base/limits.hpp"
#include "core/base/nearest.hpp"
#include "daemon/option_table.hpp"
#include "proto/toml.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::TomlValue;

namespace {

constexpr const char* edit_next = "edit the file, then `p2pd --check`";

std::string full_name(const OptionKey& key) {
    return std::string(key.section) + "." + std::string(key.name);
}

const OptionKey* find_key(std::string_view name) {
    for (const auto& key : option_table()) {
        if (full_name(key) == name) return &key;
    }
    return nullptr;
}

Error unknown_key(const std::string& where, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& key : option_table())
        names.push_back(full_name(key));
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = core::nearest_name(name, views);
    return {
        ErrorCode::invalid,
        where + ": there is no key " + name,
        nearest ? "the nearest is " + std::string(*nearest) : "",
        nearest ? edit_next : "p2pd --print-config shows all keys"};
}

Error wrong_value(const std::string& where, const OptionKey& key) {
    return {
        ErrorCode::invalid,
        where + ": " + full_name(key) + " takes " + std::string(key.takes),
        "",
        edit_next};
}

/// A line of [datasets]; false where it is none.
bool read_dataset(const std::string& name, const TomlValue& value, Options& options) {
    const auto* folder = value.get<std::string>();
    const bool is_path = folder != nullptr && !folder->empty() && folder->front() == '/';
    if (!is_path || name.empty() || name.size() > core::limits::name_bytes_max) return false;
    options.datasets[name] = *folder;
    return true;
}

Status apply_leaf(const proto::TomlLeaf& leaf, const std::string& where, Options& options) {
    const std::string prefix = std::string(datasets_section) + ".";
    if (leaf.name.rfind(prefix, 0) == 0) {
        if (read_dataset(leaf.name.substr(prefix.size()), *leaf.value, options)) return {};
        return Error{
            ErrorCode::invalid,
            where + ": " + leaf.name + " takes an absolute path",
            "",
            edit_next};
    }
    const OptionKey* key = find_key(leaf.name);
    if (key != nullptr) {
        if (key->read(*leaf.value, options)) return {};
        return wrong_value(where, *key);
    }
    // A section without keys is empty, not wrong.
    const bool is_section =
        std::any_of(option_table().begin(), option_table().end(), [&](const OptionKey& known) {
            return known.section == leaf.name && leaf.value->get<proto::TomlTable>() != nullptr;
        });
    if (is_section || leaf.name == datasets_section) return {};
    return unknown_key(where, leaf.name);
}

Status apply_file(const Path& file, Options& options) {
    const auto text = read_file(file, core::limits::config_bytes_max);
    if (!text) return text.error();
    auto read = read_options(core::as_text(*text), file, options);
    if (!read) return read.error();
    options = *std::move(read);
    return {};
}

/// conf.d beside the file, in name order; a folder that is not there says nothing.
std::vector<Path> conf_d_files(const Path& file) {
    std::vector<Path> files;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(file.parent_path() / "conf.d", error)) {
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string variable_name(const OptionKey& key) {
    std::string name = "P2PD_" + std::string(key.section) + "_" + std::string(key.name);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(std::toupper(c));
    });
    return name;
}

/// A value of the environment: TOML where it can be read as a value of that key, else a text.
Status apply_variable(const OptionKey& key, const std::string& text, Options& options) {
    const auto as_toml = proto::parse_toml("v = " + text, core::limits::config_bytes_max);
    if (as_toml && as_toml->find("v") != nullptr && key.read(*as_toml->find("v"), options)) {
        return {};
    }
    if (key.read(TomlValue{text, {}}, options)) return {};
    return wrong_value("environment variable " + variable_name(key), key);
}

Status apply_environment(const Environment& environment, Options& options) {
    for (const auto& key : option_table()) {
        const char* value = environment(variable_name(key).c_str());
        if (value == nullptr) continue;
        if (auto status = apply_variable(key, value, options); !status) return status;
    }
    return {};
}

Path from_environment(const Environment& environment, const char* name, const Path& otherwise) {
    const char* value = environment(name);
    return value != nullptr && value[0] == '/' ? Path(value) : otherwise;
}

}  // namespace

DefaultPaths default_paths(bool is_user, const Environment& environment) {
    if (!is_user) return {"/etc/p2pd", "/var/lib/p2pd", "/run/p2pd"};
    const Path home = from_environment(environment, "HOME", "/");
    const Path state = from_environment(environment, "XDG_STATE_HOME", home / ".local/state");
    const Path fallback = state / "p2pd/run";
    const Path runtime = from_environment(environment, "XDG_RUNTIME_DIR", "");
    return {
        from_environment(environment, "XDG_CONFIG_HOME", home / ".config") / "p2pd",
        state / "p2pd",
        runtime.empty() ? fallback : runtime / "p2pd"};
}

Options default_options(bool is_user, const Environment& environment) {
    const DefaultPaths paths = default_paths(is_user, environment);
    Options options;
    options.state_dir = paths.state_dir;
    options.key_file = paths.state_dir / "identity.key";
    options.listen = {"0.0.0.0:7470", "[::]:7470"};
    options.peers_file = paths.config / "peers.toml";
    options.socket = paths.runtime / "control.sock";
    options.status_socket = paths.runtime / "status.sock";
    options.tensor_socket = paths.runtime / "tensor.sock";
    options.log_level = "info";
    options.log_format = "auto";
    options.min_free_bytes = std::uint64_t{2} << 30U;
    options.kernel_level = "auto";
    options.drain_timeout = std::chrono::seconds{60};
    return options;
}

Result<Options> read_options(std::string_view text, const Path& file, const Options& defaults) {
    const auto tree = proto::parse_toml(text, core::limits::config_bytes_max);
    if (!tree) return tree.error().with_context(file.string());
    Options options = defaults;
    for (const auto& leaf : proto::toml_leaves(*tree)) {
        const std::string where = file.string() + ", " + leaf.place.text();
        if (auto status = apply_leaf(leaf, where, options); !status) return status.error();
    }
    return options;
}

Result<Options> load_options(const OptionSources& sources) {
    const Path folder = default_paths(sources.is_user, sources.environment).config;
    const Path file = sources.file.value_or(folder / "p2pd.toml");
    Options options = default_options(sources.is_user, sources.environment);

    std::error_code ignored;
    if (sources.file || std::filesystem::exists(file, ignored)) {
        if (auto status = apply_file(file, options); !status) return status.error();
    }
    for (const auto& more : conf_d_files(file)) {
        if (auto status = apply_file(more, options); !status) return status.error();
    }
    if (auto status = apply_environment(sources.environment, options); !status) {
        return status.error();
    }
    if (options.name.empty()) {
        char host[core::limits::name_bytes_max + 1] = {};
        if (::gethostname(host, core::limits::name_bytes_max) == 0) options.name = host;
    }
    return options;
}

std::string default_config_text(const Options& defaults) {
    std::string text = "# p2pd.toml: every key with its default; (R): taken up on SIGHUP.\n";
    std::string_view section;
    for (const auto& key : option_table()) {
        if (key.section != section) {
            section = key.section;
            text += "\n[" + std::string(section) + "]\n";
        }
        std::string line = "# " + std::string(key.name) + " = " + key.show(defaults);
        const std::string remark = std::string(key.comment) + (key.is_reloaded ? " (R)" : "");
        if (!remark.empty()) {
            line.resize(std::max<std::size_t>(line.size() + 2, 40), ' ');
            line += "# " + remark;
        }
        text += line + "\n";
    }
    text += "\n[datasets]\n";
    text +=
        "# name = \"/path\"                       # a job asks by name, the path never travels\n";
    return text;
}

std::vector<OptionName> option_names() {
    // The table is static, and so are the names made from it.
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const auto& key : option_table())
            made.push_back(full_name(key));
        return made;
    }();
    std::vector<OptionName> listed;
    for (std::size_t i = 0; i < names.size(); ++i)
        listed.push_back({names[i], option_table()[i].is_reloaded});
    return listed;
}

}  // namespace p2p::daemon
