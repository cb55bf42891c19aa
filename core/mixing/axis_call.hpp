#pragma once

// The shape of an axis' value: a name, and numbers in parentheses behind it. What they mean is
// core/mixing/axes.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace p2p::core {

/// "name(1,0.5)" as a name and numbers; a part that is no number makes it nothing.
struct Call {
    std::string name;
    std::vector<double> numbers;
    bool is_all = false;  ///< "name(all)"

    [[nodiscard]] double number(std::size_t i, double fallback) const {
        return i < numbers.size() ? numbers[i] : fallback;
    }
};

inline std::optional<double> read_number(std::string_view text) {
    double number{};
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || stopped != text.data() + text.size()) return std::nullopt;
    return number;
}

inline std::optional<Call> read_call(std::string_view text) {
    const std::size_t open = text.find('(');
    Call call{.name = std::string(text.substr(0, open)), .numbers = {}};
    if (open == std::string_view::npos) return call;
    if (!text.ends_with(')')) return std::nullopt;
    std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    if (inside == "all") {
        call.is_all = true;
        return call;
    }
    while (true) {
        const std::size_t comma = inside.find(',');
        std::string_view part = inside.substr(0, comma);
        while (part.starts_with(' '))
            part.remove_prefix(1);
        const auto number = read_number(part);
        if (!number) return std::nullopt;
        call.numbers.push_back(*number);
        if (comma == std::string_view::npos) return call;
        inside.remove_prefix(comma + 1);
    }
}

/// A number of steps, members or parts.
inline std::optional<std::uint32_t> as_count(double number, double low, double high = 1e6) {
    if (!(number >= low && number <= high)) return std::nullopt;
    const auto count = static_cast<std::uint32_t>(number);
    return static_cast<double>(count) == number ? std::optional(count) : std::nullopt;
}

}  // namespace p2p::core
