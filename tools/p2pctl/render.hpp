#pragma once

// A document in every format: table, wide, json, jsonl, csv, name.
//
// Pure: a text comes out, printable ASCII but for JSON (where the serializer escapes). Columns are
// lined up and two blanks apart.

#include <string>
#include <string_view>
#include <vector>

#include "tools/p2pctl/columns.hpp"
#include "tools/p2pctl/invocation.hpp"

namespace p2p::tools {

struct Look {
    Format format = Format::table;
    bool has_header = true;
    bool has_color = false;
};

[[nodiscard]] std::string render(const Reading& reading, const Json& document, const Look& look);

/// Rows of a list under their headings.
[[nodiscard]] std::string render_table(
    const std::vector<Column>& all, const Json& rows, const Look& look);

/// "name   value" lines, one a column whose value is known.
[[nodiscard]] std::string render_card(
    const std::vector<Column>& columns, const Json& object, bool has_color);

/// One value as a table shows it; "-" where it is not known.
[[nodiscard]] std::string cell(const Json& row, const Column& column);

/// `text` in the colour of the state that it is, padded to `width` outside of the colour.
[[nodiscard]] std::string painted(std::string_view text, bool has_color);

/// A label of a screen, padded: "network    ".
[[nodiscard]] std::string label(std::string_view name, std::size_t width);

}  // namespace p2p::tools
