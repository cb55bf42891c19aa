#pragma once

// The members of a job: the newest report of each, as its author signed it, and who counts as live.
//
// A member is live while it is linked to this node, or its report is fresh; how long that is
// depends on how often its reports come here.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/time.hpp"
#include "core/job/messages.hpp"

namespace p2p::core {

/// Whether `a` should replace `b`, both being of one author and job.
[[nodiscard]] inline bool is_newer(const JobReport& a, const JobReport& b) {
    if (a.incarnation != b.incarnation) return a.incarnation > b.incarnation;
    return a.sequence > b.sequence;
}

/// Whether a node in this state swaps.
[[nodiscard]] inline bool is_mixing(JobState state) {
    return state == JobState::running || state == JobState::finishing;
}

class Members {
  public:
    struct Member {
        Signed<JobReport> report;
        TimePoint heard{};
        Duration spacing{};  ///< between two of its reports that come here, where that is known
        bool is_linked = false;
        TimePoint sketched_at{};                 ///< when its newest sketch was heard
        std::optional<double> moved_per_second;  ///< of its replica, by its last two sketches

        [[nodiscard]] JobState state() const { return report.value.state; }
    };

    /// A report is fresh for `fresh_for` at least.
    explicit Members(Duration fresh_for)
        : fresh_for_(fresh_for) {}

    /// The member, where its report is news; else null.
    Member* add(TimePoint now, const Signed<JobReport>& report);

    void on_linked(PeerId peer, bool is_linked);

    [[nodiscard]] const std::map<PeerId, Member>& all() const { return members_; }

    [[nodiscard]] const Member* find(PeerId peer) const;

    [[nodiscard]] bool is_live(TimePoint now, const Member& member) const {
        const Duration fresh_for = std::max(fresh_for_, spacings_fresh * member.spacing);
        return member.is_linked || now - member.heard < fresh_for;
    }

    /// Linked members that take steps.
    [[nodiscard]] std::uint32_t linked_running() const { return linked_running_; }

    /// Live members in one of the states.
    [[nodiscard]] std::vector<PeerId> live_in(
        TimePoint now, const std::set<JobState>& states) const;

    /// A hash of the newest batch that another live member trains on too; a sign that one script
    /// with one seed runs on both.
    [[nodiscard]] std::optional<PeerId> twin_of(TimePoint now, std::uint64_t batch_hash) const;

  private:
    static constexpr int spacings_fresh = 3;

    static void note_sketch(TimePoint now, const std::optional<Sketch>& sketch, Member& member);
    void count(const Member& member, int sign);

    Duration fresh_for_;
    std::map<PeerId, Member> members_;
    std::set<PeerId> linked_;
    std::uint32_t linked_running_ = 0;
};

}  // namespace p2p::core
