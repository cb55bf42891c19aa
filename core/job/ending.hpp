#pragma once

// The end of a job without a coordinator: who may say that it is over, when all have come
// together, who offers the final model, and which one is taken (design: JOBS, "The end").
//
// Decisions on values that the hall brings; it sends nothing itself.

#include <cstdint>
#include <optional>
#include <set>

#include "core/base/time.hpp"
#include "core/job/members.hpp"
#include "core/job/messages.hpp"
#include "core/job/progress.hpp"
#include "core/job/spec.hpp"

namespace p2p::core {

class Ending {
  public:
    struct Context {
        TimePoint now;
        PeerId self;
        const Progress& progress;
        const Members& members;
        Duration training_time{};  ///< own, since the first step
        bool has_signed_stop = false;
    };

    Ending(const JobSpec& spec, Duration report_interval)
        : minutes_(from_seconds(spec.train.minutes * 60)),
          finish_deadline_(spec.mixing.finish_deadline),
          tolerance_(spec.mixing.finish_tolerance),
          report_interval_(report_interval) {}

    /// The reason for which this node may say that the job is over, if there is one.
    [[nodiscard]] std::optional<EndReason> is_over(const Context& context) const;

    /// Whether a JobEnd of another member is believed: "total" at 0.95 of the total in the own
    /// view, "time" at 0.95 of the minutes by the own count or a member's, "stop" with its control.
    [[nodiscard]] bool is_believable(const JobEnd& end, const Context& context) const;

    void latch(TimePoint now, EndReason reason);

    [[nodiscard]] std::optional<EndReason> reason() const { return reason_; }

    /// Once each report period: whether everybody has settled for three of them now, and this node
    /// is the one to offer the final model (the lowest live id). Past the deadline nobody is waited
    /// for, and past twice the deadline each part of the mesh that is linked has its own offer.
    [[nodiscard]] bool should_offer_final(const Context& context, bool is_settled);

    /// Whether a Final whose model lies `distance_ratio` from the own replica is taken.
    /// `is_known_done`: two members' reports carry its hash in state done (all, where fewer live).
    [[nodiscard]] bool is_acceptable(
        const Context& context, double distance_ratio, bool is_known_done) const;

    /// The final models that two live members (all, where fewer live) report to hold, being done.
    [[nodiscard]] static std::set<BlobHash> known_done(const Context& context);

    /// Of two Finals the higher progress wins, then the lower hash.
    [[nodiscard]] static bool is_better(const Final& a, const Final& b);

  private:
    static constexpr int periods_settled = 3;
    static constexpr int periods_speaking = 4 * periods_settled;  // and to be heard

    Duration minutes_;
    Duration finish_deadline_;
    double tolerance_;
    Duration report_interval_;
    std::optional<EndReason> reason_;
    TimePoint latched_at_{};
    TimePoint counted_at_{};
    int settled_for_ = 0;
};

}  // namespace p2p::core
