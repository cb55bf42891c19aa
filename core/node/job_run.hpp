#pragma once

// One job on one node: joins the rooms job and mixing to the trainer and the wire.
//
// What is decided where: how far the job is in job/progress, who is a member in job/members, when
// it is over and which model is final in job/ending, with whom to mix in mixing/mixer. This class
// turns one room's outputs into the other's events and into effects.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/deadlines.hpp"
#include "core/base/ewma.hpp"
#include "core/base/ring.hpp"
#include "core/job/blob_fetch.hpp"
#include "core/job/ending.hpp"
#include "core/job/members.hpp"
#include "core/job/progress.hpp"
#include "core/job/report_relay.hpp"
#include "core/mixing/mixer.hpp"
#include "core/mixing/pusher.hpp"
#include "core/node/desk.hpp"
#include "core/node/node.hpp"

namespace p2p::core {

/// State on its way from a donor to this node.
struct CatchUp {
    TimePoint since{};
    std::optional<PeerId> donor;
    TimePoint give_up_at{};
    std::optional<BlobFetch> fetch;
    std::optional<Sketch> offered;  ///< of the state that has come; the members are asked by it
    bool is_adopting = false;
};

class JobRun {
  public:
    JobRun(TimePoint now, JobId job, const NodeConfig& config, Desk& desk, Rng rng);

    // How a job comes to this node.
    void on_announced(const Signed<JobAnnouncement>& record, Effects& effects);
    void on_submitted(TimePoint now, const SubmitJob& submit, Effects& effects);
    void on_resumed(const ResumedJob& resumed, Effects& effects);
    void join(TimePoint now, Effects& effects);

    // Links to peers; `incarnation` of the peer's process.
    void on_linked(TimePoint now, PeerId peer, Incarnation incarnation, Effects& effects);
    void on_unlinked(TimePoint now, PeerId peer, Effects& effects);

    /// Asks `from` for the spec, unless it is here or on its way.
    void fetch_spec(TimePoint now, PeerId from, Effects& effects);

    /// The link has room: what waits for it takes its snapshot.
    void start_encodings(PeerId peer, Effects& effects);

    // Words of peers.
    void on_report(TimePoint now, PeerId from, const Signed<JobReport>& report, Effects& effects);
    void on_report_wish(TimePoint now, PeerId from, const ReportWish& wish, Effects& effects);
    void on_control(TimePoint now, const Signed<JobControl>& control, Effects& effects);
    void on_end(TimePoint now, const Signed<JobEnd>& end, Effects& effects);
    void on_final(TimePoint now, PeerId from, const Signed<Final>& final, Effects& effects);
    void on_swap_word(TimePoint now, PeerId from, const SwapWord& word, Effects& effects);
    void on_push(TimePoint now, PeerId from, const Push& push, Effects& effects);
    void on_push_ack(TimePoint now, PeerId from, const PushAck& ack, Effects& effects);
    void on_state_request(TimePoint now, PeerId from, Effects& effects);
    void on_state_offer(TimePoint now, PeerId from, const StateOffer& offer, Effects& effects);
    /// True where the chunk belongs to something that this job fetches.
    bool on_blob_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects);

    // Trainer, workers, disk, operator.
    void on_trainer(TimePoint now, const TrainerReady& ready, Effects& effects);
    void on_stepped(TimePoint now, const SteppedReport& report, Effects& effects);
    void on_worked(
        TimePoint now, const PendingWork& pending, const WorkResult& result, Effects& effects);
    void on_saved(TimePoint now, const Status& result);
    void pause(TimePoint now, Effects& effects);
    void resume(TimePoint now, Effects& effects);
    void stop(TimePoint now, Effects& effects);
    /// Before the process ends: no new swap, one last checkpoint.
    void prepare_shutdown(TimePoint now, Effects& effects);
    /// Frees what it holds elsewhere; this object is destroyed next.
    void remove(TimePoint now, Effects& effects);

    void on_wakeup(TimePoint now, Effects& effects);
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

    [[nodiscard]] Mixer* mixer() { return mixer_ ? &*mixer_ : nullptr; }

    [[nodiscard]] JobId id() const { return job_; }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] JobState state() const { return state_; }

    /// Why it is not running, and since when it is in its state.
    [[nodiscard]] const std::string& reason() const { return reason_; }

    [[nodiscard]] TimePoint since() const { return since_; }

    [[nodiscard]] bool is_saving() const { return saves_under_way_ > 0; }

    [[nodiscard]] PeerId submitter() const;

    [[nodiscard]] const std::optional<Error>& save_error() const { return save_error_; }

    [[nodiscard]] std::optional<PeerId> twin(TimePoint now) const;
    [[nodiscard]] JobStatus status(TimePoint now) const;

    /// A peer asks for a blob that is not held: true where it is the final model, and will be sent.
    bool on_blob_asked(PeerId from, const BlobRequest& request, Effects& effects);

    /// All that a newly connected peer should know of this job.
    [[nodiscard]] std::vector<Message> records() const;

  private:
    enum class Alarm : std::uint8_t {
        report,
        wishes,
        evaluate,
        sketch,
        save,
        drop_frozen,
        retry,
        count
    };

    // job_run.cpp
    void set_state(TimePoint now, JobState state, std::string reason, Effects& effects);
    void accept_spec(TimePoint now, JobSpec spec, Effects& effects);
    void on_spec_read(TimePoint now, const WorkResult& result, Effects& effects);
    void start_training(TimePoint now, Effects& effects);
    void begin_when_possible(TimePoint now, Effects& effects);
    void begin(TimePoint now, Effects& effects);

    // job_run_mesh.cpp
    void refresh_partner(TimePoint now, PeerId peer, Effects& effects);
    void refresh_partners(TimePoint now, Effects& effects);
    template <typename Order>
    void order_swap(Order order, Effects& effects);
    void start_mixing(TimePoint now, Effects& effects);
    void stop_mixing(TimePoint now, Effects& effects);
    void lift(TimePoint now, MixingOutputs& outputs, Effects& effects);
    [[nodiscard]] double work_ratio(TimePoint now) const;

    // job_run_push.cpp
    void fetch_push(TimePoint now, const WantsBlob& wants, Effects& effects);
    void serve_push(const BlobServed& served, Effects& effects);
    bool on_push_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects);
    void on_push_fetched(TimePoint now, PeerId from, bool is_here, Effects& effects);
    void on_push_worked(
        TimePoint now, const EdgeKey& edge, const WorkResult& result, Effects& effects);
    void begin_mixer_finishing(TimePoint now, Effects& effects);
    void count_mesh(TimePoint now);
    [[nodiscard]] std::vector<EdgeStatus> mixing_links() const;
    [[nodiscard]] double distance_ratio() const;
    [[nodiscard]] double parameter_norm() const;
    void pace(Effects& effects);
    void report(TimePoint now, Effects& effects);
    void estimate_progress(TimePoint now);
    void tell_report_wishes(TimePoint now, Effects& effects);
    void evaluate(Effects& effects);
    void on_evaluated(TimePoint now, const Evaluated* measured, Effects& effects);
    void take_sketch(TimePoint now, Effects& effects);
    void save(bool is_final, Effects& effects);
    [[nodiscard]] JobReport make_report(TimePoint now) const;

    // job_run_end.cpp
    [[nodiscard]] Ending::Context context(TimePoint now) const;
    void end_when_over(TimePoint now, Effects& effects);
    void begin_finishing(TimePoint now, EndReason reason, Effects& effects);
    void consider_kept_end(TimePoint now, Effects& effects);
    void consider_final(TimePoint now, Effects& effects);
    [[nodiscard]] bool is_final_out_of_reach(TimePoint now) const;
    void on_final_recalled(const Frozen* frozen);
    [[nodiscard]] std::optional<Signed<Final>> reported_final(
        const std::set<BlobHash>& known) const;
    void observe_end(TimePoint now, Effects& effects);
    void look_at_end(TimePoint now, Effects& effects);
    [[nodiscard]] bool is_late_for_end(TimePoint now) const;
    [[nodiscard]] bool has_others_at_end(TimePoint now) const;

    [[nodiscard]] bool awaits_final() const {
        return state_ == JobState::finishing || (is_observing_end_ && state_ == JobState::waiting);
    }

    void choose_final(TimePoint now, Effects& effects);
    void fetch_final(TimePoint now, Effects& effects);
    void on_final_source_failed(PeerId source, bool is_wrong, Effects& effects);
    void drop_final_fetch(Effects& effects);
    void on_final_checked(TimePoint now, const BlobChecked& checked, Effects& effects);
    void on_final_frozen(TimePoint now, const Frozen* frozen, Effects& effects);
    void become_done(TimePoint now, Effects& effects);
    [[nodiscard]] std::vector<PeerId> holders(const BlobHash& hash) const;

    // job_run_state.cpp
    [[nodiscard]] bool is_stale(TimePoint now) const;
    void catch_up_when_stale(TimePoint now, Effects& effects);
    void catch_up_again(TimePoint now, Effects& effects);
    void ask_donor(TimePoint now, Effects& effects);
    void give_up_catching_up(TimePoint now, Effects& effects);
    void drop_catch_up(Effects& effects);
    void on_state_checked(TimePoint now, const BlobChecked& checked, Effects& effects);
    void consider_offered_state(TimePoint now, Effects& effects);
    void refuse_donor(TimePoint now, const Error& why, Effects& effects);
    void on_adopt_answer(
        TimePoint now, Purpose purpose, const WorkResult& result, Effects& effects);
    void offer_frozen(PeerId joiner, Effects& effects);
    void on_frozen_for_joiner(TimePoint now, const Frozen& frozen, Effects& effects);
    void drop_blob(const BlobHash& hash, Effects& effects);
    void fetch_spec_elsewhere(TimePoint now, const Error& why);
    void on_spec_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects);

    // job_run_report.cpp
    void on_retry(TimePoint now, Effects& effects);
    void note(LedgerLine line, Effects& effects);

    JobId job_;
    const NodeConfig& config_;
    Desk& desk_;
    Rng rng_;
    std::string name_;

    std::optional<Signed<JobAnnouncement>> announcement_;
    std::optional<Signed<JobControl>> control_;
    std::optional<Signed<JobEnd>> end_;
    std::optional<Signed<JobEnd>> kept_end_;  // not believed yet; looked at again
    std::optional<Signed<Final>> final_;
    std::map<PeerId, Signed<Final>> finals_;  // by author; final_ is the best that can be taken
    TimePoint final_chosen_at_{};
    std::optional<std::map<PeerId, BlobRequest>> recalling_for_;  // while the final is recalled
    bool is_recall_failed_ = false;
    bool is_observing_end_ = false;          // has too little of the work to mix at the end
    std::set<BlobHash> finals_void_;         // no live member holds them
    std::set<BlobHash> finals_far_;          // from the own replica: only when others took them
    std::map<PeerId, int> final_failures_;   // of holders, with final_
    std::set<PeerId> spec_sources_refused_;  // gave other bytes
    std::optional<Signed<JobReport>> told_;  // the last own report

    Bytes spec_arriving_;
    std::optional<BlobFetch> spec_fetch_;
    std::optional<BlobFetch> final_fetch_;
    std::shared_ptr<const JobSpec> spec_;
    std::shared_ptr<const Bytes> spec_bytes_;
    bool is_accepted_ = false;
    bool is_training_started_ = false;
    bool is_trainer_ready_ = false;
    bool is_resumed_done_ = false;
    bool is_offering_final_ = false;
    bool is_checking_final_ = false;
    bool is_stopping_ = false;

    JobState state_ = JobState::waiting;
    std::string reason_ = "the specification is on its way";
    TimePoint since_{};

    Progress progress_;
    Members members_;
    ReportRelay relay_;
    std::optional<Ending> ending_;
    std::optional<Mixer> mixer_;
    std::optional<Pusher> pusher_;              // where the recipe does not swap
    std::map<PeerId, BlobFetch> push_fetches_;  // one a peer
    bool is_finish_due_ = false;                // once no push is under way any more
    std::string recipe_text_;
    Finish finish_ = Finish::exact;
    bool is_steered_ = false;  // the mesh's size is in the outer step, not in the learning rate
    LocalSpec local_;
    std::uint64_t blob_bytes_max_ = 0;
    std::map<PeerId, Incarnation> linked_;
    std::optional<CatchUp> catch_up_;
    std::set<PeerId> donors_refused_;  // their state lay far from the others'
    std::set<PeerId> joiners_;         // asked for state, freeze under way
    std::optional<BlobHash> frozen_;
    std::uint64_t frozen_bytes_ = 0;
    TimePoint frozen_at_{};
    bool is_freezing_ = false;

    StepLimit limit_{no_step_limit};
    SteppedReport stepped_;
    RateMeter samples_rate_{std::chrono::seconds{5}};
    std::uint64_t report_sequence_;
    std::optional<TimePoint> began_at_;
    double eval_loss_ = 0;
    double accuracy_ = 0;
    bool is_evaluating_ = false;
    bool is_evaluation_stale_ = false;  ///< another follows the one under way
    bool is_sketching_ = false;
    std::optional<Sketch> sketch_;
    BlobHash final_hash_;
    int saves_under_way_ = 0;
    StepCount steps_saved_;
    std::optional<Error> save_error_;
    Ring<LedgerLine> ledger_{256};
    Deadlines<Alarm> alarms_;
};

}  // namespace p2p::core
