#include "daemon/trainer_native.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/train/replica.hpp"

namespace p2p::daemon {

using core::SampleCount;
using core::ShardRange;

namespace {

SteadyTime now_steady() {
    return std::chrono::steady_clock::now();
}

double seconds_between(SteadyTime from, SteadyTime to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

NativeTrainer::NativeTrainer(
    NativeSetup setup, TrainerEvents events, PostToLoop post, Workers& workers)
    : setup_(std::move(setup)),
      events_(std::move(events)),
      post_(std::move(post)),
      workers_(workers),
      duty_(setup_.duty),
      thread_([this] { run(); }) {}

NativeTrainer::~NativeTrainer() {
    stop();
    thread_.join();
}

void NativeTrainer::snapshot(ShardRange range, Answer<std::vector<float>> answer) {
    mailbox_.push([range, answer = std::move(answer)](Replica* replica) {
        if (replica == nullptr) return answer(trainer_gone());
        const auto all = replica->parameters();
        P2P_CHECK(is_within(range, all.size()));
        const auto part = all.subspan(range.offset, range.floats);
        answer(std::vector<float>(part.begin(), part.end()));
    });
}

void NativeTrainer::add(
    ShardRange range, std::shared_ptr<const std::vector<float>> displacement, StatusAnswer answer) {
    P2P_CHECK(displacement->size() == range.floats);
    mailbox_.push([range, displacement = std::move(displacement), answer = std::move(answer)](
                      Replica* replica) {
        if (replica == nullptr) return answer(trainer_gone());
        P2P_CHECK(is_within(range, replica->parameters().size()));
        replica->displace(range.offset, *displacement);
        answer({});
    });
}

void NativeTrainer::mark_outer_step() {
    mailbox_.push([](Replica* replica) {
        if (replica != nullptr) replica->mark_outer_step();
    });
}

void NativeTrainer::copy_state(bool with_optimizer, Answer<ReplicaState> answer) {
    mailbox_.push([with_optimizer, answer = std::move(answer)](Replica* replica) {
        if (replica == nullptr) return answer(trainer_gone());
        answer(replica->copy(with_optimizer));
    });
}

void NativeTrainer::replace(ReplicaState state, Answer<double> answer) {
    auto shared = std::make_shared<const ReplicaState>(std::move(state));
    mailbox_.push([shared, answer = std::move(answer)](Replica* replica) {
        if (replica == nullptr) return answer(trainer_gone());
        answer(replica->replace(*shared));
    });
}

void NativeTrainer::evaluate(Answer<core::Evaluated> answer) {
    mailbox_.push([&workers = workers_,
                   spec = setup_.replica.spec,
                   level = setup_.replica.kernel_level,
                   answer = std::move(answer)](Replica* replica) {
        if (replica == nullptr) return answer(trainer_gone());
        const auto all = replica->parameters();
        auto parameters = std::make_shared<const std::vector<float>>(all.begin(), all.end());
        workers.submit([spec, level, parameters, data = replica->data(), answer] {
            const auto sum = core::evaluate_parameters(spec->model, *data, level, *parameters);
            if (data->test.count() == 0) return answer(core::Evaluated{});
            answer(core::Evaluated{true, sum.loss(), sum.accuracy()});
        });
    });
}

void NativeTrainer::set_pace(const core::Pace& pace) {
    mailbox_.push([this, pace](Replica* replica) {
        if (replica == nullptr) return;
        pace_ = pace;
        has_pace_ = true;
    });
}

void NativeTrainer::end() {
    mailbox_.push([this](Replica* replica) {
        if (replica == nullptr) return;
        has_ended_ = true;
        replica->end_steps();
    });
}

void NativeTrainer::stop() {
    mailbox_.close();
}

// --- the thread -------------------------------------------------------------------------------

void NativeTrainer::run() {
    if (load()) {
        train();
        return;
    }
    while (mailbox_.serve(nullptr))
        mailbox_.wait(std::nullopt);
}

bool NativeTrainer::load() {
    auto loaded = Replica::load(setup_.replica);
    core::TrainerReady ready;
    ready.job = setup_.job;
    if (loaded) {
        replica_ = *std::move(loaded);
        seconds_before_ = replica_->training_seconds();
        ready.set_samples = SampleCount{replica_->data()->train.count()};
        ready.steps = replica_->steps();
        ready.samples = replica_->samples();
        ready.samples_mesh = std::max(setup_.samples_mesh, replica_->samples());
    } else {
        ready.status = loaded.error();
    }
    post_([ready, on_ready = events_.on_ready] { on_ready(ready); });
    return replica_ != nullptr;
}

void NativeTrainer::train() {
    while (mailbox_.serve(replica_.get())) {
        if (!may_step()) {
            stand_still();
            continue;
        }
        const auto now = now_steady();
        const auto rest = duty_.rest(now);
        if (rest > SteadySpan::zero()) {
            mailbox_.wait(now + rest);
            continue;
        }
        step(now);
    }
}

/// At a limit, or after the end: until a letter comes. Nothing is owed for the time.
void NativeTrainer::stand_still() {
    if (has_pace_ && !was_at_limit_ && !has_ended_) {
        was_at_limit_ = true;
        report(now_steady());  // the limit came to us, not we to it
    }
    mailbox_.wait(std::nullopt);
    duty_.on_held(now_steady());
}

void NativeTrainer::step(SteadyTime begin) {
    if (!first_step_) first_step_ = begin;
    replica_->set_training_seconds(seconds_before_ + seconds_between(*first_step_, begin));
    learning_rate_ = rate();
    replica_->step(learning_rate_);
    const auto end = now_steady();
    duty_.on_step(begin, end);
    replica_->set_training_seconds(seconds_before_ + seconds_between(*first_step_, end));
    was_at_limit_ = !may_step();
    report(end);
}

void NativeTrainer::report(SteadyTime now) {
    core::SteppedReport report;
    report.steps = replica_->steps();
    report.samples = replica_->samples();
    report.train_loss = replica_->train_loss();
    report.learning_rate = learning_rate_;
    report.batch_hash = replica_->batch_hash();
    report.utilization = duty_.utilization(now);
    report.is_at_limit = was_at_limit_;
    if (!latest_->put(report)) return;
    post_([latest = latest_, on_stepped = events_.on_stepped] {
        if (const auto newest = latest->take()) on_stepped(*newest);
    });
}

bool NativeTrainer::may_step() const {
    if (has_ended_ || replica_->steps() >= pace_.step_limit) return false;
    if (pace_.samples_total > SampleCount{}) {
        return replica_->samples() + pace_.samples_others < pace_.samples_total;
    }
    const double seconds = core::to_seconds(pace_.time_total);
    return seconds > 0 && replica_->training_seconds() < seconds;
}

double NativeTrainer::progress_ratio() const {
    if (pace_.samples_total > SampleCount{}) {
        const SampleCount done = replica_->samples() + pace_.samples_others;
        return static_cast<double>(done.value) / static_cast<double>(pace_.samples_total.value);
    }
    return replica_->training_seconds() / core::to_seconds(pace_.time_total);
}

double NativeTrainer::rate() const {
    return core::job_learning_rate(replica_->spec(), progress_ratio(), pace_.members);
}

}  // namespace p2p::daemon
