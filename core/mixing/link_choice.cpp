#include "core/mixing/link_choice.hpp"

#include <algorithm>
#include <limits>

namespace p2p::core {

namespace {

constexpr Duration keep_chosen = std::chrono::seconds{2};
constexpr Duration keep_drawn = std::chrono::seconds{20};
constexpr double hysteresis = 4.0 / 3;

}  // namespace

void LinkChoice::on_swapped(PeerId peer, double removed, double seconds) {
    Worth& worth = worths_[peer];
    worth.removed.add(removed);
    worth.seconds.add(std::max(seconds, 1e-6));
}

std::optional<double> LinkChoice::reward(PeerId peer) const {
    const auto found = worths_.find(peer);
    if (found == worths_.end()) return std::nullopt;
    return found->second.removed.value_or(0) / found->second.seconds.value_or(1);
}

double LinkChoice::best_reward() const {
    double best = 0;
    for (const PeerId peer : chosen_)
        best = std::max(best, reward(peer).value_or(0));
    return best;
}

bool LinkChoice::is_due(TimePoint now) const {
    return now >= chosen_at_ + keep_chosen;
}

void LinkChoice::choose(
    TimePoint now, const std::vector<MemberPlace>& up, const std::string& own_site, Rng& rng) {
    std::set<PeerId> ids;
    for (const MemberPlace& place : up)
        ids.insert(place.id);
    chosen_at_ = now;
    if (ids.size() <= links_max) {
        chosen_ = std::move(ids);
        return;
    }
    if (!drawn_ || !ids.contains(*drawn_) || now >= drawn_at_ + keep_drawn) {
        drawn_ = up[rng.below(up.size())].id;
        drawn_at_ = now;
    }

    struct Candidate {
        PeerId id;
        bool is_outside;
        double worth;
    };

    std::vector<Candidate> candidates;
    for (const MemberPlace& place : up) {
        const auto known = reward(place.id);
        const double worth = known.value_or(std::numeric_limits<double>::max() / 2);
        candidates.push_back(
            {place.id, place.site != own_site, has(place.id) ? worth * hysteresis : worth});
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.worth > b.worth;
    });
    std::set<PeerId> chosen{*drawn_};
    const auto outside = std::find_if(
        candidates.begin(), candidates.end(), [](const auto& each) { return each.is_outside; });
    if (outside != candidates.end()) chosen.insert(outside->id);
    for (const Candidate& candidate : candidates) {
        if (chosen.size() >= links_max) break;
        chosen.insert(candidate.id);
    }
    chosen_ = std::move(chosen);
}

}  // namespace p2p::core
