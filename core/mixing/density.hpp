#pragma once

// A graph over the members that is as sparse as a bound on its mixing allows, and cheap where it
// can be: links inside a site before links across.
//
// From a ring through the sites, one link at a time where it brings the two sides of the slowest
// mode together for the least cost, until the second eigenvalue is under the bound (Sato et al.
// 2020, whose densities come from the rates of radio links; the link to add is Ghosh, Boyd 2006,
// "Growing well-connected graphs"). A function of the members alone; the same bits everywhere.

#include <cstddef>
#include <vector>

#include "core/mixing/averaging.hpp"
#include "core/mixing/meetings.hpp"

namespace p2p::core {

/// Pairs by index in `members` with their Metropolis weights, all at once in one phase. Beyond 64
/// members, where eigenvalues take too long: the ring and hops of powers of two.
/// @pre `members` are in the order of their ids
[[nodiscard]] Phase sparse_graph(const std::vector<MemberPlace>& members, double eigenvalue_max);

/// The second largest modulus among the eigenvalues of I + sum of weight x (e_i - e_j)(e_j - e_i)'
/// over the pairs of a phase: by what the distance to the mean shrinks in a round, at least.
[[nodiscard]] double second_eigenvalue(const Phase& phase, std::size_t members);

}  // namespace p2p::core
