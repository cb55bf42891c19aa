#include "core/job/report_relay.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/limits.hpp"

namespace p2p::core {

namespace {

// A copy in 24 or so is spent on finding out whether a tree is still the best.
constexpr std::uint64_t reports_quiet_least = 16;
constexpr std::uint64_t reports_quiet_spread = 16;

constexpr double report_bytes = 512;  // sealed, about
constexpr double bytes_a_second = 4096;
constexpr int age_parts = 4;
constexpr int spacings_silent = 3;
constexpr std::size_t offers_max = limits::job_members_max;

void append(
    PeerId to,
    ReportRoute route,
    const std::vector<PeerId>& authors,
    std::vector<ReportRelay::Wish>& wishes) {
    for (std::size_t i = 0; i < authors.size(); ++i) {
        if (i % limits::wish_authors_max == 0)
            wishes.push_back({.to = to, .route = route, .authors = {}});
        wishes.back().authors.push_back(authors[i]);
    }
}

}  // namespace

ReportRelay::Links ReportRelay::bit_of(PeerId peer) const {
    const auto found = links_.find(peer);
    return found == links_.end() ? 0 : found->second;
}

ReportRelay::Links ReportRelay::all_links() const {
    Links all = 0;
    for (const auto& [peer, bit] : links_)
        all |= bit;
    return all;
}

void ReportRelay::on_linked(PeerId peer) {
    const Links taken = all_links();
    links_.emplace(peer, ~taken & (taken + 1));  // the lowest free one, or none
}

void ReportRelay::on_unlinked(PeerId peer) {
    const Links bit = bit_of(peer);
    links_.erase(peer);
    if (bit == 0) return;
    refusing_ &= ~bit;
    for (auto& [id, offer] : offers_) {
        offer.from &= ~bit;
        offer.asked &= ~bit;
    }
    for (auto& each : authors_) {
        Author& author = each.second;
        author.quiet &= ~bit;
        author.refused &= ~bit;
        author.to_refuse &= ~bit;
        author.to_ask &= ~bit;
        author.to_offer &= ~bit;
        if (author.parent == bit) ask_all(each);
    }
}

void ReportRelay::note(Authors::value_type& author) {
    if (std::exchange(author.second.is_noted, true)) return;
    noted_.push_back(&author);
}

/// Its tree does not come here any more: whoever has news of it may bring them.
void ReportRelay::ask_all(Authors::value_type& each) {
    Author& author = each.second;
    author.parent = 0;
    author.to_refuse = 0;
    author.refused = 0;
    author.to_ask = all_links();
    note(each);
}

void ReportRelay::refuse(Authors::value_type& author, Links bit) {
    author.second.to_refuse |= bit;
    note(author);
}

std::uint32_t ReportRelay::block_at(Duration age) const {
    const double whole = static_cast<double>(authors_.size()) * report_bytes / bytes_a_second;
    const double seconds = std::min(whole, to_seconds(age) / age_parts);
    const double reports = std::clamp(seconds / to_seconds(interval_), 1.0, 65536.0);
    return std::bit_floor(static_cast<std::uint32_t>(reports));
}

ReportRelay::Passing ReportRelay::on_report(
    TimePoint now, PeerId from, PeerId id, const JobReport& report, bool is_news) {
    const Links bit = bit_of(from);
    const auto [found, is_first] = authors_.try_emplace(id);
    Author& author = found->second;
    if (is_first) author.heard = now;
    if (is_first && !is_news) author.is_missed = true;  // this node's own: it needs no tree here
    if (!is_news) {
        // Without a parent this may be the answer of one that was asked, and knows no more yet.
        const bool is_needless = author.parent != 0 && author.parent != bit;
        if (from != id && is_needless) refuse(*found, bit);
        return {};
    }
    author.heard = now;
    author.is_missed = false;
    take_parent(*found, from, bit);
    author.block = block_at(report.training_time);
    Passing passing{.to = {}, .spacing = author.block * interval_};
    const bool is_next = report.sequence / author.block != author.sequence_passed / author.block;
    if (!is_next && author.state_passed == report.state) return passing;
    author.sequence_passed = report.sequence;
    author.state_passed = report.state;
    take_turn(author);
    if (is_first) {
        offers_.erase(id);
        author.quiet = refusing_ & ~(bit | bit_of(id));
        author.to_offer = author.quiet;
        if (author.to_offer != 0) note(*found);
    }
    for (const auto& [peer, link] : links_) {
        if (peer != from && peer != id && (author.quiet & link) == 0) passing.to.push_back(peer);
    }
    return passing;
}

/// News came by this link: the way of the next, unless there is one to the author itself.
void ReportRelay::take_parent(Authors::value_type& each, PeerId from, Links bit) {
    auto& [id, author] = each;
    if (from != id && bit_of(id) != 0) return refuse(each, bit);
    author.parent = bit;
    author.to_refuse &= ~bit;
    if ((author.refused & bit) == 0) return;
    author.refused &= ~bit;
    author.to_ask |= bit;
    note(each);
}

/// Counts what is passed on; once in a while everybody gets it.
void ReportRelay::take_turn(Author& author) {
    if (author.until_open == 1) author.quiet = 0;
    if (author.until_open <= 1) {
        const std::uint64_t next = reports_quiet_least + rng_.below(reports_quiet_spread);
        author.until_open = static_cast<std::uint8_t>(next);
    }
    --author.until_open;
}

void ReportRelay::on_wish(PeerId from, ReportRoute route, const std::vector<PeerId>& authors) {
    const Links bit = bit_of(from);
    if (route == ReportRoute::have) {
        for (const PeerId& id : authors)
            on_offered(bit, id);
        return;
    }
    refusing_ = route == ReportRoute::want ? refusing_ & ~bit : refusing_ | bit;
    for (const PeerId& id : authors) {
        const auto found = authors_.find(id);
        if (found == authors_.end()) continue;
        Links& quiet = found->second.quiet;
        quiet = route == ReportRoute::want ? quiet & ~bit : quiet | bit;
    }
}

void ReportRelay::on_offered(Links from, const PeerId& id) {
    if (authors_.contains(id) || offers_.size() >= offers_max) return;
    offers_[id].from |= from;
    has_new_offers_ = true;
}

void ReportRelay::look_for_silent(TimePoint now) {
    if (now - looked_at_ < interval_) return;
    looked_at_ = now;
    for (auto& each : authors_) {
        Author& author = each.second;
        if (author.is_missed || now - author.heard <= spacings_silent * author.block * interval_)
            continue;
        author.is_missed = true;
        ask_all(each);
    }
}

std::vector<ReportRelay::Wish> ReportRelay::take_wishes(TimePoint now) {
    look_for_silent(now);
    Told told;  // refuse, want, have
    for (auto* each : noted_) {
        auto& [id, author] = *each;
        author.to_refuse &= ~(author.parent | author.to_ask);
        for (const auto& [peer, bit] : links_) {
            if ((author.to_refuse & bit) != 0) told[peer][0].push_back(id);
            if ((author.to_ask & bit) != 0 && id != peer) told[peer][1].push_back(id);
            if ((author.to_offer & bit) != 0) told[peer][2].push_back(id);
        }
        author.refused |= std::exchange(author.to_refuse, 0);
        author.to_ask = 0;
        author.to_offer = 0;
        author.is_noted = false;
    }
    noted_.clear();
    ask_for_offered(told);
    std::vector<Wish> wishes;
    for (const auto& [peer, lists] : told) {
        append(peer, ReportRoute::refuse, lists[0], wishes);
        append(peer, ReportRoute::want, lists[1], wishes);
        append(peer, ReportRoute::have, lists[2], wishes);
    }
    return wishes;
}

/// One of those that have it at a time: the next where nothing has come until then.
void ReportRelay::ask_for_offered(Told& told) {
    has_new_offers_ = false;
    for (auto& [id, offer] : offers_) {
        const Links left = offer.from & ~offer.asked;
        const Links next = left & (~left + 1);
        for (const auto& [peer, bit] : links_)
            if (next != 0 && bit == next) told[peer][1].push_back(id);
        offer.asked |= next;
    }
    std::erase_if(offers_, [](const auto& each) { return each.second.from == 0; });
}

}  // namespace p2p::core
