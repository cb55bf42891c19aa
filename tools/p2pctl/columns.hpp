#pragma once

// Every reading command as data: where it asks, what it gets, which columns it shows.
//
// One renderer makes every format of these (render.hpp). Columns are never reordered; new ones go
// to the end.

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/p2pctl/document.hpp"

namespace p2p::tools {

/// How a value is written in a table; raw in JSON and CSV.
enum class Style : std::uint8_t {
    text,       ///< as it is, made printable
    id,         ///< its first six letters
    delay,      ///< seconds, as "0.4 ms"
    duration,   ///< seconds, as "1h 7m"
    bytes,      ///< as "41 MB"
    count,      ///< as "424,310"
    number,     ///< three significant digits
    percent,    ///< a ratio, as "71 %"
    percent1,   ///< a ratio, as "96.8 %"
    state,      ///< a word that may be coloured
    first,      ///< the first entry of a list
    list,       ///< all entries of a list
    yes_or_no,  ///< a boolean
};

struct Column {
    std::string_view heading;
    std::string_view key;
    Style style = Style::text;
    bool only_wide = false;
};

struct Reading {
    std::string_view command;   ///< "peer list"
    std::string_view endpoint;  ///< "{}" stands for the argument, escaped
    std::string_view schema;
    std::string_view rows;  ///< key of the list, or of the one object ("" for the document itself)
    std::string_view name;  ///< key of what `-o name` prints
    std::vector<Column> columns;
    /// A layout of its own for tables; null: lines and columns.
    std::string (*screen)(const Json& document, bool is_wide, bool has_color) = nullptr;
};

/// Null where `command` is no reading command.
[[nodiscard]] const Reading* find_reading(std::string_view command);

/// The columns of a job's members and links, which `job show` has below its lines.
[[nodiscard]] const std::vector<Column>& member_columns();
[[nodiscard]] const std::vector<Column>& edge_columns();
[[nodiscard]] const std::vector<Column>& ledger_columns();

}  // namespace p2p::tools
