#include "core/train/replica.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/data/batch.hpp"
#include "core/nn/model.hpp"
#include "core/nn/schedule.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t evaluation_batch = 500;

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
    KernelLevel level)
    : spec_(std::move(spec)),
      data_(std::move(data)),
      sampler_(spec_->data, {spec_->seed, self}, data_->train.labels),
      optimizer_(spec_->optimizer, parameter_count(model_tensors(spec_->model)), level),
      parameters_(parameter_count(model_tensors(spec_->model))) {
    init_parameters(spec_->model, spec_->seed, parameters_);
}

void NativeReplica::step(StepBuffers& buffers, double learning_rate) {
    sampler_.batch(samples_, buffers.indices);
    fill_inputs(data_->train, data_->standardization, buffers.indices, buffers.inputs);
    fill_labels(data_->train, buffers.indices, buffers.labels);
    const auto result =
        buffers.learner.gradient(parameters_, buffers.inputs, buffers.labels, buffers.gradient);
    optimizer_.step(parameters_, buffers.gradient, learning_rate);

    train_loss_ = result.loss();
    batch_hash_ = core::batch_hash(data_->train, buffers.indices);
    samples_ += SampleCount{buffers.indices.size()};
    ++steps_;
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
