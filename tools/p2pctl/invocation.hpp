#pragma once

// What the command line asks for, as one value; arguments.cpp reads it, the commands obey it. It
// says nothing of what a command does, nor whether the thing that it names exists.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace p2p::tools {

enum class Format : std::uint8_t { table, wide, json, jsonl, csv, name };
enum class ColorWish : std::uint8_t { automatic, always, never };

inline constexpr const char* default_socket = "/run/p2pd/control.sock";

struct Invocation {
    std::vector<std::string> words;      ///< the command: {"job", "list"}
    std::vector<std::string> arguments;  ///< what it is about: {"mnist-mlp"}

    Format format = Format::table;
    ColorWish color = ColorWish::automatic;
    std::string socket = default_socket;
    std::optional<core::Duration> timeout;
    std::optional<core::Duration> watch;  ///< repeat a reading command this often
    bool has_header = true;
    bool is_quiet = false;
    bool is_verbose = false;

    bool waits = false;  ///< job submit --wait
    std::string to;      ///< checkpoint export --to; "-": stdout

    /// The first words joined by blanks: "job list".
    [[nodiscard]] std::string command() const {
        std::string text;
        for (const auto& word : words)
            text += text.empty() ? word : " " + word;
        return text;
    }

    /// @pre there is one
    [[nodiscard]] const std::string& subject() const { return arguments.at(0); }
};

/// A command line that asks for help or the program's version is answered and over.
struct Farewell {
    int exit_code = 0;
    std::string text;  ///< for stdout
};

struct ParsedArguments {
    Invocation invocation;
    std::optional<Farewell> farewell;
};

/// Errors are usage errors: what is wrong, and which help to read.
[[nodiscard]] core::Result<ParsedArguments> read_arguments(int count, char** values);

/// Whether the command line asks for JSON, also where it is wrong otherwise.
[[nodiscard]] bool asks_for_json(int count, char** values);

}  // namespace p2p::tools
