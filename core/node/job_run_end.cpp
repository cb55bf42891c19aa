// How a job ends on this node (core/node/job_run): joins job/ending to mixing and the trainer.
//
// running --JobEnd--> finishing --all settled--> a Final is offered --taken--> done (or stopped)

#include <algorithm>
#include <utility>

#include "core/node/job_run.hpp"

namespace p2p::core {

namespace {

constexpr Duration fetch_patience = std::chrono::seconds{10};
constexpr Duration reach_patience = std::chrono::seconds{30};  // for a holder that is not linked
constexpr Duration retry_after = std::chrono::seconds{1};
constexpr int failures_max = 3;  // of one holder of a final model
constexpr std::size_t finals_refused_max = 64;

}  // namespace

Ending::Context JobRun::context(TimePoint now) const {
    return {
        .now = now,
        .self = desk_.self(),
        .progress = progress_,
        .members = members_,
        .training_time = began_at_ ? now - *began_at_ : Duration{},
        .has_signed_stop = control_.has_value()};
}

void JobRun::end_when_over(TimePoint now, Effects& effects) {
    if (!ending_ || ending_->reason() || state_ != JobState::running) return;
    const auto reason = ending_->is_over(context(now));
    if (!reason) return;
    end_ = made_here(
        desk_.self(), JobEnd{.job = job_, .reason = *reason, .progress = progress_.mesh()});
    desk_.broadcast(*end_, std::nullopt, effects);
    begin_finishing(now, *reason, effects);
}

void JobRun::on_control(TimePoint now, const Signed<JobControl>& control, Effects& effects) {
    if (control_) return;
    control_ = control;
    desk_.broadcast(control, control.author, effects);
    if (state_ == JobState::running) return end_when_over(now, effects);
    if (state_ == JobState::waiting || state_ == JobState::blocked) {
        set_state(now, JobState::stopped, "stopped before its first step", effects);
        save(/*is_final=*/false, effects);  // else a restart would forget it
    }
}

void JobRun::on_end(TimePoint now, const Signed<JobEnd>& end, Effects& effects) {
    if (end_ || kept_end_ == end) return;
    kept_end_ = end;
    consider_kept_end(now, effects);
}

/// A JobEnd that was not believed is looked at again with each report.
void JobRun::consider_kept_end(TimePoint now, Effects& effects) {
    if (end_ || !kept_end_ || !ending_) return;
    if (!ending_->is_believable(kept_end_->value, context(now))) return;
    end_ = std::exchange(kept_end_, std::nullopt);
    desk_.broadcast(*end_, end_->author, effects);
    begin_finishing(now, end_->value.reason, effects);
}

void JobRun::begin_finishing(TimePoint now, EndReason reason, Effects& effects) {
    ending_->latch(now, reason);
    if (state_ != JobState::running) return;  // looked at again when the job begins here
    if (is_late_for_end(now)) return observe_end(now, effects);
    effects.emplace_back(EndTraining{.job = job_});
    if (catch_up_) give_up_catching_up(now, effects);
    alarms_.clear(Alarm::evaluate);
    alarms_.clear(Alarm::save);
    set_state(now, JobState::finishing, "replicas are brought together", effects);
    MixingOutputs outputs;
    if (finish_ == Finish::none) {
        mixer_->stop(now, outputs);
    }
    if (pusher_) pusher_->stop(now, outputs);
    is_finish_due_ = finish_ != Finish::none;
    lift(now, outputs, effects);
    begin_mixer_finishing(now, effects);
    consider_final(now, effects);
}

/// A newcomer that could not catch up any more. (Who has swapped holds some of everybody's work,
/// and its own, which counts: it ends with the others, however long ago that was.)
bool JobRun::is_late_for_end(TimePoint now) const {
    return !progress_.has_been_current() && is_stale(now) && has_others_at_end(now);
}

/// Somebody who has the work brings it together, or has done so.
bool JobRun::has_others_at_end(TimePoint now) const {
    return !members_
                .live_in(
                    now,
                    {JobState::running, JobState::finishing, JobState::done, JobState::stopped})
                .empty();
}

/// The job ends, and this replica has too little of its work: it does not mix, and takes the Final
/// that members hold who were there.
void JobRun::observe_end(TimePoint now, Effects& effects) {
    is_observing_end_ = true;
    drop_catch_up(effects);
    effects.emplace_back(EndTraining{.job = job_});
    alarms_.clear(Alarm::evaluate);
    alarms_.clear(Alarm::save);
    stop_mixing(now, effects);
    set_state(now, JobState::waiting, "the job is ending: waits for its final model", effects);
    consider_final(now, effects);
}

/// Once each report period while observing: where all that had the work are gone, this one ends it.
void JobRun::look_at_end(TimePoint now, Effects& effects) {
    if (has_others_at_end(now)) return consider_final(now, effects);
    is_observing_end_ = false;
    begin(now, effects);
}

/// Once each report period while finishing.
void JobRun::consider_final(TimePoint now, Effects& effects) {
    if (!awaits_final() || is_offering_final_ || is_checking_final_) return;
    choose_final(now, effects);
    if (final_) return fetch_final(now, effects);
    if (is_observing_end_) return;
    const bool alone = finish_ == Finish::none;
    if (!alone && !ending_->should_offer_final(context(now), mixer_->is_settled())) return;

    is_offering_final_ = true;
    stop_mixing(now, effects);
    desk_.order(
        {.job = job_, .purpose = Purpose::freeze_final, .edge = {}},
        Freeze{.job = job_, .with_optimizer = false},
        effects);
}

void JobRun::on_final_frozen(TimePoint now, const Frozen* frozen, Effects& effects) {
    is_offering_final_ = false;
    if (frozen == nullptr || state_ != JobState::finishing) return;
    desk_.blobs[frozen->hash] = frozen->bytes;
    final_hash_ = frozen->hash;
    if (finish_ != Finish::none) {
        final_ = made_here(
            desk_.self(),
            Final{
                .job = job_,
                .hash = frozen->hash,
                .bytes = ByteCount{frozen->bytes},
                .progress = progress_.mesh()});
        finals_.insert_or_assign(desk_.self(), *final_);
        desk_.broadcast(*final_, std::nullopt, effects);
    }
    become_done(now, effects);
}

void JobRun::on_final(TimePoint now, PeerId from, const Signed<Final>& final, Effects& effects) {
    const auto kept = finals_.find(final.author);
    if (kept != finals_.end() && !Ending::is_better(final.value, kept->second.value)) return;
    finals_.insert_or_assign(final.author, final);
    desk_.broadcast(final, from, effects);
    choose_final(now, effects);
    if (final_) fetch_final(now, effects);
}

/// The best of those that can be taken: one that nobody holds is void, and one that lies far from
/// the own replica waits until others have taken it.
void JobRun::choose_final(TimePoint now, Effects& effects) {
    if (is_offering_final_ || is_checking_final_) return;
    const auto known = Ending::known_done(context(now));
    const Signed<Final>* best = nullptr;
    for (const auto& [author, final] : finals_) {
        const BlobHash& hash = final.value.hash;
        if (finals_void_.contains(hash)) continue;
        const bool must_be_known = is_observing_end_ || finals_far_.contains(hash);
        if (must_be_known && !known.contains(hash)) continue;
        if (best == nullptr || Ending::is_better(final.value, best->value)) best = &final;
    }
    const auto reported = best == nullptr ? reported_final(known) : std::nullopt;
    if (reported) best = &*reported;
    if (best != nullptr && final_ && final_->value == best->value) return;
    drop_final_fetch(effects);
    final_failures_.clear();
    final_.reset();
    if (best != nullptr) final_ = *best;
    final_chosen_at_ = now;
}

/// What members report that are done (their Final may have been told before they were restarted).
std::optional<Signed<Final>> JobRun::reported_final(const std::set<BlobHash>& known) const {
    if (known.empty()) return std::nullopt;
    for (const auto& [peer, member] : members_.all()) {
        const BlobHash& hash = member.report.value.final_hash;
        if (finals_void_.contains(hash) || !known.contains(hash)) continue;
        return made_here(peer, Final{.job = job_, .hash = hash, .bytes = {}, .progress = {}});
    }
    return std::nullopt;
}

/// A live member holds it, or made it, and may be linked again soon: it is not void yet.
bool JobRun::is_final_out_of_reach(TimePoint now) const {
    if (now - final_chosen_at_ >= reach_patience) return false;
    const auto& members = members_.all();
    return std::any_of(members.begin(), members.end(), [&](const auto& entry) {
        const auto& [peer, member] = entry;
        const bool has_it =
            peer == final_->author || member.report.value.final_hash == final_->value.hash;
        return has_it && !member.is_linked && members_.is_live(now, member);
    });
}

void JobRun::drop_final_fetch(Effects& effects) {
    if (!final_fetch_) return;
    const BlobHash hash = final_fetch_->hash();
    final_fetch_.reset();
    drop_blob(hash, effects);
}

std::vector<PeerId> JobRun::holders(const BlobHash& hash) const {
    std::vector<PeerId> peers;
    const auto add = [&](PeerId peer) {
        const auto failures = final_failures_.find(peer);
        const bool is_out = failures != final_failures_.end() && failures->second >= failures_max;
        if (linked_.contains(peer) && !is_out) peers.push_back(peer);
    };
    if (final_) add(final_->author);
    for (const auto& [peer, member] : members_.all()) {
        if (member.report.value.final_hash == hash) add(peer);
    }
    return peers;
}

void JobRun::fetch_final(TimePoint now, Effects& effects) {
    if (!awaits_final() || is_offering_final_ || is_checking_final_) return;
    if (!final_fetch_) final_fetch_.emplace(final_->value.hash, blob_bytes_max_);
    if (const auto source = final_fetch_->source()) {
        if (now < *final_fetch_->deadline()) return;
        ++final_failures_[*source];
        final_fetch_->on_source_lost();
    }
    const auto peers = holders(final_->value.hash);
    if (peers.empty() && is_final_out_of_reach(now)) {
        return alarms_.set_no_later(Alarm::retry, now + retry_after);
    }
    if (peers.empty()) {
        // Nobody live holds it: it is void, and the next lowest live id makes one.
        if (finals_void_.size() >= finals_refused_max) finals_void_.clear();
        finals_void_.insert(final_->value.hash);
        return choose_final(now, effects);
    }
    const PeerId source = peers[rng_.below(peers.size())];
    desk_.send(source, final_fetch_->ask(now, source, fetch_patience), effects);
    alarms_.set_no_later(Alarm::retry, now + retry_after);
}

/// `is_wrong`: it gave something else; what has come is worth nothing.
void JobRun::on_final_source_failed(PeerId source, bool is_wrong, Effects& effects) {
    final_failures_[source] = failures_max;
    if (is_wrong) return drop_final_fetch(effects);
    final_fetch_->on_source_lost();
}

void JobRun::on_final_checked(TimePoint now, const BlobChecked& checked, Effects& effects) {
    is_checking_final_ = false;
    if (!final_ || !final_fetch_ || !awaits_final()) return drop_final_fetch(effects);
    if (!checked.distance_ratio) {
        if (const auto source = final_fetch_->source()) final_failures_[*source] = failures_max;
        return drop_final_fetch(effects);  // asked of another with the next report
    }
    const BlobHash hash = final_->value.hash;
    const auto where = context(now);
    if (!ending_->is_acceptable(
            where, *checked.distance_ratio, Ending::known_done(where).contains(hash))) {
        // Nobody may replace everybody's model: "settled" is withdrawn and swaps go on.
        if (finals_far_.size() >= finals_refused_max) finals_far_.clear();
        finals_far_.insert(hash);
        return choose_final(now, effects);
    }
    desk_.blobs[hash] = final_fetch_->total();
    final_fetch_.reset();
    final_hash_ = hash;
    stop_mixing(now, effects);
    is_checking_final_ = true;
    desk_.order(
        {.job = job_, .purpose = Purpose::adopt_final, .edge = {}},
        Adopt{.job = job_, .hash = hash},
        effects);
}

// --- the final model after a restart -------------------------------------------------------------

bool JobRun::on_blob_asked(PeerId from, const BlobRequest& request, Effects& effects) {
    if (!is_resumed_done_ || is_recall_failed_ || !spec_ || request.hash != final_hash_)
        return false;
    if (!recalling_for_) {
        recalling_for_.emplace();
        desk_.order(
            {.job = job_, .purpose = Purpose::recall_final, .edge = {}},
            RecallFinal{.job = job_, .spec = spec_, .spec_bytes = spec_bytes_},
            effects);
    }
    recalling_for_->insert_or_assign(from, request);
    return true;
}

void JobRun::on_final_recalled(const Frozen* frozen) {
    const auto asked = std::exchange(recalling_for_, std::nullopt);
    is_recall_failed_ = frozen == nullptr || frozen->hash != final_hash_;
    if (is_recall_failed_ || !asked) return;
    desk_.blobs[frozen->hash] = frozen->bytes;
    for (const auto& [peer, request] : *asked)
        desk_.send_blob(peer, request);
}

void JobRun::become_done(TimePoint now, Effects& effects) {
    is_checking_final_ = false;
    const bool is_stopped = ending_->reason() == EndReason::stop;
    set_state(
        now,
        is_stopped ? JobState::stopped : JobState::done,
        is_stopped ? "stopped by " + control_->author.short_text() : "",
        effects);
    is_evaluation_stale_ = is_evaluating_;  // of the model before this one
    evaluate(effects);
    save(/*is_final=*/true, effects);
}

}  // namespace p2p::core
