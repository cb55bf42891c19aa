#include "daemon/trainer_replica.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

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
    // Parameters, gradient, optimizer, copies for a save; and the local rule's.
    const std::uint64_t vectors_max = 6 + core::local_rule_vectors(setup.local.kind);
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
    }
    return replica;
}

Replica::Replica(const ReplicaSetup& setup, std::shared_ptr<const Dataset> data)
    : native_(setup.spec, setup.self, std::move(data), setup.kernel_level, setup.local),
      buffers_(setup.spec->model, batch_size_of(setup), setup.kernel_level) {}

ReplicaState Replica::copy(bool with_optimizer) {
    ReplicaState state;
    state.parameters.assign(native_.parameters().begin(), native_.parameters().end());
    if (with_optimizer) {
        for (const auto& part : native_.optimizer().state()) {
            state.optimizer.push_back(
                {std::string(part.name), {part.values.begin(), part.values.end()}});
        }
    }
    state.optimizer_steps = native_.optimizer().steps();
    state.steps = steps();
    state.samples = samples();
    state.train_loss = train_loss();
    state.training_seconds = training_seconds_;
    return state;
}

Status Replica::check_optimizer(const std::vector<OptimizerVector>& parts) {
    const auto own = native_.optimizer().state();
    const auto is_same = [](const core::NamedState& a, const OptimizerVector& b) {
        return a.name == b.name && a.values.size() == b.values.size();
    };
    if (std::equal(own.begin(), own.end(), parts.begin(), parts.end(), is_same)) return {};
    return Error{
        ErrorCode::conflict, "the optimizer's state is not of this job's optimizer", "", ""};
}

void Replica::restore_optimizer(const ReplicaState& state) {
    auto own = native_.optimizer().state();
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto& values = state.optimizer[i].values;
        std::copy(values.begin(), values.end(), own[i].values.begin());
    }
    native_.optimizer().restore_steps(state.optimizer_steps);
}

Status Replica::resume(const Path& checkpoint) {
    const auto state = read_checkpoint(checkpoint, core::model_tensors(spec().model));
    if (!state) return state.error();
    if (auto status = check_optimizer(state->optimizer); !status) {
        return status.error().with_context(checkpoint.string());
    }
    std::copy(state->parameters.begin(), state->parameters.end(), parameters().begin());
    restore_optimizer(*state);
    native_.restore_counts(state->steps, state->samples, state->train_loss);
    training_seconds_ = state->training_seconds;
    return {};
}

Result<double> Replica::replace(const ReplicaState& state) {
    const auto own = parameters();
    if (state.parameters.size() != own.size()) {
        return Error{ErrorCode::wrong_size, "a state of another model", "", ""};
    }
    if (!state.optimizer.empty()) {
        if (auto status = check_optimizer(state.optimizer); !status) return status.error();
    }
    double moved = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const double difference = double{state.parameters[i]} - double{own[i]};
        moved += difference * difference;
    }
    std::copy(state.parameters.begin(), state.parameters.end(), own.begin());
    native_.restart_rule();
    if (!state.optimizer.empty()) {
        restore_optimizer(state);
    } else {
        // Momentum of other parameters would push these in a direction that nobody asked for.
        for (auto& part : native_.optimizer().state())
            std::fill(part.values.begin(), part.values.end(), 0.0F);
        native_.optimizer().restore_steps(0);
    }
    return std::sqrt(moved);
}

}  // namespace p2p::daemon
