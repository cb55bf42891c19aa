#include "core/job/ending.hpp"

#include <algorithm>

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

    const bool is_late = context.now - latched_at_ >= finish_deadline_;
    bool everybody = is_settled;
    bool is_lowest = true;
    for (const auto& [peer, member] : context.members.all()) {
        if (!context.members.is_live(context.now, member)) continue;
        if (is_late && !member.is_linked) continue;
        const bool still_trains = member.state() == JobState::running;
        const bool finishing = member.state() == JobState::finishing;
        if (still_trains || (finishing && !member.report.value.settled)) everybody = false;
        if (finishing && peer < context.self) is_lowest = false;
    }
    // Past the deadline nobody is waited for: who stands, or whose replica is broken, may never
    // settle.
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

bool Ending::is_known_done(const Context& context, const BlobHash& hash) {
    std::size_t live = 0;
    std::size_t holders = 0;
    for (const auto& [peer, member] : context.members.all()) {
        if (!context.members.is_live(context.now, member)) continue;
        const bool is_done =
            member.state() == JobState::done || member.state() == JobState::stopped;
        // Who waits for it, too, cannot speak for it.
        if (is_done || is_mixing(member.state())) ++live;
        if (is_done && member.report.value.final_hash == hash) ++holders;
    }
    return live > 0 && holders >= std::min<std::size_t>(2, live);
}

bool Ending::is_better(const Final& a, const Final& b) {
    if (a.progress != b.progress) return a.progress > b.progress;
    return a.hash < b.hash;
}

}  // namespace p2p::core
