#include "core/mixing/density.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace p2p::core {

namespace {

using Link = std::pair<std::size_t, std::size_t>;  // the smaller first

constexpr std::size_t members_max = 64;
constexpr int iterations = 200;
constexpr double cost_across = 4;  // a link out of a site, over one inside

Link link_of(std::size_t a, std::size_t b) {
    return {std::min(a, b), std::max(a, b)};
}

/// Metropolis: 1 / (1 + the larger degree) (Xiao, Boyd, Lall 2005, eq. 7).
Phase weighted(const std::set<Link>& links, std::size_t members) {
    std::vector<std::size_t> degree(members);
    for (const auto& [a, b] : links) {
        ++degree[a];
        ++degree[b];
    }
    Phase phase;
    for (const auto& [a, b] : links) {
        const double weight = 1.0 / static_cast<double>(1 + std::max(degree[a], degree[b]));
        phase.push_back({.low = a, .high = b, .weight = weight});
    }
    return phase;
}

std::vector<double> mixed(const Phase& phase, const std::vector<double>& x) {
    std::vector<double> y = x;
    for (const WeightedPair& pair : phase) {
        const double moved = pair.weight * (x[pair.high] - x[pair.low]);
        y[pair.low] += moved;
        y[pair.high] -= moved;
    }
    return y;
}

struct SlowestMode {
    double eigenvalue = 0;  ///< its modulus
    std::vector<double> vector;
};

/// Power iteration on the square, orthogonal to the mean; the start is fixed.
SlowestMode slowest_mode(const Phase& phase, std::size_t members) {
    std::vector<double> x(members);
    for (std::size_t i = 0; i < members; ++i)
        x[i] = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
    double modulus = 0;
    for (int k = 0; k < iterations; ++k) {
        const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(members);
        double squares = 0;
        for (double& value : x) {
            value -= mean;
            squares += value * value;
        }
        if (squares == 0) break;
        for (double& value : x)
            value /= std::sqrt(squares);
        x = mixed(phase, mixed(phase, x));
        modulus = 0;
        for (const double value : x)
            modulus += value * value;
    }
    return {.eigenvalue = std::pow(modulus, 0.25), .vector = std::move(x)};
}

std::set<Link> ring_of(const std::vector<std::size_t>& order) {
    std::set<Link> links;
    for (std::size_t i = 0; i < order.size() && order.size() > 1; ++i)
        links.insert(link_of(order[i], order[(i + 1) % order.size()]));
    return links;
}

}  // namespace

double second_eigenvalue(const Phase& phase, std::size_t members) {
    return members < 2 ? 0 : slowest_mode(phase, members).eigenvalue;
}

Phase sparse_graph(const std::vector<MemberPlace>& members, double eigenvalue_max) {
    const std::size_t n = members.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return members[a].site < members[b].site;
    });
    std::set<Link> links = ring_of(order);
    if (n > members_max) {
        for (std::size_t hop = 2; hop < n; hop *= 2) {
            for (std::size_t i = 0; i < n; ++i)
                links.insert(link_of(order[i], order[(i + hop) % n]));
        }
        return weighted(links, n);
    }
    while (links.size() < n * (n - 1) / 2) {
        const SlowestMode mode = slowest_mode(weighted(links, n), n);
        if (mode.eigenvalue <= eigenvalue_max) break;
        Link best{};
        double most = -1;
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = a + 1; b < n; ++b) {
                if (links.contains({a, b})) continue;
                const double apart = mode.vector[a] - mode.vector[b];
                const bool is_across = members[a].site != members[b].site;
                const double worth = apart * apart / (is_across ? cost_across : 1);
                if (worth <= most) continue;
                most = worth;
                best = {a, b};
            }
        }
        links.insert(best);
    }
    return weighted(links, n);
}

}  // namespace p2p::core
