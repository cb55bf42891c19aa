#include "core/train/replica.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"
#include "core/data/batch.hpp"
#include "core/nn/model.hpp"
#include "core/nn/schedule.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t evaluation_batch = 500;
constexpr std::uint64_t local_rule_stream = 0x6c6f63616cU;  // its draws are not the sampler's

}  // namespace

StepBuffers::StepBuffers(const ModelSpec& model, std::size_t batch_size, KernelLevel level)
    : learner(model, batch_size, level),
      gradient(learner.parameters()),
      indices(batch_size),
      inputs(batch_size * learner.inputs()),
      labels(batch_size) {}

NativeReplica::NativeReplica(
    std::shared_ptr<const JobSpec> spec,
    PeerId self,
    std::shared_ptr<const Dataset> data,
    KernelLevel level,
    const LocalSpec& local)
    : spec_(std::move(spec)),
      data_(std::move(data)),
      sampler_(spec_->data, {spec_->seed, self}, data_->train.labels),
      optimizer_(spec_->optimizer, parameter_count(model_tensors(spec_->model)), level),
      rule_(
          local,
          parameter_count(model_tensors(spec_->model)),
          mix_key(mix_key(spec_->seed, self.bytes), local_rule_stream)),
      parameters_(parameter_count(model_tensors(spec_->model))) {
    init_parameters(spec_->model, spec_->seed, parameters_);
}

void NativeReplica::step(StepBuffers& buffers, double learning_rate) {
    sampler_.batch(samples_, buffers.indices);
    step_on_batch(buffers, learning_rate);
}

void NativeReplica::step_on_batch(StepBuffers& buffers, double learning_rate) {
    if (rule_.is_pull(steps_)) {
        rule_.pull(parameters_, learning_rate);
    } else {
        step_down(buffers, learning_rate);
    }
    batch_hash_ = core::batch_hash(data_->train, buffers.indices);
    samples_ += SampleCount{buffers.indices.size()};
    ++steps_;
}

void NativeReplica::step_down(StepBuffers& buffers, double learning_rate) {
    fill_inputs(data_->train, data_->standardization, buffers.indices, buffers.inputs);
    fill_labels(data_->train, buffers.indices, buffers.labels);
    const FloatView at = rule_.before_gradient(parameters_, optimizer_, learning_rate);
    const auto result =
        buffers.learner.gradient(at, buffers.inputs, buffers.labels, buffers.gradient);
    optimizer_.step(parameters_, buffers.gradient, rule_.gradient_rate(learning_rate));
    rule_.after_step(buffers.gradient, learning_rate);
    train_loss_ = result.loss();
}

void NativeReplica::displace(std::size_t offset, FloatView d) {
    P2P_CHECK(offset <= parameters_.size() && d.size() <= parameters_.size() - offset);
    const auto part = parameters().subspan(offset, d.size());
    std::transform(part.begin(), part.end(), d.begin(), part.begin(), std::plus<>());
    rule_.on_displaced(part, offset, d);
}

void NativeReplica::restore_counts(StepCount steps, SampleCount samples, double train_loss) {
    steps_ = steps;
    samples_ = samples;
    train_loss_ = train_loss;
}

double job_learning_rate(const JobSpec& spec, double progress_ratio, std::uint32_t members) {
    const double scale = schedule_scale(spec.schedule.scale, members);
    return learning_rate(spec.schedule, progress_ratio, scale);
}

BatchResult evaluate_parameters(
    const ModelSpec& model,
    const Dataset& data,
    KernelLevel level,
    FloatView parameters,
    std::size_t samples_max) {
    const std::size_t count = std::min(data.test.count(), samples_max);
    BatchResult sum;
    if (count == 0) return sum;
    Learner learner(model, evaluation_batch, level);
    for (std::size_t at = 0; at < count; at += evaluation_batch) {
        std::vector<std::uint32_t> indices(std::min(evaluation_batch, count - at));
        std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(at));
        std::vector<float> inputs(indices.size() * data.features);
        Bytes labels(indices.size());
        fill_inputs(data.test, data.standardization, indices, inputs);
        fill_labels(data.test, indices, labels);
        sum += learner.evaluate(parameters, inputs, labels);
    }
    return sum;
}

}  // namespace p2p::core
