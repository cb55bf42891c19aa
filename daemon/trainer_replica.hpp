#pragma once

// A replica that trains itself: data, parameters and optimizer of one native job, step by step.
//
// One thread owns it, the trainer's (trainer_native), which decides when a step may be taken. What
// it does is a function of (spec, PeerId, its own counts), so a resumed replica goes on to the bit.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/cpu.hpp"
#include "core/base/result.hpp"
#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "core/nn/learner.hpp"
#include "core/nn/optimizer.hpp"
#include "daemon/files.hpp"
#include "daemon/trainer.hpp"

namespace p2p::daemon {

struct ReplicaSetup {
    std::shared_ptr<const core::JobSpec> spec;
    core::PeerId self;
    Path data_folder;
    core::KernelLevel kernel_level = core::KernelLevel::scalar;
    std::uint32_t batch_size = 0;       ///< over the job's; 0: the job's
    std::optional<Path> resume_folder;  ///< a whole checkpoint
};

class Replica {
  public:
    /// Reads the data and takes up the checkpoint, or draws the first parameters. Errors: of the
    /// data set, of a checkpoint that is not of this model, invalid where data and model differ.
    static core::Result<std::unique_ptr<Replica>> load(const ReplicaSetup& setup);

    /// One batch, one step of the optimizer.
    void step(double learning_rate);

    [[nodiscard]] core::StepCount steps() const { return steps_; }

    [[nodiscard]] core::SampleCount samples() const { return samples_; }

    [[nodiscard]] double train_loss() const { return train_loss_; }

    [[nodiscard]] std::uint64_t batch_hash() const { return batch_hash_; }

    [[nodiscard]] std::uint32_t batch_size() const {
        return static_cast<std::uint32_t>(indices_.size());
    }

    [[nodiscard]] core::MutableFloatView parameters() { return parameters_; }

    [[nodiscard]] const std::shared_ptr<const core::Dataset>& data() const { return data_; }

    [[nodiscard]] const core::JobSpec& spec() const { return *spec_; }

    [[nodiscard]] double training_seconds() const { return training_seconds_; }

    void set_training_seconds(double seconds) { training_seconds_ = seconds; }

    [[nodiscard]] ReplicaState copy(bool with_optimizer);

    /// Parameters and, where there is any, the optimizer's state; |new - old|. Errors: wrong_size,
    /// or conflict for an optimizer of another kind; nothing is changed by them.
    core::Result<double> replace(const ReplicaState& state);

  private:
    Replica(const ReplicaSetup& setup, std::shared_ptr<const core::Dataset> data);
    core::Status resume(const Path& checkpoint);
    [[nodiscard]] core::Status check_optimizer(const std::vector<OptimizerVector>& parts);
    void restore_optimizer(const ReplicaState& state);

    std::shared_ptr<const core::JobSpec> spec_;
    std::shared_ptr<const core::Dataset> data_;
    core::Sampler sampler_;
    core::Learner learner_;
    core::Optimizer optimizer_;
    std::vector<float> parameters_;
    std::vector<float> gradient_;
    std::vector<std::uint32_t> indices_;
    std::vector<float> inputs_;
    core::Bytes labels_;
    core::StepCount steps_;
    core::SampleCount samples_;
    double train_loss_ = 0;
    double training_seconds_ = 0;
    std::uint64_t batch_hash_ = 0;
};

/// Loss and accuracy of `parameters` on the test part of `data`. Any thread.
[[nodiscard]] core::Evaluated evaluate_parameters(
    const core::ModelSpec& model,
    const core::Dataset& data,
    core::KernelLevel level,
    core::FloatView parameters);

}  // namespace p2p::daemon
