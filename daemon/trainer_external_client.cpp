// The client's side of an external trainer: what is offered, what was taken, who has the parameters
// (see trainer_external.hpp). Called on the tensor socket's thread.

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/nn/schedule.hpp"
#include "daemon/trainer_external.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::FloatView;
using core::Result;
using core::SampleCount;
using core::ShardRange;
using core::Status;

namespace {

std::vector<float> copy_of(FloatView values, ShardRange range) {
    const auto part = values.subspan(range.offset, range.floats);
    return {part.begin(), part.end()};
}

void add_to(core::MutableFloatView values, ShardRange range, const std::vector<float>& delta) {
    const auto part = values.subspan(range.offset, range.floats);
    std::transform(part.begin(), part.end(), delta.begin(), part.begin(), std::plus<>());
}

bool overlap(ShardRange a, ShardRange b) {
    return a.offset < b.offset + b.floats && b.offset < a.offset + a.floats;
}

}  // namespace

Result<Offer> ExternalTrainer::attach(const AttachLine& line, const Descriptor& memory) {
    if (line.tensors != setup_.layout) {
        return Error{
            ErrorCode::conflict,
            "these tensors are not those of job " + line.job,
            "names, order and shapes must be what the job was submitted with",
            "run the same model on all nodes, or submit another job"};
    }
    auto mapped = TensorMemory::map(memory, whole().floats);
    if (!mapped) return mapped.error();

    const std::lock_guard lock(mutex_);
    if (memory_) {
        return Error{
            ErrorCode::conflict,
            "a training process is attached to job " + line.job + " already",
            "",
            "end that one first"};
    }
    memory_ = *std::move(mapped);
    if (line.keep) held_.reset();  // newer than what was kept here
    announce(line.set_samples);
    return make_offer();
}

/// @pre mutex_ is held
void ExternalTrainer::announce(std::uint64_t set_samples) {
    if (std::exchange(was_announced_, true)) return;
    core::TrainerReady ready;
    ready.job = setup_.job;
    ready.set_samples = SampleCount{set_samples};
    ready.steps = steps_;
    ready.samples = samples_;
    ready.samples_mesh = std::max(setup_.samples_mesh, samples_);
    post_([ready, on_ready = events_.on_ready] { on_ready(ready); });
}

/// The parameters are gone with their process; the next attach makes the trainer ready again.
/// @pre mutex_ is held
void ExternalTrainer::tell_lost() {
    was_announced_ = false;
    core::TrainerReady lost;
    lost.job = setup_.job;
    lost.status = no_client();
    post_([lost, on_ready = events_.on_ready] { on_ready(lost); });
}

AttachAnswer ExternalTrainer::attach_answer() const {
    const std::lock_guard lock(mutex_);
    return {
        setup_.spec->seed,
        setup_.self,
        setup_.spec->train.batch_size,
        steps_.value,
        samples_.value};
}

Offer ExternalTrainer::on_step(const StepLine& line) {
    const std::lock_guard lock(mutex_);
    if (!first_step_) first_step_ = std::chrono::steady_clock::now();
    ++steps_;
    samples_ += SampleCount{line.samples};
    last_step_ = line;
    report();
    return make_offer();
}

Offer ExternalTrainer::next_offer() {
    const std::lock_guard lock(mutex_);
    return make_offer();
}

bool ExternalTrainer::has_news() const {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty() || !is_state_told_;
}

/// @pre mutex_ is held
Offer ExternalTrainer::make_offer() {
    P2P_CHECK(memory_ && offered_.empty());
    Offer offer;
    offer.state = client_state();
    is_state_told_ = true;
    offer.progress_ratio = progress_ratio();
    const auto& schedule = setup_.spec->schedule;
    offer.lr_scale = core::schedule_scale(schedule.scale, pace_.members);
    offer.learning_rate = core::learning_rate(schedule, offer.progress_ratio, offer.lr_scale);

    if (held_) {
        std::copy(held_->begin(), held_->end(), memory_->displacement().begin());
        offer.replace = true;
        is_first_offer_ = true;
        return offer;
    }
    while (!waiting_.empty() && fits_offer(offer, waiting_.front())) {
        Request request = std::move(waiting_.front());
        waiting_.pop_front();
        add_to_offer(offer, std::move(request));
    }
    if (!offer.asks()) {
        offer.reason = offer.state == ClientState::held ? "waiting for the others"
                                                        : "nothing has arrived since";
    }
    return offer;
}

/// A replacement goes alone; two displacements share their place only where it is the same.
bool ExternalTrainer::fits_offer(const Offer& offer, const Request& request) const {
    if (offer.replace) return false;
    switch (request.kind) {
        case Request::Kind::replace: return !offer.asks();
        case Request::Kind::take: return true;
        case Request::Kind::add: break;
    }
    return std::all_of(offer.add.begin(), offer.add.end(), [&](ShardRange range) {
        return range == request.range || !overlap(range, request.range);
    });
}

void ExternalTrainer::add_to_offer(Offer& offer, Request request) {
    const auto list = [&request](std::vector<ShardRange>& ranges) {
        const bool is_new = std::find(ranges.begin(), ranges.end(), request.range) == ranges.end();
        if (is_new) ranges.push_back(request.range);
        return is_new;
    };
    const auto place = memory_->displacement();
    switch (request.kind) {
        case Request::Kind::take: list(offer.take); break;
        case Request::Kind::replace:
            std::copy(request.values->begin(), request.values->end(), place.begin());
            offer.replace = true;
            break;
        case Request::Kind::add:
            if (list(offer.add)) {
                std::copy(
                    request.values->begin(),
                    request.values->end(),
                    place.begin() + static_cast<std::ptrdiff_t>(request.range.offset));
            } else {
                add_to(place, request.range, *request.values);
            }
            break;
    }
    offered_.push_back(std::move(request));
}

Status ExternalTrainer::on_took() {
    Requests done;
    std::vector<std::vector<float>> values;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(is_first_offer_, false)) {
            held_.reset();  // the client has them now
            return {};
        }
        if (offered_.empty()) {
            return Error{ErrorCode::conflict, "took, but nothing was asked for", "", ""};
        }
        done = std::exchange(offered_, {});
        for (const auto& request : done) {
            values.push_back(
                request.kind == Request::Kind::add ? std::vector<float>()
                                                   : copy_of(memory_->snapshot(), request.range));
        }
    }
    for (std::size_t i = 0; i < done.size(); ++i)
        done[i].answer(std::move(values[i]));
    return {};
}

void ExternalTrainer::detach(bool is_clean) {
    Requests left;
    {
        const std::lock_guard lock(mutex_);
        if (!memory_) return;
        if (is_clean && !held_ && offered_.empty()) held_ = copy_of(memory_->snapshot(), whole());
        memory_.reset();
        is_first_offer_ = false;
        if (!held_ && !is_gone_) tell_lost();
        left = std::exchange(offered_, {});
        for (auto& request : std::exchange(waiting_, {}))
            left.push_back(std::move(request));
    }
    for (auto& request : left)
        serve_held(request);
}

/// @pre mutex_ is held
ClientState ExternalTrainer::client_state() const {
    if (is_done_) return ClientState::done;
    if (is_gone_) return ClientState::gone;
    if (has_ended_) return ClientState::finishing;
    const bool is_at_total = pace_.samples_total > SampleCount{}
                             && samples_ + pace_.samples_others >= pace_.samples_total;
    return is_at_total || steps_ >= pace_.step_limit ? ClientState::held : ClientState::running;
}

double ExternalTrainer::progress_ratio() const {
    if (pace_.samples_total == SampleCount{}) {
        const double total = core::to_seconds(pace_.time_total);
        if (!first_step_ || total <= 0) return 0;
        const std::chrono::duration<double> passed =
            std::chrono::steady_clock::now() - *first_step_;
        return std::min(1.0, passed.count() / total);
    }
    const auto done = samples_ + pace_.samples_others;
    return std::min(
        1.0, static_cast<double>(done.value) / static_cast<double>(pace_.samples_total.value));
}

/// @pre mutex_ is held
void ExternalTrainer::report() {
    core::SteppedReport report;
    report.steps = steps_;
    report.samples = samples_;
    report.train_loss = last_step_.loss;
    report.batch_hash = last_step_.batch_hash;
    report.utilization = 1;  // what the client does between its steps is its own
    report.is_at_limit = client_state() == ClientState::held;
    const auto& schedule = setup_.spec->schedule;
    report.learning_rate = core::learning_rate(
        schedule, progress_ratio(), core::schedule_scale(schedule.scale, pace_.members));
    if (!latest_->put(report)) return;
    post_([latest = latest_, on_stepped = events_.on_stepped] {
        if (const auto newest = latest->take()) on_stepped(*newest);
    });
}

}  // namespace p2p::daemon
