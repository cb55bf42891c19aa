#pragma once

// One thread that trains one native job, and between two steps does what its mailbox says.
//
//   load -> [ serve letters -> may step? -> rested enough? -> step -> report ] -> stop
//
// It stands still, without polling, at its pace's step limit, at the total, after the end, and to
// keep its duty; letters are served meanwhile. The learning rate and the limit follow its own exact
// count of samples, so one node alone is plain local training to the bit.

#include <functional>
#include <memory>
#include <thread>

#include "daemon/duty.hpp"
#include "daemon/latest_report.hpp"
#include "daemon/mailbox.hpp"
#include "daemon/trainer.hpp"
#include "daemon/trainer_replica.hpp"
#include "daemon/workers.hpp"

namespace p2p::daemon {

struct NativeSetup {
    core::JobId job;
    ReplicaSetup replica;
    double duty = 1;
    core::SampleCount samples_mesh;  ///< told with on_ready
};

class NativeTrainer final : public Trainer {
  public:
    /// Starts the thread. Evaluations run on `workers`, which must outlive this.
    NativeTrainer(NativeSetup setup, TrainerEvents events, PostToLoop post, Workers& workers);

    /// Stops, and waits for the step under way.
    ~NativeTrainer() override;

    [[nodiscard]] std::optional<core::InitialDraw> initial_draw() const override {
        return core::InitialDraw{setup_.replica.spec->model, setup_.replica.spec->seed};
    }

    void snapshot(core::ShardRange range, Answer<std::vector<float>> answer) override;
    void add(
        core::ShardRange range,
        std::shared_ptr<const std::vector<float>> displacement,
        StatusAnswer answer) override;
    void mark_outer_step() override;
    void copy_state(bool with_optimizer, Answer<ReplicaState> answer) override;
    void replace(ReplicaState state, Answer<double> answer) override;
    void evaluate(Answer<core::Evaluated> answer) override;
    void set_pace(const core::Pace& pace) override;
    void end() override;
    void stop() override;

  private:
    void run();
    bool load();
    void train();
    void step(SteadyTime begin);
    void report(SteadyTime now);
    void stand_still();
    [[nodiscard]] bool may_step() const;
    [[nodiscard]] double progress_ratio() const;
    [[nodiscard]] double rate() const;

    NativeSetup setup_;
    TrainerEvents events_;
    PostToLoop post_;
    Workers& workers_;
    Mailbox<Replica> mailbox_;
    std::shared_ptr<LatestReport> latest_ = std::make_shared<LatestReport>();

    // The thread's own.
    std::unique_ptr<Replica> replica_;
    Duty duty_;
    core::Pace pace_;  ///< until the first one comes, no step
    bool has_pace_ = false;
    bool has_ended_ = false;
    bool was_at_limit_ = false;
    double seconds_before_ = 0;  ///< training time of earlier incarnations
    std::optional<SteadyTime> first_step_;
    double learning_rate_ = 0;

    std::thread thread_;  ///< last: it starts when all else stands
};

}  // namespace p2p::daemon
