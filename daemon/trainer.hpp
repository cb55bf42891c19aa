#pragma once

// One face for all trainers: what the workshop may ask of a replica that is being trained.
//
// A trainer owns the live parameters and serves requests between two steps, in the order in which
// they came; it never waits for anybody. The native one (trainer_native) runs its own steps, the
// external one (trainer_external) speaks for a process that does. What is mixed with whom, and
// when a job ends, is decided elsewhere.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/tensor.hpp"
#include "core/nn/model.hpp"
#include "core/node/effect.hpp"
#include "core/node/node.hpp"
#include "core/node/work.hpp"

namespace p2p::daemon {

/// A part of the optimizer's state, as long as the flat parameter vector.
struct OptimizerVector {
    std::string name;  ///< as PyTorch calls it ("momentum_buffer")
    std::vector<float> values;

    bool operator==(const OptimizerVector&) const = default;
};

/// A replica between two steps. `optimizer` is empty where it was not asked for.
struct ReplicaState {
    std::vector<float> parameters;
    std::vector<OptimizerVector> optimizer;
    std::uint64_t optimizer_steps = 0;
    core::StepCount steps;
    core::SampleCount samples;
    double train_loss = 0;
    double training_seconds = 0;  ///< since the first step, over all incarnations

    bool operator==(const ReplicaState&) const = default;
};

/// Called once, on the trainer's own thread: hand the work on and return soon.
template <typename T>
using Answer = std::function<void(core::Result<T>)>;
using StatusAnswer = std::function<void(core::Status)>;

/// What a trainer tells; called on the loop thread.
struct TrainerEvents {
    std::function<void(core::TrainerReady)> on_ready;
    std::function<void(core::SteppedReport)> on_stepped;
};

/// Puts a function on the loop thread; from any thread.
using PostToLoop = std::function<void(std::function<void()>)>;

/// Every request is answered; with `interrupted` where the trainer is gone or stopped first.
class Trainer {
  public:
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;
    virtual ~Trainer() = default;

    /// A copy of a range of the parameters.
    virtual void snapshot(core::ShardRange range, Answer<std::vector<float>> answer) = 0;

    /// What the first parameters were drawn from; nothing where this program does not draw them.
    [[nodiscard]] virtual std::optional<core::InitialDraw> initial_draw() const { return {}; }

    /// x <- x + d on a range.
    virtual void add(
        core::ShardRange range,
        std::shared_ptr<const std::vector<float>> displacement,
        StatusAnswer answer) = 0;

    /// An outer step has been taken, or outer steps begin, from where the replica stands.
    virtual void mark_outer_step() = 0;

    virtual void copy_state(bool with_optimizer, Answer<ReplicaState> answer) = 0;

    /// Takes parameters (and the optimizer's state, where there is any) from `state`; own counts
    /// stay. Answers |new - old|.
    virtual void replace(ReplicaState state, Answer<double> answer) = 0;

    /// On the job's test set; `has_test_set` is false where there is none.
    virtual void evaluate(Answer<core::Evaluated> answer) = 0;

    virtual void set_pace(const core::Pace& pace) = 0;

    /// No step any more; requests are served as before.
    virtual void end() = 0;

    /// Asks the trainer to go. Returns at once; the destructor waits.
    virtual void stop() = 0;
};

/// What a request gets when its trainer is gone.
[[nodiscard]] inline core::Error trainer_gone() {
    return {core::ErrorCode::interrupted, "the trainer is gone", "the job was dropped here", ""};
}

/// Whether `range` lies within `floats`; ranges come from the Node, which has the layout.
[[nodiscard]] inline bool is_within(core::ShardRange range, std::uint64_t floats) {
    return range.offset <= floats && range.floats <= floats - range.offset;
}

}  // namespace p2p::daemon
