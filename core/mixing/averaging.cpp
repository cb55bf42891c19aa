#include "core/mixing/averaging.hpp"

#include <algorithm>
#include <optional>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

using Sequence = std::vector<Phase>;

/// The fewest factors of n, each at most `largest`; nothing where a prime of n is larger.
std::optional<std::vector<std::size_t>> smooth_factors(std::size_t n, std::size_t largest) {
    if (n == 1) return std::vector<std::size_t>{};
    std::optional<std::vector<std::size_t>> fewest;
    for (std::size_t factor = std::min(n, largest); factor > 1; --factor) {
        if (n % factor != 0) continue;
        auto others = smooth_factors(n / factor, factor);  // in falling order: each set once
        if (!others || (fewest && fewest->size() <= others->size() + 1)) continue;
        others->push_back(factor);
        fewest = std::move(others);
    }
    return fewest;
}

/// Cliques of members that differ in one digit alone, digit after digit.
Sequence hyper_hypercube(std::size_t n, const std::vector<std::size_t>& factors) {
    Sequence phases;
    std::size_t stride = 1;
    for (const std::size_t side : factors) {
        Phase phase;
        for (std::size_t member = 0; member < n; ++member) {
            const std::size_t digit = member / stride % side;
            for (std::size_t other = digit + 1; other < side; ++other) {
                phase.push_back(
                    {.low = member,
                     .high = member + (other - digit) * stride,
                     .weight = 1 / static_cast<double>(side)});
            }
        }
        phases.push_back(std::move(phase));
        stride *= side;
    }
    return phases;
}

/// Adds `sequence` for the members from `offset` on, its first phase being phase `at`.
void add(Sequence& all, const Sequence& sequence, std::size_t at, std::size_t offset) {
    all.resize(std::max(all.size(), at + sequence.size()));
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        for (WeightedPair pair : sequence[i]) {
            pair.low += offset;
            pair.high += offset;
            all[at + i].push_back(pair);
        }
    }
}

Sequence cube(std::size_t n, std::size_t base) {
    return hyper_hypercube(n, smooth_factors(n, base).value());
}

/// A digit of n in base k + 1: `cubes` sets of `size` members each, the first being `offset`.
struct Part {
    std::size_t offset;
    std::size_t cubes;
    std::size_t size;

    [[nodiscard]] std::size_t members() const { return cubes * size; }
};

std::vector<Part> digits(std::size_t n, std::size_t base) {
    std::vector<Part> parts;
    std::size_t size = 1;
    while (size * base <= n)
        size *= base;
    for (std::size_t offset = 0; offset < n; size /= base) {
        const std::size_t cubes = (n - offset) / size;
        if (cubes == 0) continue;
        parts.push_back({.offset = offset, .cubes = cubes, .size = size});
        offset += cubes * size;
    }
    return parts;
}

/// Simple Base-(k+1): each digit's set agrees; then each in turn meets all that come after it, with
/// the weight that brings its sum to its share of the whole, and agrees again.
Sequence simple_base(std::size_t n, std::size_t base) {
    const std::vector<Part> parts = digits(n, base);
    Sequence all;
    for (const Part& part : parts)
        add(all, cube(part.members(), base), /*at=*/0, part.offset);
    const std::size_t agreed = cube(parts.front().members(), base).size();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const Part& part = parts[i];
        const std::size_t rest = part.offset + part.members();
        const auto whole = static_cast<double>(n - part.offset);
        Phase phase;
        for (std::size_t member = rest; member < n; ++member) {
            for (std::size_t each = 0; each < part.cubes; ++each) {
                phase.push_back(
                    {.low = part.offset + each * part.size + (member - rest),
                     .high = member,
                     .weight = static_cast<double>(part.size) / whole});
            }
        }
        add(all, {std::move(phase)}, agreed + i, /*offset=*/0);
        for (std::size_t each = 0; each < part.cubes; ++each) {
            add(all, cube(part.size, base), agreed + i + 1, part.offset + each * part.size);
        }
    }
    return all;
}

/// Base-(k+1): p simple sequences of n / p members side by side, then a cube across them.
Sequence split_base(std::size_t n, std::size_t p, std::size_t base) {
    Sequence all;
    const std::size_t each = n / p;
    const Sequence inner = simple_base(each, base);
    for (std::size_t i = 0; i < p; ++i)
        add(all, inner, /*at=*/0, i * each);
    for (Phase phase : cube(p, base)) {
        Phase across;
        for (const WeightedPair& pair : phase) {
            for (std::size_t i = 0; i < each; ++i) {
                across.push_back(
                    {.low = pair.low * each + i,
                     .high = pair.high * each + i,
                     .weight = pair.weight});
            }
        }
        all.push_back(std::move(across));
    }
    return all;
}

}  // namespace

std::vector<Phase> exact_sequence(std::size_t n, std::size_t peers_a_phase) {
    P2P_CHECK(peers_a_phase > 0);
    if (n < 2) return {};
    const std::size_t base = peers_a_phase + 1;
    if (const auto factors = smooth_factors(n, base)) return hyper_hypercube(n, *factors);

    Sequence best = simple_base(n, base);
    for (std::size_t p = 2; p < n; ++p) {
        if (n % p != 0 || !smooth_factors(p, base)) continue;
        Sequence split = split_base(n, p, base);
        if (split.size() < best.size()) best = std::move(split);
    }
    return best;
}

}  // namespace p2p::core
