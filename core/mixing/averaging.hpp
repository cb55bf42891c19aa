#pragma once

// Exact averages in few rounds of few meetings: sequences of weighted pairs.
//
// After all phases of a sequence every value is the mean of all. Sizes whose prime factors are at
// most k + 1 are a hyper-hypercube: cliques along one side of a grid after the other (2^m members
// and k = 1 are the butterfly). Other sizes are a Base-(k+1) sequence (Takezawa et al. 2023,
// arXiv:2305.11420, algorithms 1 to 3). Who the numbered members are is meetings.hpp's.

#include <cstddef>
#include <vector>

namespace p2p::core {

/// Both ends move by weight * (the other's value - the own).
struct WeightedPair {
    std::size_t low = 0;
    std::size_t high = 0;
    double weight = 0;

    bool operator==(const WeightedPair&) const = default;
};

/// Pairs that meet at the same time, each from the values before the phase.
using Phase = std::vector<WeightedPair>;

/// For members 0 to n - 1, each in at most `peers_a_phase` pairs of a phase. Empty for n < 2.
/// @pre peers_a_phase > 0
[[nodiscard]] std::vector<Phase> exact_sequence(std::size_t n, std::size_t peers_a_phase);

}  // namespace p2p::core
