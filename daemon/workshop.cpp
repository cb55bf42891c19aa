#include "daemon/workshop.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/replica_blob.hpp"
#include "daemon/trainer_layout.hpp"
#include "daemon/trainer_native.hpp"
#include "daemon/workshop_floor.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::JobId;
using core::Result;
using core::Status;
using core::Ticket;

Workshop::Workshop(
    WorkshopConfig config,
    std::function<void(std::function<void()>)> post_to_loop,
    WorkshopEvents events)
    : floor_(
        std::make_unique<Floor>(std::move(config), std::move(post_to_loop), std::move(events))) {}

Workshop::~Workshop() = default;

void Workshop::start_training(const core::StartTraining& order, core::Bytes announcement) {
    floor_->start_training(order, std::move(announcement));
}

void Workshop::set_pace(const core::Pace& pace) {
    floor_->set_pace(pace);
}

void Workshop::end_training(JobId job) {
    floor_->end_training(job);
}

void Workshop::drop_training(const core::DropTraining& order) {
    floor_->drop_training(order);
}

void Workshop::save(const core::Save& order) {
    floor_->save(order);
}

void Workshop::work(Ticket ticket, const core::WorkOrder& order) {
    std::visit([&](const auto& kind) { floor_->work(ticket, kind); }, order);
}

std::shared_ptr<const core::Bytes> Workshop::encoded(
    const core::EdgeKey& edge, core::SwapNumber n) const {
    return floor_->edges().encoded(edge, n);
}

std::shared_ptr<const core::Bytes> Workshop::blob(core::BlobHash hash) const {
    return floor_->blobs().trusted(hash);
}

void Workshop::add_blob(core::BlobHash hash, std::shared_ptr<const core::Bytes> bytes) {
    floor_->blobs().put(hash, std::move(bytes));
}

ExternalTrainers& Workshop::external() {
    return floor_->external();
}

void Workshop::stop() {
    floor_->stop();
}

// --- trainers ---------------------------------------------------------------------------------

Workshop::Floor::Floor(WorkshopConfig config, PostToLoop post, WorkshopEvents events)
    : config_(std::move(config)),
      events_(std::move(events)),
      post_(
          [post = std::move(post), alive = std::weak_ptr(alive_)](std::function<void()> function) {
              post([alive, function = std::move(function)] {
                  if (alive.lock()) function();
              });
          }),
      disk_(1),
      workers_(config_.worker_threads),
      edges_(edge_tools()),
      pushes_(edge_tools(), blobs_),
      external_(post_) {}

EdgeTools Workshop::Floor::edge_tools() {
    return {
        config_.self,
        config_.kernel_level,
        &workers_,
        post_,
        [this](JobId job) { return trainer_of(job); },
        [this](Ticket ticket, core::WorkResult result) {
            events_.on_worked(ticket, std::move(result));
        },
    };
}

Workshop::Floor::~Floor() {
    stop();
}

void Workshop::Floor::stop() {
    if (std::exchange(is_stopped_, true)) return;
    external_.stop();
    for (const auto& [id, job] : jobs_) {
        if (job->trainer) job->trainer->stop();
    }
    for (const auto& [id, job] : jobs_)
        job->trainer = nullptr;  // waits for the step under way
    workers_.stop();
    disk_.stop();
}

Workshop::Floor::JobPtr Workshop::Floor::job_of(JobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
}

Trainer* Workshop::Floor::trainer_of(JobId id) const {
    const auto job = job_of(id);
    return job ? job->trainer.get() : nullptr;
}

void Workshop::Floor::start_training(const core::StartTraining& order, core::Bytes announcement) {
    P2P_CHECK(order.spec && order.spec_bytes);
    auto job = std::make_shared<Job>();
    job->id = order.job;
    job->spec = order.spec;
    job->local = order.local;
    job->layout = replica_layout(order.spec->model);
    P2P_CHECK(jobs_.emplace(order.job, job).second);

    disk_.submit([this,
                  job,
                  post = post_,
                  spec_bytes = order.spec_bytes,
                  folder = config_.state_dir,
                  announcement = std::move(announcement)] {
        TakenUp taken{open_run_dir(folder, job->spec->name, *spec_bytes), {}, {}, {}};
        if (taken.run) {
            const auto kept = keep_announcement(*taken.run, announcement);
            if (!kept) taken.broken.push_back(kept.error());
            const auto newest = newest_checkpoint(*taken.run, taken.broken);
            if (newest) taken.checkpoint = *newest;
        }
        if (taken.checkpoint) {
            const auto state = read_checkpoint_state(*taken.checkpoint);
            if (state) taken.samples_mesh = state->samples_mesh;
        }
        post([this, job, taken = std::move(taken)] { build_trainer(job, taken); });
    });
}

void Workshop::Floor::build_trainer(const JobPtr& job, const TakenUp& taken) {
    if (job_of(job->id) != job || is_stopped_) return;  // dropped meanwhile
    for (const auto& error : taken.broken)
        tell_trouble(job->id, error);
    auto trainer = make_trainer(*job, taken);
    if (!trainer) {
        core::TrainerReady failed;
        failed.job = job->id;
        failed.status = trainer.error();
        events_.on_trainer(failed);
        return;
    }
    job->run = *taken.run;
    job->trainer = *std::move(trainer);
    if (job->pace) job->trainer->set_pace(*job->pace);
    if (job->has_ended) job->trainer->end();
}

Result<std::shared_ptr<Trainer>> Workshop::Floor::make_trainer(
    const Job& job, const TakenUp& taken) {
    if (!taken.run) return taken.run.error();
    if (job.spec->model.kind == core::ModelKind::external) {
        return external_.open(
            {job.id, job.spec, job.layout, config_.self, taken.checkpoint, taken.samples_mesh},
            trainer_events(job.id));
    }
    const auto& set = job.spec->data.set;
    const auto folder = config_.datasets.find(set);
    if (folder == config_.datasets.end()) {
        return Error{
            ErrorCode::not_found,
            "this node has no data set called \"" + set + "\"",
            "its configuration names none of that name under [datasets]",
            "add the line: " + set + " = \"/path/to/its/folder\""};
    }
    NativeSetup setup;
    setup.job = job.id;
    setup.replica = {
        job.spec,
        config_.self,
        folder->second,
        config_.kernel_level,
        config_.batch_size_override,
        taken.checkpoint,
        job.local};
    setup.duty = config_.duty;
    setup.samples_mesh = taken.samples_mesh;
    return std::shared_ptr<Trainer>(
        std::make_shared<NativeTrainer>(std::move(setup), trainer_events(job.id), post_, workers_));
}

TrainerEvents Workshop::Floor::trainer_events(JobId id) {
    return {
        [this](core::TrainerReady ready) {
            if (job_of(ready.job)) events_.on_trainer(std::move(ready));
        },
        [this, id](core::SteppedReport report) {
            if (job_of(id)) events_.on_stepped(id, report);
        }};
}

void Workshop::Floor::set_pace(const core::Pace& pace) {
    const auto job = job_of(pace.job);
    if (!job) return;
    job->pace = pace;
    if (job->trainer) job->trainer->set_pace(pace);
}

void Workshop::Floor::end_training(JobId id) {
    const auto job = job_of(id);
    if (!job) return;
    job->has_ended = true;
    if (job->trainer) job->trainer->end();
}

void Workshop::Floor::drop_training(const core::DropTraining& order) {
    if (const auto job = job_of(order.job)) {
        jobs_.erase(order.job);
        retire(job);
    }
    edges_.drop_job(order.job);
    pushes_.drop_job(order.job);
    if (!order.remove) return;
    // Behind the trainer's end in the disk's queue, so no save comes after it.
    disk_.submit([this, post = post_, id = order.job, folder = config_.state_dir] {
        disk_.submit([this, post, id, folder] {
            const auto run = find_run_dir(folder, id);
            if (!run) return;
            const auto status = remove_run_dir(*run);
            if (status) return;
            post([this, id, error = status.error()] { tell_trouble(id, error); });
        });
    });
}

/// Its last step may take a while: the disk thread waits for it, not the loop.
void Workshop::Floor::retire(const JobPtr& job) {
    if (!job->trainer) return;
    external_.close(job->id);
    job->trainer->stop();
    disk_.submit([trainer = std::exchange(job->trainer, nullptr)]() mutable { trainer = nullptr; });
}

void Workshop::Floor::save(const core::Save& order) {
    const auto job = job_of(order.job);
    if (!job || !job->trainer || !job->run) {
        post_([this, id = order.job] {
            events_.on_saved(
                id, Error{ErrorCode::not_found, "the job is not trained here", "", ""});
        });
        return;
    }
    const CheckpointRules rules{job->spec->checkpoint.keep_last, config_.min_free_bytes};
    const auto tell =
        [this, post = post_, id = order.job, is_final = order.is_final](Status status) {
            post([this, id, is_final, status] {
                if (is_final) external_.set_done(id);  // saved or not, its process may go
                events_.on_saved(id, status);
            });
        };
    Checkpoint checkpoint;
    checkpoint.layout = job->layout;
    checkpoint.samples_mesh = order.samples_mesh;
    checkpoint.seed = job->spec->seed;
    checkpoint.job_state = order.state;
    checkpoint.final_hash = order.final_hash;
    checkpoint.is_final = order.is_final;
    // A displacement that was under way may have moved the replica since; the file is what was
    // agreed on, to the bit.
    const auto agreed = order.is_final ? blobs_.trusted(order.final_hash) : nullptr;
    job->trainer->copy_state(
        true, [this, tell, checkpoint, rules, agreed, run = *job->run](Result<ReplicaState> state) {
            if (!state) return tell(state.error());
            auto whole = std::make_shared<Checkpoint>(checkpoint);
            whole->replica = *std::move(state);
            disk_.submit([tell, run, whole, rules, agreed] {
                if (agreed) {
                    auto thawed = thaw_replica(whole->layout, *agreed);
                    if (!thawed) return tell(thawed.error());
                    whole->replica.parameters = std::move(thawed->parameters);
                }
                tell(write_checkpoint(run, *whole, rules));
            });
        });
}

void Workshop::Floor::tell_trouble(JobId job, const Error& error) {
    if (events_.on_trouble) events_.on_trouble(job, error);
}

void Workshop::Floor::answer_later(Ticket ticket, core::WorkResult result) {
    post_([this, ticket, result = std::move(result)] { events_.on_worked(ticket, result); });
}

}  // namespace p2p::daemon
