#pragma once

// What a simulated machine trains: a real network on real data, or a walk that learns nothing.
//
// Both take steps when they are told and own their parameters, which the workbench mixes. When a
// step is due is the machine's business.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/rng.hpp"
#include "core/node/work.hpp"
#include "core/train/replica.hpp"

namespace p2p::sim {

/// All that a trainer would need to go on.
struct TrainerState {
    std::vector<float> parameters;
    std::vector<std::vector<float>> optimizer;
    std::uint64_t optimizer_steps = 0;
    core::StepCount steps;
    core::SampleCount samples;
};

class Trainer {
  public:
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;
    virtual ~Trainer() = default;

    virtual void step(double progress_ratio, std::uint32_t members) = 0;
    [[nodiscard]] virtual core::MutableFloatView parameters() = 0;

    /// What the parameters were before any step.
    [[nodiscard]] virtual std::vector<float> initial(core::ShardRange range) const = 0;

    /// x <- x + d from `offset` on.
    virtual void displace(std::size_t offset, core::FloatView d);

    /// For what follows outer steps and the end; see NativeReplica.
    virtual void mark_outer_step() {}

    virtual void end_steps() {}

    [[nodiscard]] virtual core::StepCount steps() const = 0;
    [[nodiscard]] virtual core::SampleCount samples() const = 0;
    [[nodiscard]] virtual double train_loss() const = 0;
    [[nodiscard]] virtual std::uint64_t batch_hash() const = 0;
    [[nodiscard]] virtual core::SampleCount set_samples() const = 0;
    [[nodiscard]] virtual core::Evaluated evaluate(std::size_t samples_max) = 0;
    [[nodiscard]] virtual TrainerState save() = 0;

    /// `with_counts`: as after a restart; without: another's state is taken over.
    virtual void restore(const TrainerState& state, bool with_counts) = 0;
};

/// What all learning machines of a world share: the data and one set of buffers.
struct Classroom {
    Classroom(
        const core::JobSpec& spec, std::shared_ptr<const core::Dataset> set, core::KernelLevel best)
        : data(std::move(set)),
          level(best),
          buffers(spec.model, spec.train.batch_size, best) {}

    std::shared_ptr<const core::Dataset> data;
    core::KernelLevel level;
    core::StepBuffers buffers;
};

/// `classroom` must outlive the trainer.
[[nodiscard]] std::unique_ptr<Trainer> make_learner(
    std::shared_ptr<const core::JobSpec> spec,
    core::PeerId self,
    Classroom& classroom,
    const core::LocalSpec& local = {});

/// Adds noise of this deviation to each of `floats` parameters in a step of 32 samples.
[[nodiscard]] std::unique_ptr<Trainer> make_walker(
    std::uint64_t floats, double deviation, core::Rng rng);

}  // namespace p2p::sim
