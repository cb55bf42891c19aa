// What a mixer says of its decisions, to people (core/mixing/mixer): each with what it was drawn
// from, in the words of the README's glossary.

#include <algorithm>
#include <cstdio>
#include <map>

#include "core/mixing/mixer.hpp"

namespace p2p::core {

namespace {

std::string seconds_text(double seconds) {
    char text[32];
    if (seconds < 1) {
        std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    } else {
        std::snprintf(text, sizeof text, "%.3g s", seconds);
    }
    return text;
}

std::string number_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", number);
    return text;
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

std::vector<std::string> Mixer::choices() const {
    std::vector<std::string> words;
    std::vector<double> swap_seconds;
    std::map<CodecId, std::size_t> codecs;
    std::size_t up = 0;
    std::size_t chosen = 0;
    for (const auto& [peer, partner] : partners_) {
        if (!partner.is_up()) continue;
        ++up;
        if (link_choice_.has(peer)) ++chosen;
        if (partner.swap_seconds.has_value())
            swap_seconds.push_back(partner.swap_seconds.value_or(0));
        for (const Slot& slot : partner.slots)
            ++codecs[slot.choice.best()];
    }
    if (swap_seconds.empty() || !is_running_) return words;

    const double typical = median_of(swap_seconds);
    const double slowest = *std::max_element(swap_seconds.begin(), swap_seconds.end());
    if (const double step = step_seconds_.value_or(0); step > 0) {
        words.push_back(
            "rho " + number_text(typical / step) + ": a swap takes " + seconds_text(typical)
            + " (the slowest link " + seconds_text(slowest) + "), a local step "
            + seconds_text(step));
    }
    if (config_.recipe.partners.kind == Partners::linked) {
        words.push_back(
            "links: " + std::to_string(chosen) + " of " + std::to_string(up)
            + (chosen < up ? ", by the distance that they remove a second, one out of the site and "
                             "one drawn among them"
                           : ", since they are no more than a handful"));
    }
    if (config_.recipe.partners.kind == Partners::linked && window_.stretch() > 1) {
        words.push_back(
            "swaps out of the site: " + std::to_string(window_.size())
            + " at once, since they take " + number_text(window_.stretch())
            + " times the least that their links have shown");
    }
    if (config_.recipe.is_codec_steered) {
        std::string text = "codec:";
        for (const auto& [codec, count] : codecs) {
            text += (text.back() == ':' ? " " : ", ") + std::string(codec_name(codec)) + " on "
                    + std::to_string(count) + (count == 1 ? " shard's link" : " shards' links");
        }
        words.push_back(text + ", by the weight of their swaps a second");
    }
    if (config_.recipe.outer.kind != Outer::none && !rounds_) {
        const OuterSettings outer = outer_settings();
        words.push_back(
            "outer step: rate " + number_text(outer.rate) + ", momentum "
            + number_text(outer.momentum) + " for " + std::to_string(members_) + " nodes, each "
            + std::to_string(config_.recipe.outer.every_steps)
            + " steps and no sooner than the slowest link's swap; taken to "
            + number_text(100 * outer.strength) + " %");
    }
    return words;
}

}  // namespace p2p::core
