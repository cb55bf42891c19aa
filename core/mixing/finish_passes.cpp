#include "core/mixing/finish_passes.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/check.hpp"

namespace p2p::core {

void FinishPasses::set_members(TimePoint now, std::vector<MemberPlace> members) {
    std::sort(members.begin(), members.end(), [](const MemberPlace& a, const MemberPlace& b) {
        return std::tie(a.site, a.id) < std::tie(b.site, b.id);
    });
    if (members == members_) return;
    const bool has_newcomer =
        std::any_of(members.begin(), members.end(), [&](const MemberPlace& member) {
            return std::find(members_.begin(), members_.end(), member) == members_.end();
        });
    members_ = std::move(members);
    phases_ = exact_meetings(self_, members_);
    if (has_begun() && (has_newcomer || !is_settled_)) begin_pass(now, pass_ + passes_apart);
}

void FinishPasses::begin(TimePoint now) {
    P2P_CHECK(!members_.empty() && !has_begun());
    begin_pass(now, 1);
}

void FinishPasses::begin_pass(TimePoint now, std::uint64_t pass) {
    stand_at(pass);
    go_on(now);
}

void FinishPasses::stand_at(std::uint64_t pass) {
    pass_ = pass;
    phase_ = 0;
    waiting_.clear();
    is_within_ = true;
    is_settled_ = false;
    has_given_up_ |= pass_ > passes_max;
}

/// Phases in which this node meets nobody are over at once.
bool FinishPasses::wait_for_phase(TimePoint now) {
    phase_began_at_ = now;
    for (; phase_ < phases_.size(); ++phase_) {
        for (const Meeting& meeting : phases_[phase_]) {
            for (std::uint32_t shard = 0; shard < shards_; ++shard)
                waiting_.emplace(meeting.peer, ShardIndex{shard});
        }
        if (!waiting_.empty()) return true;
    }
    return false;
}

void FinishPasses::go_on(TimePoint now) {
    while (!wait_for_phase(now)) {
        is_settled_ = is_within_ && asked_pass_ <= pass_;
        if (is_settled_) return;
        stand_at(pass_ + 1);
    }
}

void FinishPasses::leave_phase(TimePoint now) {
    if (!waiting_.empty()) return;
    ++phase_;
    go_on(now);
}

Round FinishPasses::on_wire() const {
    const std::uint64_t phase = std::min<std::uint64_t>(phase_, phases_max - 1);
    return Round{outside_passes.value + pass_ * phases_max + phase};
}

bool FinishPasses::is_past(Round on_wire) const {
    return is_settled_ ? on_wire.value < outside_passes.value + (pass_ + 1) * phases_max
                       : on_wire < this->on_wire();
}

void FinishPasses::follow(TimePoint now, Round on_wire) {
    if (!is_of_pass(on_wire)) return;
    const std::uint64_t pass = (on_wire.value - outside_passes.value) / phases_max;
    if (pass > passes_max) return;
    asked_pass_ = std::max(asked_pass_, pass);
    if (pass >= pass_ + passes_apart || (is_settled_ && pass > pass_)) begin_pass(now, pass);
}

const OwnPhase& FinishPasses::meetings() const {
    static const OwnPhase none;
    const bool has_phase = has_begun() && !is_settled_ && phase_ < phases_.size();
    return has_phase ? phases_[phase_] : none;
}

void FinishPasses::on_swapped(
    TimePoint now, const Swapped& swapped, Round on_wire, double distance_ratio) {
    if (is_settled_ || !is_of_pass(on_wire) || waiting_.erase(swapped) == 0) return;
    is_within_ &= on_wire == this->on_wire() && distance_ratio <= tolerance_;
    leave_phase(now);
}

void FinishPasses::on_missed(TimePoint now, const Swapped& swapped, Round on_wire) {
    if (is_settled_ || on_wire != this->on_wire() || waiting_.erase(swapped) == 0) return;
    is_within_ = false;
    leave_phase(now);
}

void FinishPasses::expire(TimePoint now, Duration patience) {
    has_given_up_ |= has_begun() && !is_settled_ && now - phase_began_at_ >= patience;
}

}  // namespace p2p::core
