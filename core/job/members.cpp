#include "core/job/members.hpp"

namespace p2p::core {

Members::Member* Members::add(TimePoint now, const Signed<JobReport>& report) {
    const auto found = members_.find(report.author);
    if (found == members_.end()) {
        if (members_.size() >= limits::job_members_max) return nullptr;
        const bool is_linked = linked_.contains(report.author);
        const auto added = members_.emplace(
            report.author,
            Member{
                .report = report,
                .heard = now,
                .spacing = {},
                .is_linked = is_linked,
                .sketched_at = now,
                .moved_per_second = {}});
        count(added.first->second, 1);
        return &added.first->second;
    }
    if (!is_newer(report.value, found->second.report.value)) return nullptr;
    Member& member = found->second;
    note_sketch(now, report.value.sketch, member);
    count(member, -1);
    member.report = report;
    member.heard = now;
    count(member, 1);
    return &member;
}

/// @pre the member's report is the one before
void Members::note_sketch(TimePoint now, const std::optional<Sketch>& sketch, Member& member) {
    const std::optional<Sketch>& before = member.report.value.sketch;
    if (!sketch || sketch == before) return;
    const double seconds = to_seconds(now - member.sketched_at);
    if (before && seconds > 0)
        member.moved_per_second = sketch_distance(*before, *sketch) / seconds;
    member.sketched_at = now;
}

void Members::on_linked(PeerId peer, bool is_linked) {
    if (is_linked) {
        linked_.insert(peer);
    } else {
        linked_.erase(peer);
    }
    const auto found = members_.find(peer);
    if (found == members_.end()) return;
    count(found->second, -1);
    found->second.is_linked = is_linked;
    count(found->second, 1);
}

void Members::count(const Member& member, int sign) {
    if (!member.is_linked || member.state() != JobState::running) return;
    linked_running_ += static_cast<std::uint32_t>(sign);
}

const Members::Member* Members::find(PeerId peer) const {
    const auto found = members_.find(peer);
    return found == members_.end() ? nullptr : &found->second;
}

std::vector<PeerId> Members::live_in(TimePoint now, const std::set<JobState>& states) const {
    std::vector<PeerId> peers;
    for (const auto& [peer, member] : members_) {
        if (is_live(now, member) && states.contains(member.state())) peers.push_back(peer);
    }
    return peers;
}

std::optional<PeerId> Members::twin_of(TimePoint now, std::uint64_t batch_hash) const {
    if (batch_hash == 0) return std::nullopt;
    for (const auto& [peer, member] : members_) {
        if (is_live(now, member) && member.report.value.batch_hash == batch_hash) return peer;
    }
    return std::nullopt;
}

}  // namespace p2p::core
