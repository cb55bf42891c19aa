#include "core/base/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace p2p::core {

namespace {

/// What comes from outside is cut before the work grows with its square.
constexpr std::size_t compared_bytes_max = 128;

std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('.') + 1);  // npos + 1 is 0: the whole name
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    a = a.substr(0, compared_bytes_max);
    b = b.substr(0, compared_bytes_max);
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> table((a.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
        return table[i * width + j];
    };
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                at(i, j) = i + j;
                continue;
            }
            const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
        }
    }
    return table.back();
}

std::optional<std::string_view> nearest_name(
    std::string_view unknown, std::span<const std::string_view> known) {
    unknown = unknown.substr(0, compared_bytes_max);
    std::optional<std::string_view> nearest;
    std::size_t least = std::max<std::size_t>(2, unknown.size() / 3) + 1;
    for (const auto name : known) {
        const std::size_t distance = edit_distance(unknown, name);
        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
    if (nearest) return nearest;
    const auto same_end = std::find_if(known.begin(), known.end(), [&](std::string_view name) {
        return last_part(name) == last_part(unknown);
    });
    if (same_end == known.end()) return std::nullopt;
    return *same_end;
}

}  // namespace p2p::core
