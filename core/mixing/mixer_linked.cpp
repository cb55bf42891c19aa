// Mixing over chosen links (core/mixing/mixer): all of those inside the site at once, those out of
// it a window at a time, each drawn by what it is worth.

#include <algorithm>

#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

// Parts of the budget (weights.hpp) where there are both kinds of links.
constexpr float budget_inside = 0.25F;
constexpr float budget_outside = 0.5F;

}  // namespace

void Mixer::plan_linked(TimePoint now, MixingOutputs& out) {
    choose_links(now);
    for_each_up([&](Slot& slot) {
        const PeerId peer = slot.edge.key().peer;
        if (is_outside(peer) || !link_choice_.has(peer)) return;
        if (!slot.edge.is_idle() || slot.retry_at > now || !is_step_due(slot.steps_at_end)) return;
        (void)open(now, slot, out);
    });
    plan_outside(now, out);
}

/// Opens until the window is full. Those that others opened count, too: they use the same wires.
void Mixer::plan_outside(TimePoint now, MixingOutputs& out) {
    for (std::uint32_t shard = 0; shard < config_.layout.shard_count(); ++shard) {
        std::size_t open_now = 0;
        std::vector<Slot*> idle;
        double sum = 0;
        for (auto& [peer, partner] : partners_) {
            if (!partner.is_up() || !is_outside(peer)) continue;
            Slot& slot = partner.slots[shard];
            const bool is_late = slot.edge.opened_at()
                                 && now - *slot.edge.opened_at() > std::chrono::seconds{1}
                                 && slot.edge.phase() == SwapPhase::opening;
            if (!slot.edge.is_idle() && !is_late) ++open_now;
            const bool is_ready = slot.edge.is_idle() && slot.retry_at <= now
                                  && is_step_due(slot.steps_at_end) && link_choice_.has(peer);
            if (!is_ready) continue;
            idle.push_back(&slot);
            sum += worth(peer);
        }
        while (open_now < window_.size() && !idle.empty()) {
            double drawn = rng_.uniform() * sum;
            auto at = idle.begin();
            for (; at + 1 != idle.end(); ++at) {
                drawn -= worth((*at)->edge.key().peer);
                if (drawn < 0) break;
            }
            Slot& slot = **at;
            sum -= worth(slot.edge.key().peer);
            idle.erase(at);
            if (open(now, slot, out)) ++open_now;
        }
    }
}

/// What a link is drawn by: its reward, and at least a quarter of the best one's, so that none is
/// left out for long.
double Mixer::worth(PeerId peer) const {
    const double best = link_choice_.best_reward();
    if (best <= 0) return 1;
    return std::max(link_choice_.reward(peer).value_or(best), best / 4);
}

std::optional<float> Mixer::linked_share(TimePoint now, const Slot& slot) const {
    std::size_t inside = 0;
    std::size_t outside = 0;
    for (const auto& [peer, partner] : partners_) {
        if (partner.is_up()) ++(is_outside(peer) ? outside : inside);
    }
    const bool is_far = is_outside(slot.edge.key().peer);
    const bool has_both = inside > 0 && outside > 0;
    const float budget = !has_both ? budget_total : is_far ? budget_outside : budget_inside;
    const std::size_t count =
        is_far ? std::min(window_.size(), outside) : std::min(inside, LinkChoice::links_max);
    const float wanted =
        std::min(0.5F, budget / static_cast<float>(std::max<std::size_t>(count, 1)));
    const float left = budget_total - budget_taken(now, slot.edge.key().shard);
    const float share = std::min(wanted, left);
    return share < wanted / 4 ? std::nullopt : std::optional(share);
}

void Mixer::choose_links(TimePoint now) {
    std::vector<MemberPlace> up;
    std::size_t outside = 0;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up()) continue;
        const auto site = sites_.find(peer);
        up.push_back({.id = peer, .site = site == sites_.end() ? "" : site->second});
        if (is_outside(peer)) ++outside;
    }
    link_choice_.refresh(now, up, config_.site, rng_);
    window_.limit_to(outside);
}

bool Mixer::has_outside() const {
    return std::any_of(partners_.begin(), partners_.end(), [&](const auto& entry) {
        return entry.second.is_up() && is_outside(entry.first);
    });
}

bool Mixer::is_outside(PeerId peer) const {
    const auto site = sites_.find(peer);
    return (site == sites_.end() ? std::string{} : site->second) != config_.site;
}

}  // namespace p2p::core
