#include "tools/sim/trainer.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/check.hpp"
#include "core/nn/model.hpp"

namespace p2p::sim {

using core::Evaluated;
using core::SampleCount;
using core::StepCount;

namespace {

class Learner final : public Trainer {
  public:
    Learner(
        std::shared_ptr<const core::JobSpec> spec,
        core::PeerId self,
        Classroom& classroom,
        const core::LocalSpec& local)
        : classroom_(classroom),
          replica_(std::move(spec), self, classroom.data, classroom.level, local) {}

    void step(double progress_ratio, std::uint32_t members) override {
        replica_.step(
            classroom_.buffers, core::job_learning_rate(replica_.spec(), progress_ratio, members));
    }

    core::MutableFloatView parameters() override { return replica_.parameters(); }

    [[nodiscard]] std::vector<float> initial(core::ShardRange range) const override {
        const core::JobSpec& spec = replica_.spec();
        return core::InitialDraw{spec.model, spec.seed}.values(range.offset, range.floats);
    }

    void displace(std::size_t offset, core::FloatView d) override { replica_.displace(offset, d); }

    void mark_outer_step() override { replica_.mark_outer_step(); }

    void end_steps() override { replica_.end_steps(); }

    [[nodiscard]] StepCount steps() const override { return replica_.steps(); }

    [[nodiscard]] SampleCount samples() const override { return replica_.samples(); }

    [[nodiscard]] double train_loss() const override { return replica_.train_loss(); }

    [[nodiscard]] std::uint64_t batch_hash() const override { return replica_.batch_hash(); }

    [[nodiscard]] SampleCount set_samples() const override {
        return SampleCount{classroom_.data->train.count()};
    }

    Evaluated evaluate(std::size_t samples_max) override {
        const auto sum = core::evaluate_parameters(
            replica_.spec().model,
            *classroom_.data,
            classroom_.level,
            replica_.parameters(),
            samples_max);
        return {.has_test_set = true, .loss = sum.loss(), .accuracy = sum.accuracy()};
    }

    TrainerState save() override {
        TrainerState state;
        const auto values = replica_.parameters();
        state.parameters.assign(values.begin(), values.end());
        for (const auto& part : replica_.optimizer().state())
            state.optimizer.emplace_back(part.values.begin(), part.values.end());
        state.optimizer_steps = replica_.optimizer().steps();
        state.steps = steps();
        state.samples = samples();
        return state;
    }

    void restore(const TrainerState& state, bool with_counts) override {
        P2P_CHECK(state.parameters.size() == replica_.parameters().size());
        std::copy(state.parameters.begin(), state.parameters.end(), replica_.parameters().begin());
        auto parts = replica_.optimizer().state();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i < state.optimizer.size()) {
                const auto& values = state.optimizer[i];
                std::copy(values.begin(), values.end(), parts[i].values.begin());
            } else {
                std::fill(parts[i].values.begin(), parts[i].values.end(), 0.0F);
            }
        }
        replica_.optimizer().restore_steps(state.optimizer_steps);
        replica_.restart_rule();
        if (with_counts) replica_.restore_counts(state.steps, state.samples, 0);
    }

  private:
    Classroom& classroom_;
    core::NativeReplica replica_;
};

constexpr float first_value = 3;

class Walker final : public Trainer {
  public:
    Walker(std::uint64_t floats, double deviation, core::Rng rng)
        : deviation_(deviation),
          rng_(rng),
          parameters_(floats, first_value) {}

    void step(double /*progress_ratio*/, std::uint32_t /*members*/) override {
        for (float& value : parameters_)
            value += static_cast<float>(deviation_ * rng_.normal());
        batch_hash_ = rng_.next_u64();
        samples_ += SampleCount{batch};
        ++steps_;
    }

    core::MutableFloatView parameters() override { return parameters_; }

    [[nodiscard]] std::vector<float> initial(core::ShardRange range) const override {
        return std::vector<float>(range.floats, first_value);
    }

    [[nodiscard]] StepCount steps() const override { return steps_; }

    [[nodiscard]] SampleCount samples() const override { return samples_; }

    [[nodiscard]] double train_loss() const override { return 1; }

    [[nodiscard]] std::uint64_t batch_hash() const override { return batch_hash_; }

    [[nodiscard]] SampleCount set_samples() const override { return SampleCount{}; }

    Evaluated evaluate(std::size_t /*samples_max*/) override {
        const double near = 1 / (1 + std::abs(parameters_.at(0)));
        return {.has_test_set = true, .loss = 1 - near, .accuracy = near};
    }

    TrainerState save() override {
        return {
            .parameters = parameters_,
            .optimizer = {},
            .optimizer_steps = 0,
            .steps = steps_,
            .samples = samples_};
    }

    void restore(const TrainerState& state, bool with_counts) override {
        parameters_ = state.parameters;
        if (!with_counts) return;
        steps_ = state.steps;
        samples_ = state.samples;
    }

  private:
    static constexpr std::uint64_t batch = 32;

    double deviation_;
    core::Rng rng_;
    std::vector<float> parameters_;
    std::uint64_t batch_hash_ = 0;
    StepCount steps_;
    SampleCount samples_;
};

}  // namespace

void Trainer::displace(std::size_t offset, core::FloatView d) {
    const auto part = parameters().subspan(offset, d.size());
    std::transform(part.begin(), part.end(), d.begin(), part.begin(), std::plus<>());
}

std::unique_ptr<Trainer> make_learner(
    std::shared_ptr<const core::JobSpec> spec,
    core::PeerId self,
    Classroom& classroom,
    const core::LocalSpec& local) {
    return std::make_unique<Learner>(std::move(spec), self, classroom, local);
}

std::unique_ptr<Trainer> make_walker(std::uint64_t floats, double deviation, core::Rng rng) {
    return std::make_unique<Walker>(floats, deviation, rng);
}

}  // namespace p2p::sim
