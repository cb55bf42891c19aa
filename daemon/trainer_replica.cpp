#include "daemon/trainer_replica.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/data/batch.hpp"
#include "core/nn/model.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/memory_limit.hpp"

namespace p2p::daemon {

using core::Dataset;
using core::Error;
using core::ErrorCode;
using core::JobSpec;
using core::Result;
using core::SampleCount;
using core::Status;
using core::StepCount;

namespace {

constexpr std::size_t evaluation_batch = 500;

std::uint32_t batch_size_of(const ReplicaSetup& setup) {
    return setup.batch_size > 0 ? setup.batch_size : setup.spec->train.batch_size;
}

Status check_fit(const JobSpec& spec, const Dataset& data) {
    const auto& layers = spec.model.layers;
    if (layers.front() == data.features && layers.back() >= data.classes) return {};
    return Error{
        ErrorCode::invalid,
        "the model of job " + spec.name + " does not fit the data set " + spec.data.set,
        "it takes " + std::to_string(layers.front()) + " inputs and tells "
            + std::to_string(layers.back()) + " classes apart, the set has "
            + std::to_string(data.features) + " and " + std::to_string(data.classes),
        "submit the job with other model.layers"};
}

/// The spec may come from a peer: nothing is allocated by it before this.
Status check_memory(const ReplicaSetup& setup) {
    const JobSpec& spec = *setup.spec;
    const auto parameters = core::parameter_count(core::model_tensors(spec.model));
    constexpr std::uint64_t vectors_max = 6;  // parameters, gradient, optimizer, copies for a save
    const std::uint64_t needed = core::learner_bytes(spec.model, batch_size_of(setup))
                                 + vectors_max * sizeof(float) * parameters;
    if (needed <= memory_bytes_max()) return {};
    return Error{
        ErrorCode::too_large,
        "job " + spec.name + " needs more memory than this machine has",
        std::to_string(needed) + " bytes, " + std::to_string(memory_bytes_max()) + " at most",
        "leave it to larger machines, or submit a smaller model"};
}

}  // namespace

Result<std::unique_ptr<Replica>> Replica::load(const ReplicaSetup& setup) {
    if (auto status = check_memory(setup); !status) return status.error();
    auto loaded = core::load_dataset(setup.data_folder.string());
    if (!loaded) return loaded.error();
    auto data = std::make_shared<const Dataset>(*std::move(loaded));
    if (auto status = check_fit(*setup.spec, *data); !status) return status.error();

    std::unique_ptr<Replica> replica(new Replica(setup, std::move(data)));
    if (setup.resume_folder) {
        if (auto status = replica->resume(*setup.resume_folder); !status) return status.error();
    } else {
        core::init_parameters(setup.spec->model, setup.spec->seed, replica->parameters_);
    }
    return replica;
}

Replica::Replica(const ReplicaSetup& setup, std::shared_ptr<const Dataset> data)
    : spec_(setup.spec),
      data_(std::move(data)),
      sampler_(spec_->data, {spec_->seed, setup.self}, data_->train.labels),
      learner_(spec_->model, batch_size_of(setup), setup.kernel_level),
      optimizer_(spec_->optimizer, learner_.parameters(), setup.kernel_level),
      parameters_(learner_.parameters()),
      gradient_(learner_.parameters()),
      indices_(batch_size_of(setup)),
      inputs_(indices_.size() * data_->features),
      labels_(indices_.size()) {}

void Replica::step(double learning_rate) {
    sampler_.batch(samples_, indices_);
    core::fill_inputs(data_->train, data_->standardization, indices_, inputs_);
    core::fill_labels(data_->train, indices_, labels_);
    const auto result = learner_.gradient(parameters_, inputs_, labels_, gradient_);
    optimizer_.step(parameters_, gradient_, learning_rate);

    train_loss_ = result.loss();
    batch_hash_ = core::batch_hash(data_->train, indices_);
    samples_ += SampleCount{indices_.size()};
    ++steps_;
}

ReplicaState Replica::copy(bool with_optimizer) {
    ReplicaState state;
    state.parameters = parameters_;
    if (with_optimizer) {
        for (const auto& part : optimizer_.state()) {
            state.optimizer.push_back(
                {std::string(part.name), {part.values.begin(), part.values.end()}});
        }
    }
    state.optimizer_steps = optimizer_.steps();
    state.steps = steps_;
    state.samples = samples_;
    state.train_loss = train_loss_;
    state.training_seconds = training_seconds_;
    return state;
}

Status Replica::check_optimizer(const std::vector<OptimizerVector>& parts) {
    const auto own = optimizer_.state();
    const auto is_same = [](const core::NamedState& a, const OptimizerVector& b) {
        return a.name == b.name && a.values.size() == b.values.size();
    };
    if (std::equal(own.begin(), own.end(), parts.begin(), parts.end(), is_same)) return {};
    return Error{
        ErrorCode::conflict, "the optimizer's state is not of this job's optimizer", "", ""};
}

void Replica::restore_optimizer(const ReplicaState& state) {
    auto own = optimizer_.state();
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto& values = state.optimizer[i].values;
        std::copy(values.begin(), values.end(), own[i].values.begin());
    }
    optimizer_.restore_steps(state.optimizer_steps);
}

Status Replica::resume(const Path& checkpoint) {
    const auto state = read_checkpoint(checkpoint, core::model_tensors(spec_->model));
    if (!state) return state.error();
    if (auto status = check_optimizer(state->optimizer); !status) {
        return status.error().with_context(checkpoint.string());
    }
    parameters_ = state->parameters;
    restore_optimizer(*state);
    steps_ = state->steps;
    samples_ = state->samples;
    train_loss_ = state->train_loss;
    training_seconds_ = state->training_seconds;
    return {};
}

Result<double> Replica::replace(const ReplicaState& state) {
    if (state.parameters.size() != parameters_.size()) {
        return Error{ErrorCode::wrong_size, "a state of another model", "", ""};
    }
    if (!state.optimizer.empty()) {
        if (auto status = check_optimizer(state.optimizer); !status) return status.error();
    }
    double moved = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const double difference = double{state.parameters[i]} - double{parameters_[i]};
        moved += difference * difference;
    }
    parameters_ = state.parameters;
    if (!state.optimizer.empty()) {
        restore_optimizer(state);
    } else {
        // Momentum of other parameters would push these in a direction that nobody asked for.
        for (auto& part : optimizer_.state())
            std::fill(part.values.begin(), part.values.end(), 0.0F);
        optimizer_.restore_steps(0);
    }
    return std::sqrt(moved);
}

core::Evaluated evaluate_parameters(
    const core::ModelSpec& model,
    const Dataset& data,
    core::KernelLevel level,
    core::FloatView parameters) {
    const std::size_t count = data.test.count();
    if (count == 0) return {};
    core::Learner learner(model, evaluation_batch, level);
    core::BatchResult sum;
    for (std::size_t at = 0; at < count; at += evaluation_batch) {
        std::vector<std::uint32_t> indices(std::min(evaluation_batch, count - at));
        std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(at));
        std::vector<float> inputs(indices.size() * data.features);
        core::Bytes labels(indices.size());
        core::fill_inputs(data.test, data.standardization, indices, inputs);
        core::fill_labels(data.test, indices, labels);
        sum += learner.evaluate(parameters, inputs, labels);
    }
    return {true, sum.loss(), sum.accuracy()};
}

}  // namespace p2p::daemon
