#pragma once

// A native replica (core/train) on this machine: from its data folder and checkpoint, to and from
// the copies that peers and checkpoints hold.
//
// One thread owns it, the trainer's (trainer_native), which decides when a step may be taken.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/cpu.hpp"
#include "core/base/result.hpp"
#include "core/data/dataset.hpp"
#include "core/train/replica.hpp"
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
    core::LocalSpec local{};            ///< of the job's recipe
};

class Replica {
  public:
    /// Reads the data and takes up the checkpoint, or draws the first parameters. Errors: of the
    /// data set, of a checkpoint that is not of this model, invalid where data and model differ.
    static core::Result<std::unique_ptr<Replica>> load(const ReplicaSetup& setup);

    /// One batch, one step of the optimizer.
    void step(double learning_rate) { native_.step(buffers_, learning_rate); }

    void displace(std::size_t offset, core::FloatView d) { native_.displace(offset, d); }

    void mark_outer_step() { native_.mark_outer_step(); }

    void end_steps() { native_.end_steps(); }

    [[nodiscard]] core::StepCount steps() const { return native_.steps(); }

    [[nodiscard]] core::SampleCount samples() const { return native_.samples(); }

    [[nodiscard]] double train_loss() const { return native_.train_loss(); }

    [[nodiscard]] std::uint64_t batch_hash() const { return native_.batch_hash(); }

    [[nodiscard]] std::uint32_t batch_size() const {
        return static_cast<std::uint32_t>(buffers_.indices.size());
    }

    [[nodiscard]] core::MutableFloatView parameters() { return native_.parameters(); }

    [[nodiscard]] const std::shared_ptr<const core::Dataset>& data() const {
        return native_.data();
    }

    [[nodiscard]] const core::JobSpec& spec() const { return native_.spec(); }

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

    core::NativeReplica native_;
    core::StepBuffers buffers_;
    double training_seconds_ = 0;
};

}  // namespace p2p::daemon
