#include "daemon/trainer_native.hpp"

#include <cmath>
#include <future>

#include <gtest/gtest.h>

#include "core/data/batch.hpp"
#include "core/nn/model.hpp"
#include "core/nn/schedule.hpp"
#include "daemon/checkpoint.hpp"
#include "tests/daemon/test_loop.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {
namespace {

using core::SampleCount;
using core::StepCount;

constexpr auto level = core::KernelLevel::scalar;

/// Waits for one answer of a trainer, whatever thread gives it.
template <typename T>
class Asked {
  public:
    [[nodiscard]] Answer<T> answer() {
        return [promise = promise_](core::Result<T> result) {
            promise->set_value(std::move(result));
        };
    }

    [[nodiscard]] core::Result<T> get() {
        auto future = promise_->get_future();
        P2P_CHECK(future.wait_for(std::chrono::seconds{60}) == std::future_status::ready);
        return future.get();
    }

  private:
    std::shared_ptr<std::promise<core::Result<T>>> promise_ =
        std::make_shared<std::promise<core::Result<T>>>();
};

class NativeTrainerTest : public testing::Test {
  protected:
    NativeTrainerTest() { put_tiny_set(temp_.path() / "set"); }

    std::unique_ptr<NativeTrainer> start(
        std::optional<Path> checkpoint = std::nullopt, double duty = 1) {
        ready_.reset();
        newest_ = {};
        NativeSetup setup;
        setup.job = spec_.id;
        setup.replica = {
            std::make_shared<const core::JobSpec>(spec_.spec),
            peer_id(3),
            temp_.path() / "set",
            level,
            0,
            std::move(checkpoint),
            local_};
        setup.duty = duty;
        return std::make_unique<NativeTrainer>(
            setup,
            TrainerEvents{
                [this](const core::TrainerReady& ready) { ready_ = ready; },
                [this](const core::SteppedReport& report) {
                    newest_ = report;
                }},
            loop_.poster(),
            workers_);
    }

    /// The replica once it stands at the end of `steps` steps.
    ReplicaState train(Trainer& trainer, std::uint64_t steps, std::uint64_t samples_total) {
        trainer.set_pace(pace_of(spec_, steps, samples_total));
        EXPECT_TRUE(loop_.run_until([&] { return newest_.steps == StepCount{steps}; }));
        Asked<ReplicaState> asked;
        trainer.copy_state(true, asked.answer());
        auto state = asked.get();
        P2P_CHECK(state.has_value());
        return *std::move(state);
    }

    /// What the job is, written down by hand: no threads, no daemon.
    std::vector<float> plain_training(std::uint64_t steps, std::uint64_t samples_total) {
        const auto& spec = spec_.spec;
        const auto data = core::load_dataset((temp_.path() / "set").string());
        P2P_CHECK(data.has_value());
        core::Learner learner(spec.model, 16, level);
        core::Optimizer optimizer(spec.optimizer, learner.parameters(), level);
        const core::Sampler sampler(spec.data, {spec.seed, peer_id(3)}, data->train.labels);
        std::vector<float> parameters(learner.parameters());
        std::vector<float> gradient(learner.parameters());
        core::init_parameters(spec.model, spec.seed, parameters);
        for (std::uint64_t step = 0; step < steps; ++step) {
            std::vector<std::uint32_t> indices(16);
            sampler.batch(SampleCount{step * 16}, indices);
            std::vector<float> inputs(16 * 16);
            core::Bytes labels(16);
            core::fill_inputs(data->train, data->standardization, indices, inputs);
            core::fill_labels(data->train, indices, labels);
            static_cast<void>(learner.gradient(parameters, inputs, labels, gradient));
            const double progress =
                static_cast<double>(step * 16) / static_cast<double>(samples_total);
            optimizer.step(parameters, gradient, core::learning_rate(spec.schedule, progress, 1));
        }
        return parameters;
    }

    const TempFolder temp_;
    proto::ParsedSpec spec_ = parsed(tiny_toml("tiny"));
    core::LocalSpec local_;
    TestLoop loop_;
    Workers workers_{1};
    std::optional<core::TrainerReady> ready_;
    core::SteppedReport newest_;
};

TEST_F(NativeTrainerTest, OneNodeAloneIsPlainLocalTrainingToTheBit) {
    const auto trainer = start();
    const auto state = train(*trainer, 400, 6400);
    EXPECT_EQ(plain_training(400, 6400), state.parameters);
}

TEST_F(NativeTrainerTest, KilledAndResumedEqualsUninterruptedToTheBit) {
    const auto run = open_run_dir(temp_.path(), "tiny", spec_.canonical);
    ASSERT_TRUE(run.has_value());
    {
        const auto first = start();
        Checkpoint checkpoint;
        checkpoint.replica = train(*first, 150, 6400);
        checkpoint.layout = core::model_tensors(spec_.spec.model);
        ASSERT_TRUE(write_checkpoint(*run, checkpoint, {}));
        train(*first, 170, 6400);  // steps that the kill takes away
    }
    std::vector<core::Error> broken;
    const auto second = start(*newest_checkpoint(*run, broken));
    const auto state = train(*second, 400, 6400);
    EXPECT_EQ(plain_training(400, 6400), state.parameters);
    EXPECT_EQ(SampleCount{6400}, state.samples);
    EXPECT_EQ(StepCount{150}, ready_->steps);
}

TEST_F(NativeTrainerTest, ResumingIsExactWithAdamw) {
    spec_ = parsed(tiny_toml("tiny", "[optimizer]\nkind = \"adamw\"\nweight_decay = 0.01\n"));
    const auto run = open_run_dir(temp_.path(), "tiny", spec_.canonical);
    ASSERT_TRUE(run.has_value());
    {
        const auto first = start();
        Checkpoint checkpoint;
        checkpoint.replica = train(*first, 50, 6400);
        checkpoint.layout = core::model_tensors(spec_.spec.model);
        ASSERT_TRUE(write_checkpoint(*run, checkpoint, {}));
    }
    const auto second = start(run->folder / "checkpoints/step-00000050");
    EXPECT_EQ(plain_training(120, 6400), train(*second, 120, 6400).parameters);
}

TEST_F(NativeTrainerTest, ItSaysHowLargeItsSetIs) {
    const auto trainer = start();
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    EXPECT_TRUE(ready_->status);
    EXPECT_EQ(SampleCount{300}, ready_->set_samples);
}

TEST_F(NativeTrainerTest, ItTakesNoStepBeforeItHasAPace) {
    const auto trainer = start();
    Asked<ReplicaState> asked;
    trainer->copy_state(false, asked.answer());
    EXPECT_EQ(StepCount{0}, asked.get()->steps);
}

TEST_F(NativeTrainerTest, ItStopsExactlyAtTheTotalOfTheMesh) {
    const auto trainer = start();
    core::Pace pace = pace_of(spec_, 100000, 1600);
    pace.samples_others = SampleCount{800};
    trainer->set_pace(pace);
    ASSERT_TRUE(loop_.run_until([&] { return newest_.is_at_limit; }));
    EXPECT_EQ(SampleCount{800}, newest_.samples);
    EXPECT_EQ(StepCount{50}, newest_.steps);
}

TEST_F(NativeTrainerTest, ATotalThatOthersReachIsReportedWithoutAStep) {
    const auto trainer = start(std::nullopt, 1e-6);  // it rests after its first step
    trainer->set_pace(pace_of(spec_, 100, 6400));
    ASSERT_TRUE(loop_.run_until([&] { return newest_.steps == StepCount{1}; }));
    ASSERT_FALSE(newest_.is_at_limit);
    core::Pace pace = pace_of(spec_, 100, 6400);
    pace.samples_others = SampleCount{6400};
    trainer->set_pace(pace);
    EXPECT_TRUE(loop_.run_until([&] { return newest_.is_at_limit; }));
    EXPECT_EQ(StepCount{1}, newest_.steps);
}

TEST_F(NativeTrainerTest, AfterTheEndItTakesNoStepAndServesOn) {
    const auto trainer = start();
    trainer->end();
    trainer->set_pace(pace_of(spec_, 100, 6400));
    const auto displacement = std::make_shared<const std::vector<float>>(4, 0.5F);
    Asked<std::vector<float>> before;
    Asked<std::vector<float>> after;
    trainer->snapshot({8, 4}, before.answer());
    trainer->add({8, 4}, displacement, [](const core::Status&) {});
    trainer->snapshot({8, 4}, after.answer());
    const auto old = *before.get();
    const auto moved = *after.get();
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(old[i] + 0.5F, moved[i]);
    EXPECT_EQ(StepCount{0}, newest_.steps);
}

/// What is left of a displacement of 0.5 in the last three parameters, the biases of the classes.
std::vector<float> moved_biases(Trainer& trainer, std::uint64_t parameters) {
    const core::ShardRange biases{parameters - 3, 3};
    Asked<std::vector<float>> before;
    Asked<std::vector<float>> after;
    trainer.snapshot(biases, before.answer());
    trainer.add(biases, std::make_shared<const std::vector<float>>(3, 0.5F), [](const auto&) {});
    trainer.snapshot(biases, after.answer());
    const auto old = *before.get();
    auto moved = *after.get();
    for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] -= old[i];
    return moved;
}

TEST_F(NativeTrainerTest, ItsLocalRuleBendsWhatIsAddedUntilTheEnd) {
    local_ = {.kind = core::Local::compensate, .a = 1e9};  // as much as may be
    const auto trainer = start();
    const std::uint64_t parameters = train(*trainer, 3, 6400).parameters.size();
    for (const float moved : moved_biases(*trainer, parameters))
        EXPECT_NEAR(0, moved, 1e-6);
    trainer->end();
    for (const float moved : moved_biases(*trainer, parameters))
        EXPECT_NEAR(0.5, moved, 1e-6);
}

TEST_F(NativeTrainerTest, ItsLocalRuleBeginsAnewWhereItsReplicaIsReplaced) {
    local_ = {.kind = core::Local::compensate, .a = 1e9};
    const auto trainer = start();
    const ReplicaState state = train(*trainer, 3, 6400);
    Asked<double> replaced;
    trainer->replace(state, replaced.answer());
    ASSERT_TRUE(replaced.get());
    for (const float moved : moved_biases(*trainer, state.parameters.size()))
        EXPECT_NEAR(0.5, moved, 1e-6);
}

TEST_F(NativeTrainerTest, ItServesWhileItRestsForItsDuty) {
    const auto trainer =
        start(std::nullopt, 1e-6);  // the first step is followed by minutes of rest
    trainer->set_pace(pace_of(spec_, 1000000, 1u << 30));
    ASSERT_TRUE(loop_.run_until([&] { return newest_.steps >= StepCount{1}; }));
    Asked<std::vector<float>> asked;
    trainer->snapshot({0, 4}, asked.answer());
    EXPECT_EQ(4U, asked.get()->size());
}

TEST_F(NativeTrainerTest, ReplacingMovesTheParametersAndKeepsTheCounts) {
    const auto trainer = start();
    ReplicaState state = train(*trainer, 20, 6400);
    for (auto& value : state.parameters)
        value += 1;
    state.steps = StepCount{777};
    Asked<double> moved;
    trainer->replace(state, moved.answer());
    EXPECT_NEAR(std::sqrt(static_cast<double>(state.parameters.size())), *moved.get(), 1e-4);
    Asked<ReplicaState> asked;
    trainer->copy_state(true, asked.answer());
    const auto now = *asked.get();
    EXPECT_EQ(state.parameters, now.parameters);
    EXPECT_EQ(state.optimizer, now.optimizer);
    EXPECT_EQ(StepCount{20}, now.steps);
}

TEST_F(NativeTrainerTest, AStateOfAnotherModelIsRefused) {
    const auto trainer = start();
    ReplicaState state;
    state.parameters = {1, 2, 3};
    Asked<double> moved;
    trainer->replace(state, moved.answer());
    EXPECT_FALSE(moved.get().has_value());
}

TEST_F(NativeTrainerTest, WhatItHasLearnedIsMeasuredOnTheTestSet) {
    const auto trainer = start();
    train(*trainer, 400, 6400);
    Asked<core::Evaluated> asked;
    trainer->evaluate(asked.answer());
    const auto evaluated = *asked.get();
    EXPECT_TRUE(evaluated.has_test_set);
    EXPECT_GT(evaluated.accuracy, 0.9);
    EXPECT_LT(evaluated.loss, 0.5);
}

TEST_F(NativeTrainerTest, RequestsToAStoppedOneAreAnsweredWithAnError) {
    const auto trainer = start();
    trainer->stop();
    Asked<ReplicaState> asked;
    trainer->copy_state(true, asked.answer());
    const auto state = asked.get();
    ASSERT_FALSE(state.has_value());
    EXPECT_EQ(core::ErrorCode::interrupted, state.error().code);
}

TEST_F(NativeTrainerTest, DataThatIsMissingIsSaidAndRequestsAreAnswered) {
    std::filesystem::remove(temp_.path() / "set/train-labels-idx1-ubyte");
    const auto trainer = start();
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    ASSERT_FALSE(ready_->status);
    EXPECT_NE(std::string::npos, ready_->status.error().text().find("train-labels"));
    Asked<ReplicaState> asked;
    trainer->copy_state(true, asked.answer());
    EXPECT_FALSE(asked.get().has_value());
}

TEST_F(NativeTrainerTest, AModelThatDoesNotFitItsDataIsRefused) {
    spec_.spec.model.layers = {17, 8, 3};
    const auto wide = start();
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    EXPECT_FALSE(ready_->status);
    spec_.spec.model.layers = {16, 8, 2};
    const auto narrow = start();
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    EXPECT_FALSE(ready_->status);
}

TEST_F(NativeTrainerTest, AModelThatNoMemoryHoldsIsRefusedBeforeAnythingIsAllocated) {
    spec_.spec.model.layers = {16, 1U << 30U, 3};
    const auto trainer = start();
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    ASSERT_FALSE(ready_->status);
    EXPECT_EQ(core::ErrorCode::too_large, ready_->status.error().code);
}

TEST_F(NativeTrainerTest, AScheduleThatOnlyWarmsUpIsTrained) {
    spec_ = parsed(tiny_toml("tiny"));
    spec_.spec.schedule.warmup = 1;
    const auto trainer = start();
    EXPECT_EQ(StepCount{400}, train(*trainer, 400, 6400).steps);
}

TEST_F(NativeTrainerTest, AQuarterOfTheTimeIsUsedWhenNothingElseHoldsItBack) {
    const auto trainer = start(std::nullopt, 0.25);
    trainer->set_pace(pace_of(spec_, 1u << 30, 1u << 30));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(loop_.run_until(
        [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds{1}; }));
    EXPECT_GE(newest_.utilization, 0.95);
    EXPECT_LE(newest_.utilization, 1.2);
}

}  // namespace
}  // namespace p2p::daemon
