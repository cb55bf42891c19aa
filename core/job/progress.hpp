#pragma once

// How much of a job the mesh has done: a grow-only counter for each member, and their sum.
//
// Counters come in reports that anybody could forge about himself, so a claim that grows faster
// than 4 times the rate measured so far is capped (and counted); it catches up if it was true.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

class Progress {
  public:
    /// `total` 0: the job ends by time, and ratio() is 0.
    Progress(PeerId self, SampleCount total)
        : self_(self),
          total_(total) {}

    void set_total(SampleCount total) { total_ = total; }

    [[nodiscard]] SampleCount total() const { return total_; }

    /// Own samples, from the trainer; never falls.
    void set_own(SampleCount samples);

    /// What others held of this node before it was restarted from an older checkpoint: the
    /// difference was done, though its trainer does not know of it any more.
    void on_own_report(SampleCount samples_reported, SampleCount samples_of_trainer);

    void on_report(TimePoint now, PeerId peer, SampleCount samples);

    /// What members have done since their reports is estimated from what they did between the last
    /// two, from `grace` after the last on and for `reach_of(peer)` at most: once a report period.
    template <typename ReachOf>
    void estimate(TimePoint now, Duration grace, ReachOf&& reach_of) {
        double samples = 0;
        for (const auto& [peer, counter] : others_) {
            const Duration since = std::min(now - counter.at - grace, reach_of(peer));
            samples += counter.between.value_or(0) * to_seconds(std::max(since, Duration{}));
        }
        since_reports_ = SampleCount{static_cast<std::uint64_t>(samples)};
    }

    [[nodiscard]] SampleCount own() const;
    [[nodiscard]] SampleCount mesh() const;

    [[nodiscard]] SampleCount others() const { return mesh() - own(); }

    [[nodiscard]] SampleCount of(PeerId peer) const;

    /// mesh() with what others have likely done since.
    [[nodiscard]] SampleCount estimated() const { return mesh() + since_reports_; }

    /// Of estimated(), at most 1.
    [[nodiscard]] double ratio() const;

    [[nodiscard]] bool is_total_reached() const {
        return total_.value > 0 && estimated() >= total_;
    }

    [[nodiscard]] std::uint64_t claims_capped() const { return claims_capped_; }

    /// Where a checkpoint left this node: its own samples, and the mesh's as known then.
    void on_resumed(SampleCount own, SampleCount mesh);

    /// A swap was closed, or state adopted: this node is up to date.
    void mark_current(TimePoint now);

    /// It has swapped, or adopted state, since this process began.
    [[nodiscard]] bool has_been_current() const { return current_at_.has_value(); }

    /// The share of the job's work that the mesh did without this node: since its last swap, where
    /// that is longer ago than `quiet` and others did more than it did; before its first swap,
    /// since its checkpoint (or the start), as the members' first reports tell. 0: a node that
    /// swaps.
    [[nodiscard]] double staleness(TimePoint now, Duration quiet) const;

  private:
    struct Counter {
        SampleCount samples;
        TimePoint at{};
        std::optional<double> per_second;  // the most that it may grow by, over growth_max
        std::optional<double> between;     // its last two reports, a second
    };

    PeerId self_;
    SampleCount total_;
    SampleCount trainer_;
    SampleCount lost_;  // done by this node, forgotten by a restart
    std::map<PeerId, Counter> others_;
    SampleCount since_reports_;
    SampleCount others_sum_;  // kept, since it is asked for with each report of a large mesh
    std::optional<TimePoint> current_at_;  // of the last swap of this process
    SampleCount current_own_;
    SampleCount current_others_;
    SampleCount resumed_mesh_;  // what the replica holds of the mesh's work at the start
    SampleCount first_own_;
    SampleCount first_others_;  // sum of the members' first reports to this process
    std::uint64_t claims_capped_ = 0;
};

}  // namespace p2p::core
