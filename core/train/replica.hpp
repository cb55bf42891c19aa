#pragma once

// A replica that trains itself: parameters, optimizer and place in the data of one native job.
//
// What a step does is a function of (spec, PeerId, the counts), so that it goes on from a copy to
// the bit, but for what the recipe's local rule keeps (local_rule). When a step may be taken, and
// what is mixed in between, is the callers': the daemon's trainer thread and the simulator's
// machines. Buffers that no step leaves behind lie apart, so
// that many replicas on one thread share them.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/cpu.hpp"
#include "core/base/types.hpp"
#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "core/job/spec.hpp"
#include "core/nn/learner.hpp"
#include "core/nn/optimizer.hpp"
#include "core/train/local_rule.hpp"

namespace p2p::core {

/// What one step needs and the next may overwrite: a batch, a gradient, a learner's buffers.
struct StepBuffers {
    /// @pre the model is a valid mlp, batch_size > 0, level <= best_kernel_level()
    StepBuffers(const ModelSpec& model, std::size_t batch_size, KernelLevel level);

    Learner learner;
    std::vector<float> gradient;
    std::vector<std::uint32_t> indices;
    std::vector<float> inputs;
    Bytes labels;
};

class NativeReplica {
  public:
    /// The first parameters are drawn from the job's seed; the optimizer stands at 0.
    /// @pre the model fits the data; `local` suits the spec (check_local)
    NativeReplica(
        std::shared_ptr<const JobSpec> spec,
        PeerId self,
        std::shared_ptr<const Dataset> data,
        KernelLevel level,
        const LocalSpec& local = {});

    /// One batch, one step of the optimizer and of the local rule. Where that pulls instead, the
    /// batch is counted and not learned from. @pre `buffers` are of this model
    void step(StepBuffers& buffers, double learning_rate);

    /// The same with a batch that others have drawn: `buffers.indices`.
    void step_on_batch(StepBuffers& buffers, double learning_rate);

    [[nodiscard]] MutableFloatView parameters() { return parameters_; }

    [[nodiscard]] FloatView parameters() const { return parameters_; }

    /// x <- x + d from `offset` on: what a swap or an outer step moves. @pre within the parameters
    void displace(std::size_t offset, FloatView d);

    /// An outer step has been taken, or outer steps begin, from where the replica stands.
    void mark_outer_step() { rule_.on_outer_stepped(parameters_); }

    /// No step follows: displacements that still come are added as they are.
    void end_steps() { rule_.end(); }

    /// Parameters and optimizer were written from elsewhere: the local rule begins anew.
    void restart_rule() { rule_.restart(); }

    [[nodiscard]] Optimizer& optimizer() { return optimizer_; }

    [[nodiscard]] StepCount steps() const { return steps_; }

    [[nodiscard]] SampleCount samples() const { return samples_; }

    /// Goes on from these counts: the next step draws the batch that they say.
    void restore_counts(StepCount steps, SampleCount samples, double train_loss);

    /// Of the newest step's batch, before that step.
    [[nodiscard]] double train_loss() const { return train_loss_; }

    [[nodiscard]] std::uint64_t batch_hash() const { return batch_hash_; }

    [[nodiscard]] const std::shared_ptr<const Dataset>& data() const { return data_; }

    [[nodiscard]] const JobSpec& spec() const { return *spec_; }

  private:
    void step_down(StepBuffers& buffers, double learning_rate);

    std::shared_ptr<const JobSpec> spec_;
    std::shared_ptr<const Dataset> data_;
    Sampler sampler_;
    Optimizer optimizer_;
    LocalRule rule_;
    std::vector<float> parameters_;
    StepCount steps_;
    SampleCount samples_;
    double train_loss_ = 0;
    std::uint64_t batch_hash_ = 0;
};

/// The schedule's rate where the mesh has done `progress_ratio` of the job's work.
[[nodiscard]] double job_learning_rate(
    const JobSpec& spec, double progress_ratio, std::uint32_t members);

/// Loss and accuracy of `parameters` on the first `samples_max` samples of the test part; of none
/// where there is no test part. @pre as for StepBuffers; the model fits the data
[[nodiscard]] BatchResult evaluate_parameters(
    const ModelSpec& model,
    const Dataset& data,
    KernelLevel level,
    FloatView parameters,
    std::size_t samples_max = static_cast<std::size_t>(-1));

}  // namespace p2p::core
