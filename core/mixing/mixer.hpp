#pragma once

// All edges of one job on one node: when a swap opens, with whom, and what the trainer waits for.
//
// The mixer joins the parts of its room: an Edge for each (partner, shard), the recipe's schedule,
// the budget, rounds where the recipe has them, and the end, when replicas are brought together.
// Who is a member, when the job runs and when it ends is decided in core/job; the hall tells.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ewma.hpp"
#include "core/base/rng.hpp"
#include "core/mixing/codec_choice.hpp"
#include "core/mixing/finish_passes.hpp"
#include "core/mixing/layout.hpp"
#include "core/mixing/link_choice.hpp"
#include "core/mixing/meetings.hpp"
#include "core/mixing/outer_strength.hpp"
#include "core/mixing/output.hpp"
#include "core/mixing/recipe.hpp"
#include "core/mixing/rounds.hpp"
#include "core/mixing/staleness_bound.hpp"
#include "core/mixing/swap.hpp"
#include "core/mixing/swap_window.hpp"
#include "core/mixing/weights.hpp"

namespace p2p::core {

struct MixerConfig {
    JobId job;
    PeerId self;
    std::string site;  ///< of this node
    Layout layout;
    Recipe recipe;
    std::uint64_t seed = 0;      ///< of stochastic rounding; each node's own
    std::uint64_t job_seed = 0;  ///< of schedules; the same for all
    double finish_tolerance = 1e-4;
    Duration deadline = std::chrono::seconds{30};
    Duration bury_after = std::chrono::minutes{10};
    EncodedBytes encoded_bytes = nullptr;
    std::vector<std::optional<CodecId>> shard_codecs{};  ///< by shard, over the recipe's; or none
    bool knows_initial = false;  ///< the job's first parameters can be had by each node's workers
    std::optional<ShareRule> share_rule;  ///< tests only: instead of the recipe's
};

using SwapWord = std::variant<SwapOpen, SwapChunk, SwapReady, SwapClose, SwapState>;
using SwapResult = std::variant<Encoded, Decoded, Applied, Error>;

class Mixer {
  public:
    Mixer(MixerConfig config, Rng rng);

    /// A member of the job is linked, in this incarnation; also again after a break. Told whether
    /// the mixer runs or not: both ends of a session must know of it.
    void on_linked(TimePoint now, PeerId peer, Incarnation incarnation, MixingOutputs& out);
    void on_unlinked(TimePoint now, PeerId peer, MixingOutputs& out);

    /// Where a peer stands, for schedules that know sites.
    void set_site(PeerId peer, const std::string& site);

    /// Whether rounds are as long as this node is fast.
    [[nodiscard]] bool wants_work_ratio() const {
        return config_.recipe.work == WorkShare::by_speed;
    }

    /// How many of a round's steps this node takes, over what an even share is.
    void set_work_ratio(double ratio) { work_ratio_ = ratio; }

    /// Nodes that train, this one included.
    void set_members(std::uint32_t count) { members_ = count; }

    /// Nodes that mix, this one included, linked here or not.
    void set_mesh_size(std::uint32_t count) { mesh_size_ = count; }

    /// Whether swaps are opened with a peer; those that are open go on. @pre knows(peer)
    void set_taking_part(TimePoint now, PeerId peer, bool takes_part, MixingOutputs& out);

    /// @pre knows(from); others' words are answered by the hall
    void on_word(TimePoint now, PeerId from, const SwapWord& word, MixingOutputs& out);
    void on_worked(
        TimePoint now, const EdgeKey& edge, const SwapResult& result, MixingOutputs& out);
    void on_outer_stepped(TimePoint now, MixingOutputs& out);
    void on_stepped(TimePoint now, StepCount steps, MixingOutputs& out);
    void on_wakeup(TimePoint now, MixingOutputs& out);
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

    /// Swaps open and are answered only between start and stop. `done`: steps of a checkpoint.
    void start(TimePoint now, StepCount done, MixingOutputs& out);
    void stop(TimePoint now, MixingOutputs& out);

    /// No step is taken any more: every link swaps until its distance is within the tolerance.
    void begin_finishing(TimePoint now, MixingOutputs& out);
    [[nodiscard]] bool is_settled() const;

    /// Whether a swap is open on any link.
    [[nodiscard]] bool has_open_swap() const;

    /// The link has room: takes snapshots for what waits, a few shards at a time.
    void start_encodings(PeerId peer, MixingOutputs& out);

    struct ChunkToSend {
        EdgeKey edge;
        SwapNumber n;
        Edge::Piece piece;
    };

    /// The next chunk for this link, if there is one.
    [[nodiscard]] std::optional<ChunkToSend> next_chunk(PeerId peer);

    [[nodiscard]] bool knows(PeerId peer) const { return partners_.contains(peer); }

    [[nodiscard]] Round round() const { return rounds_ ? rounds_->current() : Round{}; }

    /// H in force: steps between rounds, or between a link's swaps.
    [[nodiscard]] std::uint32_t steps_between() const;

    /// Distance to the partners over the norm, root mean square over the links, lately.
    [[nodiscard]] double distance_ratio() const;
    [[nodiscard]] double parameter_norm() const;

    [[nodiscard]] std::uint64_t swaps_applied() const { return swaps_applied_; }

    [[nodiscard]] std::vector<EdgeStatus> links() const;

    /// What was decided here and by which measurements, a sentence each (mixer_words.cpp).
    [[nodiscard]] std::vector<std::string> choices() const;

  private:
    /// One shard on one link, with what the schedule remembers of it.
    struct Slot {
        Edge edge;
        StepCount steps_at_end;                // own steps when its last swap ended
        TimePoint retry_at{};                  // not opened before this
        std::optional<double> distance_ratio;  // last measured
        bool is_measured_in_finish = false;
        double drift = 0;  // displaced over other links since, over the norm
        CodecChoice choice{};
        std::uint64_t clock_told = 0;  // own, in the last open
    };

    struct Partner {
        Incarnation incarnation;
        bool is_linked = false;
        bool takes_part = false;
        TimePoint down_since{};
        std::vector<Slot> slots;  // by shard
        EdgeStatus status;
        Ewma swap_seconds{0.1};

        [[nodiscard]] bool is_up() const { return is_linked && takes_part; }
    };

    /// How long one whose link is down stays in schedules.
    static constexpr Duration link_hold = std::chrono::seconds{5};

    struct Place {
        std::string site;
        bool is_outside = true;
    };

    void make_slots(PeerId peer, Partner& partner);
    void absorb(TimePoint now, std::size_t first, MixingOutputs& out);
    void on_ended(TimePoint now, const SwapEnded& ended);
    void plan(TimePoint now, MixingOutputs& out);
    void plan_running(TimePoint now, MixingOutputs& out);
    void plan_random(TimePoint now, MixingOutputs& out);
    void plan_all_links(TimePoint now, MixingOutputs& out);
    void plan_linked(TimePoint now, MixingOutputs& out);
    void plan_outside(TimePoint now, MixingOutputs& out);
    void learn(TimePoint now, Slot& slot, const SwapEnded& ended);
    void choose_links(TimePoint now);
    [[nodiscard]] std::optional<float> linked_share(TimePoint now, const Slot& slot) const;
    [[nodiscard]] const std::string& site_of(PeerId peer) const;
    [[nodiscard]] bool is_outside(PeerId peer) const;

    /// Links that are up, by where they lead.
    struct LinkCounts {
        std::size_t inside = 0;
        std::size_t outside = 0;
    };

    [[nodiscard]] LinkCounts link_counts() const;
    [[nodiscard]] double worth(PeerId peer) const;
    void plan_outer(TimePoint now, MixingOutputs& out);
    void keep_in_bound(TimePoint now, MixingOutputs& out);
    [[nodiscard]] std::uint64_t clock() const;
    void take_outer_step(MixingOutputs& out);
    [[nodiscard]] OuterSettings outer_settings() const;

    // mixer_rounds.cpp
    void plan_rounds(TimePoint now, MixingOutputs& out);
    void begin_round(TimePoint now);
    void open_phase(TimePoint now, MixingOutputs& out);
    void end_round(TimePoint now, MixingOutputs& out);
    void finish_round(TimePoint now);
    void plan_scheduled(TimePoint now, MixingOutputs& out);
    void plan_across(TimePoint now, MixingOutputs& out);
    bool open_meeting(TimePoint now, Slot& slot, float weight, MixingOutputs& out);
    void decline_past(TimePoint now, MixingOutputs& out);
    [[nodiscard]] std::vector<OwnPhase> meetings(TimePoint now, Round round) const;
    [[nodiscard]] bool is_across(PeerId peer) const;
    [[nodiscard]] bool is_in_turn(ShardIndex shard, Round round) const;
    void follow_distance();
    // mixer_finish.cpp
    void plan_finish(TimePoint now, MixingOutputs& out);
    void plan_finish_links(TimePoint now, MixingOutputs& out);
    void follow_passes(TimePoint now);
    void open_pass_phase(TimePoint now, MixingOutputs& out);
    void decline_passed(TimePoint now, MixingOutputs& out);

    [[nodiscard]] bool makes_passes() const { return passes_ && !passes_->has_given_up(); }

    [[nodiscard]] bool is_answered_by_pass(TimePoint now, const Slot& slot) const;
    [[nodiscard]] Duration pass_patience() const;
    [[nodiscard]] std::optional<TimePoint> next_finish_wakeup() const;

    [[nodiscard]] double slowest_swap_seconds() const;
    [[nodiscard]] std::vector<MemberPlace> places(TimePoint now) const;
    void answer_asked(TimePoint now, MixingOutputs& out);
    bool open(TimePoint now, Slot& slot, MixingOutputs& out);
    [[nodiscard]] bool is_answered_by_schedule(const Slot& slot) const;
    [[nodiscard]] bool is_step_due(StepCount last) const;
    [[nodiscard]] bool may_open(TimePoint now, const Slot& slot) const;
    [[nodiscard]] static bool is_unheard(TimePoint now, const Edge& edge);
    [[nodiscard]] bool needs_finishing_swap(const Slot& slot) const;
    [[nodiscard]] ShareRule share_rule() const;
    enum class LinkKind : std::uint8_t { any, inside, outside };

    [[nodiscard]] float budget_taken(
        TimePoint now, ShardIndex shard, LinkKind kind = LinkKind::any) const;
    void withdraw_when_late(TimePoint now, Slot& slot, MixingOutputs& out);
    [[nodiscard]] std::size_t links_up() const;
    [[nodiscard]] CodecId codec(const Slot& slot) const;
    Slot* find(PeerId peer, ShardIndex shard);

    /// Each shard on each link to a peer that takes part.
    template <typename Act>
    void for_each_up(Act act) {
        for (auto& [peer, partner] : partners_) {
            if (!partner.is_up()) continue;
            for (Slot& slot : partner.slots)
                act(slot);
        }
    }

    /// Each shard of those whom a phase meets and who are up, with the weight of the meeting.
    template <typename Act>
    void for_each_met(const OwnPhase& phase, Act act) {
        for (const Meeting& meeting : phase) {
            const auto found = partners_.find(meeting.peer);
            if (found == partners_.end() || !found->second.is_up()) continue;
            for (Slot& slot : found->second.slots)
                act(slot, meeting.weight);
        }
    }

    MixerConfig config_;
    Rng rng_;
    std::map<PeerId, Partner> partners_;
    std::map<PeerId, Place> places_;
    std::optional<Rounds> rounds_;
    std::optional<StalenessBound> bound_;
    mutable std::vector<MemberPlace> graph_of_;  // a graph that costs, kept while these are members
    mutable std::vector<OwnPhase> graph_;
    std::vector<OwnPhase> phases_;  // of the round under way, where partners are scheduled
    StepLimit told_limit_{};        // the last one
    std::uint32_t every_steps_;     // H, where it adapts
    double work_ratio_ = 1;
    bool have_links_changed_ = false;  // since they were chosen
    LinkChoice link_choice_;
    SwapWindow window_;  // of swaps out of the site
    StepCount outer_due_;
    TimePoint outer_taken_at_{};
    RateMeter mixed_weight_{std::chrono::seconds{10}};  // of swaps out of the site, or of all
    bool is_outer_under_way_ = false;
    OuterStrength outer_strength_;
    std::vector<StepCount>
        opened_at_steps_;        // random partners: own steps at the last open, by shard
    std::vector<double> norms_;  // last measured, by shard
    StepCount steps_;
    TimePoint stepped_at_{};
    Ewma step_seconds_{0.05};
    std::uint32_t members_ = 1;
    std::uint32_t mesh_size_ = 0;
    std::optional<FinishPasses> passes_;  // of the end, where all are linked
    TimePoint finishing_since_{};
    std::optional<TimePoint> awaited_since_;  // by the passes of others that end the job
    bool is_running_ = false;
    bool is_finishing_ = false;
    bool is_planning_ = false;
    TimePoint last_planned_at_{};
    std::uint64_t swaps_applied_ = 0;
};

}  // namespace p2p::core
