#include "core/base/duration_text.hpp"

#include <array>
#include <cstdint>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

/// From long to short, as they are written.
constexpr std::array<Unit, 7> units{{
    {"d", 86'400'000'000'000},
    {"h", 3'600'000'000'000},
    {"m", 60'000'000'000},
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
}};

constexpr std::int64_t nanoseconds_max = 100 * std::int64_t{365} * units[0].nanoseconds;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes the characters that `belongs` accepts off the front of `rest`.
template <typename Belongs>
std::string_view take_while(std::string_view& rest, Belongs&& belongs) {
    std::size_t count = 0;
    while (count < rest.size() && belongs(rest[count])) {
        ++count;
    }
    const auto taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
}

/// digits * unit, nothing past the longest duration.
std::optional<std::int64_t> whole_part(std::string_view digits, std::int64_t unit) {
    std::int64_t value = 0;
    for (const char digit : digits) {
        value = value * 10 + (digit - '0');
        if (value > nanoseconds_max / unit) return std::nullopt;
    }
    return value * unit;
}

/// 0.digits * unit, nothing where that is no whole number of nanoseconds.
std::optional<std::int64_t> fraction_part(std::string_view digits, std::int64_t unit) {
    std::int64_t value = 0;
    for (const char digit : digits) {
        if (unit % 10 != 0) return std::nullopt;
        unit /= 10;
        value += (digit - '0') * unit;
    }
    return value;
}

/// Takes one number and its unit off the front of `rest`.
std::optional<std::int64_t> take_term(std::string_view& rest) {
    const auto whole = take_while(rest, is_digit);
    std::string_view fraction;
    if (!whole.empty() && rest.starts_with('.')) {
        rest.remove_prefix(1);
        fraction = take_while(rest, is_digit);
        if (fraction.empty()) return std::nullopt;
    }
    const auto name = take_while(rest, [](char c) { return c >= 'a' && c <= 'z'; });
    for (const auto& unit : units) {
        if (whole.empty() || unit.name != name) continue;
        const auto full = whole_part(whole, unit.nanoseconds);
        const auto part = fraction_part(fraction, unit.nanoseconds);
        if (!full || !part) return std::nullopt;
        return *full + *part;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Duration> duration_from_text(std::string_view text) {
    if (text == "0") return Duration::zero();
    if (text.empty()) return std::nullopt;
    std::int64_t sum = 0;
    while (!text.empty()) {
        const auto term = take_term(text);
        if (!term || *term > nanoseconds_max - sum) return std::nullopt;
        sum += *term;
    }
    return Duration{sum};
}

std::string duration_text(Duration duration) {
    P2P_CHECK(duration >= Duration::zero());
    std::string text;
    std::int64_t rest = duration.count();
    for (const auto& unit : units) {
        if (rest < unit.nanoseconds) continue;
        text += std::to_string(rest / unit.nanoseconds);
        text += unit.name;
        rest %= unit.nanoseconds;
    }
    return text.empty() ? "0s" : text;
}

}  // namespace p2p::core
