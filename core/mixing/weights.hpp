#pragma once

// How much of its budget a node offers a swap (design: MIXING, "The budget rule").
//
// Overlapping swaps whose snapshots are stale overshoot when their weights add up to too much:
// with continuous swaps the delayed system is stable while the weights of all swaps that a node has
// open sum to less than pi/4. So each end offers a share out of 0.75, and the weight of the swap is
// the smaller of the two. Where swaps of two rounds never overlap, 1 / (1 + degree) is offered and
// the smaller is the Metropolis weight (Xiao, Boyd, Lall 2005, eq. 7).

#include <cstddef>
#include <optional>

namespace p2p::core {

inline constexpr float budget_total = 0.75F;
inline constexpr float share_min = 1.0F / 16;

enum class ShareRule {
    one_partner,  ///< min(1/2, what is left); nothing below 1/16
    all_links,    ///< 0.75 / links, within what is left
    metropolis,   ///< 1 / (1 + links), within 1 less what is taken
    unbounded,    ///< 1/2 whatever is open: only to show in tests what the rule is for
};

/// The share to offer a swap, or nothing: no budget is left for it.
///
/// `links` counts the links that are up and mixed over, the asking one included; `taken` is the sum
/// of what this shard's open swaps hold already.
[[nodiscard]] std::optional<float> offered_share(ShareRule rule, std::size_t links, float taken);

}  // namespace p2p::core
