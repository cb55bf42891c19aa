#include "tools/p2pctl/render.hpp"

#include <algorithm>

#include "proto/json.hpp"
#include "tools/p2pctl/human.hpp"

namespace p2p::tools {

namespace {

constexpr std::string_view gap = "  ";

std::string number_text(double value, Style style) {
    switch (style) {
        case Style::delay: return human_delay(value);
        case Style::duration: return human_duration(value);
        case Style::bytes: return human_bytes(value);
        case Style::count: return human_count(static_cast<std::uint64_t>(std::max(value, 0.0)));
        case Style::percent: return human_percent(value);
        case Style::percent1: return human_percent(value, 1);
        case Style::text:
        case Style::id:
        case Style::number:
        case Style::state:
        case Style::first:
        case Style::list:
        case Style::yes_or_no: return human_number(value);
    }
    return human_number(value);
}

std::string list_text(const Json& list, Style style) {
    std::string text;
    for (const Json& entry : list) {
        if (!text.empty()) text += ", ";
        text += printable(text_at(entry, ""));
        if (style == Style::first) break;
    }
    return text.empty() ? "-" : text;
}

std::vector<Column> shown_columns(const std::vector<Column>& columns, Format format) {
    std::vector<Column> shown;
    for (const Column& column : columns) {
        if (format != Format::table || !column.only_wide) shown.push_back(column);
    }
    return shown;
}

std::string csv_quoted(const std::string& value) {
    std::string quoted = "\"";
    for (const char letter : printable(value)) {
        if (letter == '"') quoted += '"';
        quoted += letter;
    }
    return quoted + "\"";
}

std::string csv_field(const Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return csv_quoted(value.get<std::string>());
    if (!value.is_array()) return proto::json_text(value);
    std::string joined;
    for (const Json& entry : value)
        joined += (joined.empty() ? "" : " ") + text_at(entry, "");
    return csv_quoted(joined);
}

std::string render_csv(const std::vector<Column>& columns, const Json& rows, bool has_header) {
    std::string text;
    const auto add_line = [&](auto field) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += (i == 0 ? "" : ",") + field(columns[i]);
        }
        text += "\n";
    };
    if (has_header) add_line([](const Column& column) { return std::string(column.key); });
    for (const Json& row : rows) {
        add_line([&](const Column& column) { return csv_field(value_at(row, column.key)); });
    }
    return text;
}

std::string render_lines(const Json& rows) {
    std::string text;
    for (const Json& row : rows)
        text += proto::json_text(row) + "\n";
    return text;
}

std::string render_names(const Json& rows, std::string_view key) {
    std::string text;
    for (const Json& row : rows)
        text += printable(text_at(row, key)) + "\n";
    return text;
}

/// What the command is about as a list, also where it is one object.
Json rows_of(const Reading& reading, const Json& document) {
    const Json& rows = value_at(document, reading.rows);
    return rows.is_array() ? rows : Json::array({rows});
}

}  // namespace

std::string painted(std::string_view text, bool has_color) {
    if (!has_color) return std::string(text);
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), text) != words.end();
    };
    const char* color = nullptr;
    if (is_one_of({"connected", "running", "done", "ready"})) color = "\x1b[32m";
    if (is_one_of({"waiting", "suspect", "paused", "connecting", "warning", "finishing"})) {
        color = "\x1b[33m";
    }
    if (is_one_of({"failed", "blocked", "error", "stopping", "no_network"})) color = "\x1b[31m";
    return color == nullptr ? std::string(text) : color + std::string(text) + "\x1b[0m";
}

std::string label(std::string_view name, std::size_t width) {
    std::string text(name);
    text.resize(std::max(width, name.size() + gap.size()), ' ');
    return text;
}

std::string cell(const Json& row, const Column& column) {
    const Json& value = value_at(row, column.key);
    if (value.is_array()) return list_text(value, column.style);
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number()) return number_text(value.get<double>(), column.style);
    const std::string text = printable(text_at(value, ""));
    if (text.empty()) return "-";
    return column.style == Style::id ? text.substr(0, 6) : text;
}

std::string render_table(const std::vector<Column>& all, const Json& rows, const Look& look) {
    const auto columns = shown_columns(all, look.format);
    std::vector<std::vector<std::string>> lines;
    if (look.has_header) {
        lines.emplace_back();
        for (const Column& column : columns)
            lines.back().emplace_back(column.heading);
    }
    for (const Json& row : rows) {
        lines.emplace_back();
        for (const Column& column : columns)
            lines.back().push_back(cell(row, column));
    }
    std::vector<std::size_t> widths(columns.size(), 0);
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    }
    std::string text;
    for (const auto& line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const bool is_state = columns[i].style == Style::state;
            row += painted(line[i], look.has_color && is_state);
            row.append(widths[i] - line[i].size() + gap.size(), ' ');
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

std::string render_card(const std::vector<Column>& columns, const Json& object, bool has_color) {
    std::size_t width = 0;
    for (const Column& column : columns)
        width = std::max(width, column.heading.size());
    std::string text;
    for (const Column& column : columns) {
        const std::string value = cell(object, column);
        if (value == "-") continue;
        const bool is_state = column.style == Style::state;
        text += label(column.heading, width + gap.size()) + painted(value, has_color && is_state);
        text += "\n";
    }
    return text;
}

std::string render(const Reading& reading, const Json& document, const Look& look) {
    const bool is_list = value_at(document, reading.rows).is_array();
    switch (look.format) {
        case Format::json: return proto::json_pretty_text(document) + "\n";
        case Format::jsonl:
            return is_list ? render_lines(rows_of(reading, document))
                           : proto::json_text(document) + "\n";
        case Format::name: return render_names(rows_of(reading, document), reading.name);
        case Format::csv:
            return render_csv(reading.columns, rows_of(reading, document), look.has_header);
        case Format::table:
        case Format::wide: break;
    }
    if (reading.screen != nullptr) {
        return reading.screen(document, look.format == Format::wide, look.has_color);
    }
    const Json& rows = value_at(document, reading.rows);
    if (is_list) return render_table(reading.columns, rows, look);
    return render_card(reading.columns, rows, look.has_color);
}

}  // namespace p2p::tools
