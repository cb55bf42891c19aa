// Mixing over chosen links (core/mixing/mixer): all of those inside the site at once, those out of
// it a window at a time, each drawn by what it is worth.

#include <algorithm>
#include <utility>

#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

// Parts of the budget (weights.hpp) where there are both kinds of links. Neither takes the other's:
// swaps over slow wires are open for long, and would leave nothing to a node's fast links.
constexpr float budget_inside = 0.25F;
constexpr float budget_outside = 0.5F;

}  // namespace

void Mixer::plan_linked(TimePoint now, MixingOutputs& out) {
    choose_links(now);
    window_.limit_to(link_counts().outside);
    for_each_up([&](Slot& slot) {
        const PeerId peer = slot.edge.key().peer;
        const bool is_chosen = !is_outside(peer) && link_choice_.has(peer);
        if (is_chosen && may_open(now, slot)) (void)open(now, slot, out);
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
            if (!slot.edge.is_idle() && !is_unheard(now, slot.edge)) ++open_now;
            if (!may_open(now, slot) || !link_choice_.has(peer)) continue;
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
    const auto [inside, outside] = link_counts();
    const bool is_far = is_outside(slot.edge.key().peer);
    const bool has_both = inside > 0 && outside > 0;
    const LinkKind kind = !has_both ? LinkKind::any : is_far ? LinkKind::outside : LinkKind::inside;
    const float budget = !has_both ? budget_total : is_far ? budget_outside : budget_inside;
    const std::size_t count =
        is_far ? std::min(window_.size(), outside) : std::min(inside, LinkChoice::links_max);
    const float wanted =
        std::min(0.5F, budget / static_cast<float>(std::max<std::size_t>(count, 1)));
    const float left = budget - budget_taken(now, slot.edge.key().shard, kind);
    const float share = std::min(wanted, left);
    return share < wanted / 4 ? std::nullopt : std::optional(share);
}

/// From an applied swap, what the recipe's choices are made by.
void Mixer::learn(TimePoint now, Slot& slot, const SwapEnded& ended) {
    const Recipe& recipe = config_.recipe;
    const auto weight = static_cast<double>(ended.weight);
    const double seconds = to_seconds(ended.took);
    const bool is_far = is_outside(ended.peer);
    if (recipe.outer.kind != Outer::none && !rounds_ && (is_far || link_counts().outside == 0)) {
        mixed_weight_.add(now, weight / config_.layout.shard_count());
    }
    if (recipe.is_codec_steered && !ended.keyframe) {
        // A coding that keeps the share gamma brings ends together by its square: what it leaves
        // out of the values, references lack (Koloskova et al. 2019, theorem 2).
        slot.choice.on_swapped(ended.codec, weight * static_cast<double>(ended.gamma), seconds);
    }
    if (recipe.partners.kind != Partners::linked) return;
    if (is_far && !ended.keyframe) window_.on_swapped(ended.peer, std::max(seconds, 1e-6));
    const double ratio = slot.distance_ratio.value_or(0);
    link_choice_.on_swapped(ended.peer, weight * (1 - weight) * ratio * ratio, seconds);
}

void Mixer::choose_links(TimePoint now) {
    if (!std::exchange(have_links_changed_, false) && !link_choice_.is_due(now)) return;
    std::vector<MemberPlace> up;
    for (const auto& [peer, partner] : partners_) {
        if (partner.is_up()) up.push_back({.id = peer, .site = site_of(peer)});
    }
    link_choice_.choose(now, up, config_.site, rng_);
}

Mixer::LinkCounts Mixer::link_counts() const {
    LinkCounts counts;
    for (const auto& [peer, partner] : partners_) {
        if (partner.is_up()) ++(is_outside(peer) ? counts.outside : counts.inside);
    }
    return counts;
}

void Mixer::set_site(PeerId peer, const std::string& site) {
    const auto [found, is_new] = places_.try_emplace(peer);
    Place& known = found->second;
    if (!is_new && known.site == site) return;
    known = {.site = site, .is_outside = site != config_.site};
    have_links_changed_ = true;
}

const std::string& Mixer::site_of(PeerId peer) const {
    static const std::string nowhere;
    const auto found = places_.find(peer);
    return found == places_.end() ? nowhere : found->second.site;
}

bool Mixer::is_outside(PeerId peer) const {
    const auto found = places_.find(peer);
    return found == places_.end() ? !config_.site.empty() : found->second.is_outside;
}

}  // namespace p2p::core
