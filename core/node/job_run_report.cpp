// What a job run tells: its reports to the mesh, its status to people, its alarms to the hall; and
// what its operator may ask (core/node/job_run).

#include <algorithm>
#include <utility>

#include "core/job/joining.hpp"
#include "core/node/job_run.hpp"

namespace p2p::core {

namespace {

constexpr Duration retry_after = std::chrono::seconds{2};
constexpr Duration look_again_after = std::chrono::seconds{5};

}  // namespace

// --- to the mesh ---------------------------------------------------------------------------------

JobReport JobRun::make_report(TimePoint now) const {
    JobReport report;
    report.job = job_;
    report.incarnation = config_.incarnation;
    report.sequence = report_sequence_;
    report.state = state_;
    report.steps = stepped_.steps;
    report.samples = progress_.own();
    RateMeter rate = samples_rate_;
    report.samples_per_second = state_ == JobState::running ? rate.per_second(now) : 0;
    report.train_loss = stepped_.train_loss;
    report.eval_loss = eval_loss_;
    report.accuracy = accuracy_;
    report.utilization = stepped_.utilization;
    report.batch_hash = stepped_.batch_hash;
    report.training_time = began_at_ ? now - *began_at_ : Duration{};
    report.final_hash = final_hash_;
    report.sketch = sketch_;
    if (!mixer_) return report;

    report.distance_ratio = distance_ratio();
    report.swaps = mixer_->swaps_applied() + (pusher_ ? pusher_->absorbed_count() : 0);
    report.settled = state_ == JobState::finishing && mixer_->is_settled() && !final_fetch_;
    for (const EdgeStatus& link : mixing_links())
        report.bytes_sent += link.bytes_sent.value;
    return report;
}

void JobRun::report(TimePoint now, Effects& effects) {
    if (!is_accepted_ && state_ != JobState::blocked) return;
    ++report_sequence_;
    if (state_ == JobState::finishing && mixer_) count_mesh(now);
    told_ = made_here(desk_.self(), make_report(now));
    desk_.broadcast(*told_, std::nullopt, effects);
    tell_report_wishes(now, effects);
    alarms_.set(Alarm::report, now + config_.report_interval);
}

std::vector<Message> JobRun::records() const {
    std::vector<Message> records;
    if (announcement_) records.emplace_back(*announcement_);
    for (const auto& [peer, member] : members_.all())
        records.emplace_back(member.report);
    if (told_) records.emplace_back(*told_);
    if (control_) records.emplace_back(*control_);
    if (end_) records.emplace_back(*end_);
    if (final_) records.emplace_back(*final_);
    return records;
}

/// Where not every report is passed on, the counts of others come late.
void JobRun::estimate_progress(TimePoint now) {
    const Duration interval = config_.report_interval;
    progress_.estimate(now, interval, [&](PeerId peer) {
        const Members::Member* member = members_.find(peer);
        const bool runs = member != nullptr && member->state() == JobState::running
                          && members_.is_live(now, *member);
        return runs ? member->spacing - interval : Duration{};
    });
}

void JobRun::evaluate(Effects& effects) {
    if (is_evaluating_ || !is_trainer_ready_) return;
    is_evaluating_ = true;
    is_evaluation_stale_ = false;
    desk_.order(
        {.job = job_, .purpose = Purpose::evaluate, .edge = {}}, Evaluate{.job = job_}, effects);
}

void JobRun::on_evaluated(TimePoint now, const Evaluated* measured, Effects& effects) {
    is_evaluating_ = false;
    if (is_evaluation_stale_) return evaluate(effects);
    if (measured == nullptr || !measured->has_test_set) return;
    eval_loss_ = measured->loss;
    accuracy_ = measured->accuracy;
    effects.emplace_back(Say{JobEvaluated{
        .job = job_,
        .samples_mesh = progress_.mesh(),
        .step = stepped_.steps,
        .loss = eval_loss_,
        .accuracy = accuracy_}});
    report(now, effects);
}

void JobRun::take_sketch(TimePoint now, Effects& effects) {
    if (!is_mixing(state_)) return;  // begin() takes the next
    alarms_.set(Alarm::sketch, now + sketch_interval);
    if (is_sketching_ || !is_trainer_ready_) return;
    is_sketching_ = true;
    desk_.order(
        {.job = job_, .purpose = Purpose::sketch, .edge = {}}, TakeSketch{.job = job_}, effects);
}

void JobRun::save(bool is_final, Effects& effects) {
    if (!is_trainer_ready_) return;
    ++saves_under_way_;
    steps_saved_ = stepped_.steps;
    effects.emplace_back(Save{
        .job = job_,
        .is_final = is_final,
        .state = state_,
        .samples_mesh = progress_.mesh(),
        .final_hash = final_hash_});
}

void JobRun::on_saved(TimePoint now, const Status& result) {
    (void)now;
    saves_under_way_ = std::max(0, saves_under_way_ - 1);
    save_error_.reset();
    if (!result) save_error_ = result.error();
}

// --- alarms --------------------------------------------------------------------------------------

void JobRun::on_wakeup(TimePoint now, Effects& effects) {
    if (mixer_) {
        MixingOutputs outputs;
        mixer_->on_wakeup(now, outputs);
        if (pusher_) pusher_->on_wakeup(now, outputs);
        lift(now, outputs, effects);
    }
    if (alarms_.take_due(Alarm::report, now)) {
        report(now, effects);
        estimate_progress(now);
        pace(effects);
        end_when_over(now, effects);
        consider_final(now, effects);
        begin_when_possible(now, effects);
    }
    if (alarms_.take_due(Alarm::evaluate, now)) {
        evaluate(effects);
        alarms_.set(Alarm::evaluate, now + spec_->eval.every);
    }
    if (alarms_.take_due(Alarm::wishes, now)) tell_report_wishes(now, effects);
    if (alarms_.take_due(Alarm::sketch, now)) take_sketch(now, effects);
    if (alarms_.take_due(Alarm::save, now)) {
        if (steps_saved_ != stepped_.steps && saves_under_way_ == 0) save(false, effects);
        alarms_.set(Alarm::save, now + spec_->checkpoint.every);
    }
    if (alarms_.take_due(Alarm::drop_frozen, now) && frozen_) {
        if (desk_.is_sending(*frozen_)) {
            alarms_.set(Alarm::drop_frozen, now + look_again_after);
        } else {
            drop_blob(*std::exchange(frozen_, std::nullopt), effects);
        }
    }
    if (alarms_.take_due(Alarm::retry, now)) on_retry(now, effects);
    if (catch_up_ && now >= catch_up_->give_up_at) {
        if (catch_up_->offered && !catch_up_->is_adopting) {
            return consider_offered_state(now, effects);
        }
        catch_up_again(now, effects);
    }
}

/// Something that was asked of a peer has not come.
void JobRun::on_retry(TimePoint now, Effects& effects) {
    if (final_ && awaits_final()) fetch_final(now, effects);
    if (spec_ || !spec_fetch_) return;
    if (spec_fetch_->source() && now >= *spec_fetch_->deadline()) spec_fetch_->on_source_lost();
    if (!spec_fetch_->source()) {
        std::vector<PeerId> sources;
        for (const auto& [peer, incarnation] : linked_)
            if (!spec_sources_refused_.contains(peer)) sources.push_back(peer);
        if (sources.empty()) {
            spec_sources_refused_.clear();  // none is left: what else could be done
        } else {
            fetch_spec(now, sources[rng_.below(sources.size())], effects);
        }
    }
    alarms_.set_no_later(Alarm::retry, now + retry_after);
}

std::optional<TimePoint> JobRun::next_wakeup() const {
    std::optional<TimePoint> next = alarms_.next();
    if (mixer_) next = earlier(next, mixer_->next_wakeup());
    if (pusher_) next = earlier(next, pusher_->next_wakeup());
    if (catch_up_) next = earlier(next, catch_up_->give_up_at);
    return next;
}

// --- what the operator asks ----------------------------------------------------------------------

void JobRun::pause(TimePoint now, Effects& effects) {
    if (state_ != JobState::running && state_ != JobState::waiting) return;
    set_state(now, JobState::paused, "by p2pctl on this node", effects);
    drop_catch_up(effects);
    if (!mixer_) return;
    stop_mixing(now, effects);
    pace(effects);
}

void JobRun::resume(TimePoint now, Effects& effects) {
    if (state_ != JobState::paused) return;
    set_state(now, JobState::waiting, "resumed", effects);
    if (!is_training_started_) return join(now, effects);
    begin_when_possible(now, effects);
}

void JobRun::stop(TimePoint now, Effects& effects) {
    const auto control =
        made_here(desk_.self(), JobControl{.job = job_, .action = JobControl::Action::stop});
    on_control(now, control, effects);
}

void JobRun::prepare_shutdown(TimePoint now, Effects& effects) {
    is_stopping_ = true;
    if (!is_trainer_ready_) return;
    stop_mixing(now, effects);
    if (state_ == JobState::done || state_ == JobState::stopped) return;
    save(false, effects);
    alarms_ = {};
    pace(effects);
}

void JobRun::remove(TimePoint now, Effects& effects) {
    (void)now;
    desk_.forget_work(job_);
    drop_catch_up(effects);
    drop_final_fetch(effects);
    const auto spec_hash = *BlobHash::from_bytes(job_.bytes);
    drop_blob(spec_hash, effects);
    if (!final_hash_.is_zero()) drop_blob(final_hash_, effects);
    if (frozen_) drop_blob(*frozen_, effects);
    effects.emplace_back(DropTraining{.job = job_, .remove = true});
}

// --- to people -----------------------------------------------------------------------------------

std::optional<PeerId> JobRun::twin(TimePoint now) const {
    if (state_ != JobState::running) return std::nullopt;
    return members_.twin_of(now, stepped_.batch_hash);
}

JobStatus JobRun::status(TimePoint now) const {
    JobStatus status;
    status.job = job_;
    status.name = name_;
    status.spec = spec_;
    status.submitter = submitter();
    status.state = state_;
    status.reason = reason_;
    status.recipe = recipe_text_;
    status.since = now - since_;
    status.samples_mesh = progress_.mesh();
    status.samples_total = progress_.total();
    status.progress_ratio = state_ == JobState::done ? 1 : progress_.ratio();
    status.own = make_report(now);
    status.final_hash = final_hash_;
    status.members = 1;
    double rate = status.own.samples_per_second;
    for (const auto& [peer, member] : members_.all()) {
        const bool is_live = members_.is_live(now, member);
        status.others.push_back(
            {.id = peer,
             .report = member.report.value,
             .age = now - member.heard,
             .connected = member.is_linked});
        if (!is_live) continue;
        ++status.members;
        if (member.state() == JobState::running) rate += member.report.value.samples_per_second;
    }
    if (state_ == JobState::running && rate > 0 && progress_.total().value > 0) {
        const double left = static_cast<double>(progress_.total().value) * (1 - progress_.ratio());
        status.time_left = from_seconds(std::min(left / rate, 1e8));
    }
    if (ending_) status.end_reason = ending_->reason();
    if (mixer_) {
        status.edges = mixing_links();
        status.parameter_norm = parameter_norm();
        status.choices = mixer_->choices();
    }
    status.ledger.assign(ledger_.begin(), ledger_.end());
    return status;
}

}  // namespace p2p::core
