#include "daemon/trainer_external.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "daemon/checkpoint.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::FloatView;
using core::Result;
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

double distance(FloatView a, FloatView b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = double{a[i]} - double{b[i]};
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

}  // namespace

Result<std::shared_ptr<ExternalTrainer>> ExternalTrainer::open(
    ExternalSetup setup, TrainerEvents events, PostToLoop post, std::function<void()> wake) {
    std::optional<ReplicaState> taken_up;
    if (setup.checkpoint) {
        auto state = read_checkpoint(*setup.checkpoint, setup.layout);
        if (!state) return state.error();
        taken_up = *std::move(state);
    }
    std::shared_ptr<ExternalTrainer> trainer(
        new ExternalTrainer(std::move(setup), std::move(events), std::move(post), std::move(wake)));
    if (taken_up) {
        trainer->steps_ = taken_up->steps;
        trainer->samples_ = taken_up->samples;
        trainer->held_ = std::move(taken_up->parameters);
    }
    return trainer;
}

ExternalTrainer::ExternalTrainer(
    ExternalSetup setup, TrainerEvents events, PostToLoop post, std::function<void()> wake)
    : setup_(std::move(setup)),
      events_(std::move(events)),
      post_(std::move(post)),
      wake_(std::move(wake)) {}

// --- the workshop's side ------------------------------------------------------------------------

void ExternalTrainer::snapshot(ShardRange range, Answer<std::vector<float>> answer) {
    push({Request::Kind::take, range, nullptr, std::move(answer)});
}

void ExternalTrainer::add(
    ShardRange range, std::shared_ptr<const std::vector<float>> displacement, StatusAnswer answer) {
    P2P_CHECK(displacement->size() == range.floats);
    push(
        {Request::Kind::add,
         range,
         std::move(displacement),
         [answer = std::move(answer)](Result<std::vector<float>> done) {
             answer(done ? Status() : Status(done.error()));
         }});
}

void ExternalTrainer::copy_state(bool /*with_optimizer*/, Answer<ReplicaState> answer) {
    snapshot(whole(), [this, answer = std::move(answer)](Result<std::vector<float>> values) {
        if (!values) return answer(values.error());
        ReplicaState state;
        state.parameters = *std::move(values);
        {
            const std::lock_guard lock(mutex_);
            state.steps = steps_;
            state.samples = samples_;
            state.train_loss = last_step_.loss;
        }
        answer(std::move(state));
    });
}

void ExternalTrainer::replace(ReplicaState state, Answer<double> answer) {
    if (state.parameters.size() != whole().floats) {
        return answer(Error{ErrorCode::wrong_size, "a state of another model", "", ""});
    }
    auto values = std::make_shared<const std::vector<float>>(std::move(state.parameters));
    push(
        {Request::Kind::replace,
         whole(),
         values,
         [values, answer = std::move(answer)](Result<std::vector<float>> before) {
             if (!before) return answer(before.error());
             answer(distance(*before, *values));
         }});
}

void ExternalTrainer::evaluate(Answer<core::Evaluated> answer) {
    answer(core::Evaluated{});  // what the job is measured on is the client's
}

void ExternalTrainer::set_pace(const core::Pace& pace) {
    {
        const std::lock_guard lock(mutex_);
        pace_ = pace;
        is_state_told_ = false;
    }
    wake_();
}

void ExternalTrainer::end() {
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        is_state_told_ = false;
    }
    wake_();
}

void ExternalTrainer::set_done() {
    {
        const std::lock_guard lock(mutex_);
        is_done_ = true;
        is_state_told_ = false;
    }
    wake_();
}

void ExternalTrainer::stop() {
    Requests refused;
    {
        const std::lock_guard lock(mutex_);
        is_gone_ = true;
        is_state_told_ = false;
        refused = std::exchange(offered_, {});
        for (auto& request : std::exchange(waiting_, {}))
            refused.push_back(std::move(request));
    }
    for (const auto& request : refused)
        request.answer(trainer_gone());
    wake_();
}

void ExternalTrainer::push(Request request) {
    P2P_CHECK(is_within(request.range, whole().floats));
    {
        const std::lock_guard lock(mutex_);
        if (memory_ && !is_gone_) {
            waiting_.push_back(std::move(request));
            wake_();
            return;
        }
    }
    serve_held(request);
}

/// Without a client: from what the last one left, or not at all.
void ExternalTrainer::serve_held(Request& request) {
    std::optional<std::vector<float>> before;
    {
        const std::lock_guard lock(mutex_);
        if (!is_gone_ && held_) {
            const bool is_add = request.kind == Request::Kind::add;
            before = is_add ? std::vector<float>() : copy_of(*held_, request.range);
            if (is_add) add_to(*held_, request.range, *request.values);
            if (request.kind == Request::Kind::replace) held_ = *request.values;
        }
    }
    if (!before) return request.answer(no_client());
    request.answer(*std::move(before));
}

Error ExternalTrainer::no_client() {
    return {
        ErrorCode::interrupted,
        "no training process is attached to this job",
        "it has ended or died",
        "start it again; it takes up where the last checkpoint stands"};
}

ShardRange ExternalTrainer::whole() const {
    return {0, core::parameter_count(setup_.layout)};
}

}  // namespace p2p::daemon
