#include "core/job/ending.hpp"

#include <algorithm>
#include <map>

namespace p2p::core {

namespace {

constexpr double believed_from = 0.95;

bool is_most(double part, double whole) {
    return whole > 0 && part >= believed_from * whole;
}

}  // namespace

std::optional<EndReason> Ending::is_over(const Context& context) const {
    if (context.has_signed_stop) return EndReason::stop;
    if (context.progress.is_total_reached()) return EndReason::total;
    if (minutes_ > Duration{} && context.training_time >= minutes_) return EndReason::time;
    return std::nullopt;
}

bool Ending::is_believable(const JobEnd& end, const Context& context) const {
    switch (end.reason) {
        case EndReason::total: return context.progress.ratio() >= believed_from;
        case EndReason::stop: return context.has_signed_stop;
        case EndReason::time: break;
    }
    Duration longest = context.training_time;
    for (const auto& [peer, member] : context.members.all()) {
        longest = std::max(longest, member.report.value.training_time);
    }
    return is_most(to_seconds(longest), to_seconds(minutes_));
}

void Ending::latch(TimePoint now, EndReason reason) {
    if (reason_) return;
    reason_ = reason;
    latched_at_ = now;
}

bool Ending::should_offer_final(const Context& context, bool is_settled) {
    if (context.now - counted_at_ < report_interval_ * 9 / 10) return false;
    counted_at_ = context.now;

    // Past the deadline nobody is waited for: who stands, or whose replica is broken, may never
    // settle. The lowest live id still speaks for all that it hears of; where that one stands,
    // has had the time to speak and to be heard, and the deadline has passed twice, the lowest of
    // those that are linked.
    const Duration since = context.now - latched_at_;
    const bool is_late = since >= finish_deadline_;
    const bool is_very_late = since >= 2 * finish_deadline_ && settled_for_ >= periods_speaking;
    bool everybody = is_settled;
    bool is_lowest = true;
    for (const auto& [peer, member] : context.members.all()) {
        if (!context.members.is_live(context.now, member)) continue;
        const bool still_trains = member.state() == JobState::running;
        const bool finishing = member.state() == JobState::finishing;
        if (still_trains || (finishing && !member.report.value.settled)) everybody = false;
        if (is_very_late && !member.is_linked) continue;
        if (finishing && peer < context.self) is_lowest = false;
    }
    settled_for_ = everybody || is_late ? settled_for_ + 1 : 0;
    return settled_for_ >= periods_settled && is_lowest;
}

bool Ending::is_acceptable(
    const Context& context, double distance_ratio, bool is_known_done) const {
    if (is_known_done) return true;
    double largest = 0;
    for (const auto& [peer, member] : context.members.all()) {
        if (!context.members.is_live(context.now, member)) continue;
        largest = std::max(largest, member.report.value.distance_ratio);
    }
    return distance_ratio <= std::max(10 * tolerance_, 2 * largest);
}

std::set<BlobHash> Ending::known_done(const Context& context) {
    std::size_t live = 0;
    std::map<BlobHash, std::size_t> holders;
    for (const auto& [peer, member] : context.members.all()) {
        if (!context.members.is_live(context.now, member)) continue;
        const bool is_done =
            member.state() == JobState::done || member.state() == JobState::stopped;
        // Who waits for it, too, cannot speak for it.
        if (is_done || is_mixing(member.state())) ++live;
        const BlobHash& hash = member.report.value.final_hash;
        if (is_done && !hash.is_zero()) ++holders[hash];
    }
    std::set<BlobHash> known;
    for (const auto& [hash, count] : holders)
        if (count >= std::min<std::size_t>(2, live)) known.insert(hash);
    return known;
}

bool Ending::is_better(const Final& a, const Final& b) {
    if (a.progress != b.progress) return a.progress > b.progress;
    return a.hash < b.hash;
}

}  // namespace p2p::core
