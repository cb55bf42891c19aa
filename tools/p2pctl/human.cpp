#include "tools/p2pctl/human.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace p2p::tools {

namespace {

/// At most one decimal below a hundred, none above; no ".0".
std::string short_number(double value) {
    std::array<char, 32> text{};
    const bool is_whole = value >= 99.95 || std::abs(value - std::round(value)) < 0.05;
    std::snprintf(text.data(), text.size(), is_whole ? "%.0f" : "%.1f", value);
    return text.data();
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string safe;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '\\') {
            safe += "\\\\";
        } else if (byte >= 0x20 && byte < 0x7f) {
            safe += letter;
        } else {
            safe += "\\x";
            safe += digits[byte >> 4U];
            safe += digits[byte & 15U];
        }
    }
    return safe;
}

std::string human_duration(double seconds) {
    constexpr std::uint64_t minute = 60;
    constexpr std::uint64_t hour = 60 * minute;
    constexpr std::uint64_t day = 24 * hour;
    const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
    const auto two = [](std::uint64_t a, const char* unit_a, std::uint64_t b, const char* unit_b) {
        std::string text = std::to_string(a) + unit_a;
        if (b > 0) text += " " + std::to_string(b) + unit_b;
        return text;
    };
    if (whole < minute) return std::to_string(whole) + " s";
    if (whole < hour) return std::to_string(whole / minute) + " m";
    if (whole < day) return two(whole / hour, "h", whole % hour / minute, "m");
    return two(whole / day, "d", whole % day / hour, "h");
}

std::string human_delay(double seconds) {
    if (seconds < 1) return short_number(seconds * 1e3) + " ms";
    return short_number(seconds) + " s";
}

std::string human_bytes(double bytes) {
    constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return short_number(bytes) + " " + units[unit];
}

std::string human_percent(double ratio, int decimals) {
    if (decimals > 0) return short_number(ratio * 100) + " %";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.0f %%", std::floor(ratio * 100 + 1e-9));
    return text.data();
}

std::string human_count(std::uint64_t count) {
    std::string text = std::to_string(count);
    for (std::size_t i = text.size(); i > 3;) {
        i -= 3;
        text.insert(i, 1, ',');
    }
    return text;
}

std::string human_number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), std::abs(value) >= 1000 ? "%.0f" : "%.3g", value);
    return text.data();
}

std::string human_clock(const std::string& rfc3339) {
    std::tm parts{};
    const char* end = ::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end == nullptr || *end != '\0') return printable(rfc3339);
    const std::time_t at = ::timegm(&parts);
    std::tm local{};
    std::array<char, 32> text{};
    if (::localtime_r(&at, &local) == nullptr) return printable(rfc3339);
    return {text.data(), std::strftime(text.data(), text.size(), "%H:%M", &local)};
}

}  // namespace p2p::tools
