#pragma once

// How much of a job the mesh has done: a grow-only counter for each member, and their sum.
//
// Counters come in reports that anybody could forge about himself, so a claim that grows faster
// than 4 times the rate measured so far is capped (and counted); it catches up if it was true.

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

    [[nodiscard]] SampleCount own() const;
    [[nodiscard]] SampleCount mesh() const;

    [[nodiscard]] SampleCount others() const { return mesh() - own(); }

    [[nodiscard]] SampleCount of(PeerId peer) const;
    [[nodiscard]] double ratio() const;

    [[nodiscard]] bool is_total_reached() const { return total_.value > 0 && mesh() >= total_; }

    [[nodiscard]] std::uint64_t claims_capped() const { return claims_capped_; }

    /// A swap was closed, or state adopted: this node is up to date.
    void mark_current();

    /// The share of the job's work that others did since mark_current(), where it is more than what
    /// this node itself did since; else 0.
    [[nodiscard]] double staleness() const;

  private:
    struct Counter {
        SampleCount samples;
        TimePoint at{};
        std::optional<double> per_second;
    };

    PeerId self_;
    SampleCount total_;
    SampleCount trainer_;
    SampleCount lost_;  // done by this node, forgotten by a restart
    std::map<PeerId, Counter> others_;
    SampleCount current_own_;
    SampleCount current_others_;
    std::uint64_t claims_capped_ = 0;
};

}  // namespace p2p::core
