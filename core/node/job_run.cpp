#include "core/node/job_run.hpp"

#include <algorithm>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/node/job_layout.hpp"

namespace p2p::core {

namespace {

constexpr Duration report_fresh_for = std::chrono::seconds{10};
constexpr Duration fetch_patience = std::chrono::seconds{10};
constexpr Duration retry_after = std::chrono::seconds{2};

std::uint64_t encoded_size(CodecId codec, std::size_t floats, bool keyframe) {
    return encoded_bytes(codec, floats, keyframe);
}

/// Above all that this process told of a job which it removed and takes up again.
std::uint64_t first_sequence(TimePoint now) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, since.count()));
}

}  // namespace

JobRun::JobRun(TimePoint now, JobId job, const NodeConfig& config, Desk& desk, Rng rng)
    : job_(job),
      config_(config),
      desk_(desk),
      rng_(rng),
      since_(now),
      progress_(desk.self(), SampleCount{}),
      members_(report_fresh_for),
      relay_(config.report_interval, rng.split(3)),
      report_sequence_(first_sequence(now)) {}

PeerId JobRun::submitter() const {
    return announcement_ ? announcement_->author : PeerId{};
}

void JobRun::set_state(TimePoint now, JobState state, std::string reason, Effects& effects) {
    if (state == state_ && reason == reason_) return;
    const bool is_new = state != state_;
    state_ = state;
    reason_ = std::move(reason);
    if (is_new) since_ = now;
    effects.emplace_back(
        Say{JobChanged{.job = job_, .name = name_, .state = state_, .reason = reason_}});
    if (is_new && is_accepted_) report(now, effects);
}

// --- how a job comes here ------------------------------------------------------------------------

void JobRun::on_announced(const Signed<JobAnnouncement>& record, Effects& effects) {
    if (announcement_) return;
    announcement_ = record;
    name_ = record.value.name;
    effects.emplace_back(
        Say{JobChanged{.job = job_, .name = name_, .state = state_, .reason = reason_}});
}

void JobRun::fetch_spec(TimePoint now, PeerId from, Effects& effects) {
    if (spec_ || (spec_fetch_ && spec_fetch_->source())) return;
    if (!spec_fetch_) {
        const auto hash = BlobHash::from_bytes(job_.bytes);
        spec_fetch_.emplace(*hash, limits::job_spec_bytes_max);
    }
    desk_.send(from, spec_fetch_->ask(now, from, fetch_patience), effects);
    alarms_.set_no_later(Alarm::retry, now + retry_after);
}

void JobRun::on_submitted(TimePoint now, const SubmitJob& submit, Effects& effects) {
    spec_bytes_ = submit.spec_bytes;
    name_ = submit.spec.name;
    is_accepted_ = true;
    if (!announcement_) {
        announcement_ = made_here(
            desk_.self(),
            JobAnnouncement{
                .job = job_, .name = name_, .spec_bytes = ByteCount{spec_bytes_->size()}});
    }
    desk_.broadcast(*announcement_, std::nullopt, effects);
    accept_spec(now, submit.spec, effects);
}

void JobRun::on_resumed(const ResumedJob& resumed, Effects& effects) {
    is_accepted_ = true;
    announcement_ = resumed.announcement;
    is_resumed_done_ = resumed.state == JobState::done || resumed.state == JobState::stopped;
    if (is_resumed_done_) final_hash_ = resumed.final_hash;
    state_ = is_resumed_done_ ? resumed.state : JobState::waiting;
    reason_ = is_resumed_done_ ? "" : "taking up the last checkpoint";
    stepped_.steps = resumed.steps;
    stepped_.samples = resumed.samples;
    progress_.set_own(resumed.samples);
    spec_bytes_ = std::make_shared<const Bytes>(resumed.spec_bytes);
    desk_.order(
        {.job = job_, .purpose = Purpose::read_spec, .edge = {}},
        ReadSpec{.job = job_, .bytes = spec_bytes_},
        effects);
}

void JobRun::accept_spec(TimePoint now, JobSpec spec, Effects& effects) {
    spec_ = std::make_shared<const JobSpec>(std::move(spec));
    name_ = spec_->name;
    spec_fetch_.reset();
    ending_.emplace(*spec_, config_.report_interval);
    desk_.blobs[*BlobHash::from_bytes(job_.bytes)] = spec_bytes_->size();
    alarms_.set(Alarm::report, now);
    if (is_resumed_done_) return;
    if (is_accepted_ || config_.accept == JobAccept::all) return join(now, effects);
    const bool asks = config_.accept == JobAccept::ask;
    set_state(
        now,
        JobState::blocked,
        std::string(
            asks ? "waits for the operator" : "this node takes no jobs (jobs.accept = none)")
            + ": p2pctl job join " + name_,
        effects);
}

void JobRun::join(TimePoint now, Effects& effects) {
    is_accepted_ = true;
    if (!spec_ || is_training_started_) return;
    const auto recipe =
        resolve_recipe(spec_->mixing.recipe, spec_->mixing.axes, spec_->train.round_steps);
    if (!recipe) return set_state(now, JobState::failed, recipe.error().text(), effects);
    if (const Status suits = check_local(*spec_, recipe->local); !suits) {
        return set_state(now, JobState::failed, suits.error().text(), effects);
    }
    if (const Status fits = check_layers(*spec_, *recipe); !fits) {
        return set_state(now, JobState::failed, fits.error().text(), effects);
    }
    const bool is_external = spec_->model.kind == ModelKind::external;
    if (!is_external && !config_.datasets.contains(spec_->data.set)) {
        return set_state(
            now,
            JobState::blocked,
            "this node has no data set \"" + spec_->data.set
                + "\": name its folder under [datasets] in p2pd.toml, then restart p2pd",
            effects);
    }
    recipe_text_ = recipe->text();
    finish_ = recipe->finish;
    is_steered_ = recipe->is_steered;
    local_ = recipe->local;
    MixerConfig config{
        .job = job_,
        .self = desk_.self(),
        .site = config_.site,
        .layout = layout_of(*spec_, *recipe),
        .recipe = *recipe,
        .seed = mix_key(spec_->seed, desk_.self().bytes),
        .job_seed = spec_->seed,
        .finish_tolerance = spec_->mixing.finish_tolerance,
        .deadline = spec_->mixing.deadline,
        .bury_after = config_.bury_after,
        .encoded_bytes = &encoded_size,
        .shard_codecs = {},
        .knows_initial = spec_->model.kind != ModelKind::external,
        .share_rule = {}};
    config.shard_codecs = shard_codecs(config.layout, *recipe);
    if (!recipe->swaps()) {
        pusher_.emplace(
            PusherConfig{
                .job = job_,
                .layout = config.layout,
                .recipe = *recipe,
                .seed = config.seed,
                .deadline = config.deadline,
                .encoded_bytes = config.encoded_bytes},
            rng_.split(2));
    }
    blob_bytes_max_ = config.layout.floats() * sizeof(float) * 4 + (std::uint64_t{1} << 20U);
    mixer_.emplace(std::move(config), rng_.split(1));
    refresh_partners(now, effects);
    start_training(now, effects);
}

void JobRun::start_training(TimePoint now, Effects& effects) {
    is_training_started_ = true;
    effects.emplace_back(StartTraining{
        .job = job_,
        .spec = spec_,
        .spec_bytes = spec_bytes_,
        .set_folder_name = spec_->data.set,
        .local = local_,
        .announcement = announcement_});
    const bool is_external = spec_->model.kind == ModelKind::external;
    set_state(
        now,
        JobState::waiting,
        is_external ? "waits for its training process to connect" : "loads its data",
        effects);
}

void JobRun::on_trainer(TimePoint now, const TrainerReady& ready, Effects& effects) {
    if (!spec_) return;
    if (!ready.status) {
        const JobState state = spec_->model.kind == ModelKind::external && is_trainer_ready_
                                   ? JobState::waiting
                                   : JobState::failed;
        is_trainer_ready_ = false;
        const bool needs_it = state_ == JobState::waiting || is_mixing(state_);
        if (!needs_it) return;  // paused stays paused, and done is done
        stop_mixing(now, effects);
        return set_state(now, state, ready.status.error().text(), effects);
    }
    is_trainer_ready_ = true;
    progress_.set_total(samples_total(*spec_, ready.set_samples));
    progress_.on_resumed(ready.samples, ready.samples_mesh);
    stepped_.steps = ready.steps;
    stepped_.samples = ready.samples;
    steps_saved_ = ready.steps;
    begin_when_possible(now, effects);
}

void JobRun::begin_when_possible(TimePoint now, Effects& effects) {
    if (!is_trainer_ready_ || state_ != JobState::waiting || is_stopping_) return;
    if (is_observing_end_) return look_at_end(now, effects);
    std::uint32_t present = 1;
    for (const auto& [peer, incarnation] : linked_) {
        const Members::Member* member = members_.find(peer);
        if (member == nullptr) continue;
        if (member->state() == JobState::waiting || is_mixing(member->state())) ++present;
    }
    const bool has_begun = stepped_.steps > StepCount{} || ending_->reason().has_value();
    if (!has_begun && present < spec_->mixing.min_peers) {
        return set_state(
            now,
            JobState::waiting,
            "needs " + std::to_string(spec_->mixing.min_peers) + " nodes, has "
                + std::to_string(present) + " (min_peers)",
            effects);
    }
    begin(now, effects);
}

void JobRun::begin(TimePoint now, Effects& effects) {
    if (ending_->reason() && is_late_for_end(now)) return observe_end(now, effects);
    began_at_ = now;
    if (spec_->eval.every > Duration{}) alarms_.set(Alarm::evaluate, now + spec_->eval.every);
    if (spec_->checkpoint.every > Duration{})
        alarms_.set(Alarm::save, now + spec_->checkpoint.every);
    set_state(now, JobState::running, "", effects);
    take_sketch(now, effects);
    catch_up_when_stale(now, effects);
    if (!catch_up_) {
        start_mixing(now, effects);
    }
    pace(effects);
    if (ending_->reason()) begin_finishing(now, *ending_->reason(), effects);
    end_when_over(now, effects);
}

// --- training ------------------------------------------------------------------------------------

void JobRun::pace(Effects& effects) {
    if (!is_trainer_ready_) return;
    const std::uint32_t members = 1 + members_.linked_running();
    const bool is_standing = state_ != JobState::running || is_stopping_;
    effects.emplace_back(Pace{
        .job = job_,
        .step_limit = is_standing ? StepCount{} : limit_.steps,
        .samples_others = progress_.estimated() - stepped_.samples,
        .samples_total = progress_.total(),
        .time_total = from_seconds(spec_->train.minutes * 60),
        .members = is_steered_ ? 1 : members});
    if (mixer_) mixer_->set_members(members);
}

void JobRun::on_stepped(TimePoint now, const SteppedReport& report, Effects& effects) {
    const auto grown = report.samples.value - std::min(report.samples, stepped_.samples).value;
    samples_rate_.add(now, static_cast<double>(grown));
    stepped_ = report;
    progress_.set_own(report.samples);
    if (!mixer_ || state_ != JobState::running) return;
    MixingOutputs outputs;
    mixer_->on_stepped(now, report.steps, outputs);
    if (pusher_) pusher_->on_stepped(now, report.steps, outputs);
    lift(now, outputs, effects);
    end_when_over(now, effects);
}

void JobRun::on_spec_read(TimePoint now, const WorkResult& result, Effects& effects) {
    const auto* read = std::get_if<SpecRead>(&result);
    if (read != nullptr && read->spec) return accept_spec(now, *read->spec, effects);
    const Error& why = read != nullptr ? read->spec.error() : std::get<Error>(result);
    if (why.code == ErrorCode::forged && spec_fetch_) return fetch_spec_elsewhere(now, why);
    set_state(now, JobState::failed, why.text(), effects);
}

void JobRun::on_worked(
    TimePoint now, const PendingWork& pending, const WorkResult& result, Effects& effects) {
    const auto as_swap_result = [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_constructible_v<SwapResult, Value>) {
            MixingOutputs outputs;
            mixer_->on_worked(now, pending.edge, value, outputs);
            lift(now, outputs, effects);
        }
    };
    const auto* failure = std::get_if<Error>(&result);
    switch (pending.purpose) {
        case Purpose::swap: return std::visit(as_swap_result, result);
        case Purpose::push: return on_push_worked(now, pending.edge, result, effects);
        case Purpose::outer: {
            MixingOutputs outputs;
            mixer_->on_outer_stepped(now, outputs);
            return lift(now, outputs, effects);
        }
        case Purpose::read_spec: return on_spec_read(now, result, effects);
        case Purpose::evaluate: return on_evaluated(now, std::get_if<Evaluated>(&result), effects);
        case Purpose::sketch:
            is_sketching_ = false;
            if (const auto* taken = std::get_if<Sketched>(&result)) sketch_ = taken->sketch;
            return;
        case Purpose::freeze_final:
            return on_final_frozen(now, std::get_if<Frozen>(&result), effects);
        case Purpose::recall_final: return on_final_recalled(std::get_if<Frozen>(&result));
        case Purpose::freeze_for_joiner:
            is_freezing_ = false;
            if (const auto* frozen = std::get_if<Frozen>(&result)) {
                on_frozen_for_joiner(now, *frozen, effects);
            }
            return;
        case Purpose::check_final:
            if (const auto* checked = std::get_if<BlobChecked>(&result)) {
                return on_final_checked(now, *checked, effects);
            }
            return on_final_checked(now, BlobChecked{*failure}, effects);
        case Purpose::check_state:
            if (const auto* checked = std::get_if<BlobChecked>(&result)) {
                return on_state_checked(now, *checked, effects);
            }
            return on_state_checked(now, BlobChecked{*failure}, effects);
        case Purpose::adopt_final:
        case Purpose::adopt_state: return on_adopt_answer(now, pending.purpose, result, effects);
        case Purpose::none: return;
    }
}

}  // namespace p2p::core
