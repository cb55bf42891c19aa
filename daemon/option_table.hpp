#pragma once

// The table behind daemon/options: each key with its section, its comment, how it is read and how
// its value is shown. Only options.cpp and its tests look in here.

#include <span>
#include <string>
#include <string_view>

#include "daemon/options.hpp"
#include "proto/toml.hpp"

namespace p2p::daemon {

struct OptionKey {
    std::string_view section;
    std::string_view name;
    std::string_view takes;    ///< what values it may have, in words
    std::string_view comment;  ///< for --print-config
    bool is_reloaded;          ///< SIGHUP takes it up
    /// False where the value is none of those that the key takes.
    bool (*read)(const proto::TomlValue& value, Options& options);
    /// The value in TOML.
    std::string (*show)(const Options& options);
};

/// All keys by section, in the order in which --print-config shows them.
[[nodiscard]] std::span<const OptionKey> option_table();

/// The section whose keys are names that the operator chooses.
inline constexpr std::string_view datasets_section = "datasets";

}  // namespace p2p::daemon
