#pragma once

// Which links a node mixes over, where it has more than a handful: by reward, above a floor.
//
// The reward of a link is the consensus distance that its swaps remove in a second of the link's
// time. Fast links only would be a trap, since the graph falls apart: one link out of the site and
// one drawn at random are always among the chosen. A link not tried yet counts as the best, so that
// each is tried. What is chosen is kept for a while, and a challenger must be better by a third.
// When a swap opens on a chosen link is mixer's business; others' opens are answered on any link.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/ewma.hpp"
#include "core/base/rng.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/mixing/meetings.hpp"

namespace p2p::core {

class LinkChoice {
  public:
    static constexpr std::size_t links_max = 8;

    /// A swap was applied: the square of the relative distance that it removed, and what it took.
    void on_swapped(PeerId peer, double removed, double seconds);

    /// Whether it is time to choose anew though the same are up.
    [[nodiscard]] bool is_due(TimePoint now) const;

    void choose(
        TimePoint now, const std::vector<MemberPlace>& up, const std::string& own_site, Rng& rng);

    [[nodiscard]] bool has(PeerId peer) const { return chosen_.contains(peer); }

    [[nodiscard]] std::size_t count() const { return chosen_.size(); }

    [[nodiscard]] std::optional<double> reward(PeerId peer) const;

    /// Of the chosen; 0 before any was measured.
    [[nodiscard]] double best_reward() const;

  private:
    struct Worth {
        Ewma removed{0.1};
        Ewma seconds{0.1};
    };

    std::map<PeerId, Worth> worths_;
    std::set<PeerId> chosen_;
    std::optional<PeerId> drawn_;
    TimePoint chosen_at_{};
    TimePoint drawn_at_{};
};

}  // namespace p2p::core
