#include "core/job/spec.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"

namespace p2p::core {
namespace {

using namespace std::chrono_literals;

JobSpec sound_spec() {
    JobSpec spec;
    spec.name = "mnist-mlp";
    spec.model.layers = {784, 256, 10};
    spec.data.set = "fashion-mnist";
    spec.train.epochs = 10;
    return spec;
}

JobSpec external_spec() {
    JobSpec spec;
    spec.name = "cifar";
    spec.model.kind = ModelKind::external;
    spec.model.tensors = {{"a.weight", {2, 3}, 0}, {"a.bias", {2}, 6}, {"scale", {}, 8}};
    spec.train.samples = 1000;
    return spec;
}

using Damage = std::function<void(JobSpec&)>;

/// The key that is named where `damage` was done to a sound spec; "" where nobody minds.
std::string key_refused(const Damage& damage, JobSpec spec = sound_spec()) {
    EXPECT_TRUE(validate(spec));
    damage(spec);
    const Status status = validate(spec);
    if (status) return "";
    EXPECT_FALSE(status.error().why.empty());
    EXPECT_FALSE(status.error().next.empty()) << status.error().text();
    return status.error().what;
}

TEST(JobSpecCheck, TakesTheExamples) {
    EXPECT_TRUE(validate(sound_spec()));
    EXPECT_TRUE(validate(external_spec()));
}

TEST(JobSpecCheck, LeavesLocalStepsOfExternalModelsAlone) {
    for (const Local kind :
         {Local::compensate,
          Local::anchor,
          Local::quasi_global,
          Local::global_hint,
          Local::predict}) {
        const Status status = check_local(external_spec(), {.kind = kind, .a = 0.5});
        ASSERT_FALSE(status);
        EXPECT_FALSE(status.error().why.empty());
        EXPECT_NE(std::string::npos, status.error().next.find("plain"));
        EXPECT_TRUE(check_local(sound_spec(), {.kind = kind, .a = 0.5}));
    }
    EXPECT_TRUE(check_local(external_spec(), {}));
}

TEST(JobSpecCheck, RefusesLocalStepsThatAreMadeForSgdToAdamw) {
    JobSpec spec = sound_spec();
    spec.optimizer.kind = OptimizerKind::adamw;
    EXPECT_FALSE(check_local(spec, {.kind = Local::quasi_global, .a = 0.9}));
    EXPECT_FALSE(check_local(spec, {.kind = Local::compensate, .a = 0.2}));
    EXPECT_FALSE(check_local(spec, {.kind = Local::predict}));
    EXPECT_TRUE(check_local(spec, {.kind = Local::anchor, .a = 0.1, .b = 0.1}));
    EXPECT_TRUE(check_local(spec, {.kind = Local::global_hint, .a = 0.5}));
    EXPECT_TRUE(check_local(spec, {}));
}

TEST(JobSpecCheck, NamesJobsAsFoldersAre) {
    EXPECT_TRUE(is_job_name("a"));
    EXPECT_TRUE(is_job_name("0-a_b.c"));
    for (const auto* name : {"", ".", "..", ".a", "-a", "A", "a b", "a/b", "a\n", "\xc3\xa9"}) {
        EXPECT_FALSE(is_job_name(name)) << name;
    }
    EXPECT_TRUE(is_job_name(std::string(63, 'a')));
    EXPECT_FALSE(is_job_name(std::string(64, 'a')));
    EXPECT_EQ("job.name", key_refused([](JobSpec& s) { s.name = ""; }));
    EXPECT_EQ("job.name", key_refused([](JobSpec& s) { s.name = "a/b"; }));
}

TEST(JobSpecCheck, RefusesDescriptionsThatAreNoLine) {
    EXPECT_EQ(
        "job.description", key_refused([](JobSpec& s) { s.description = std::string(1025, 'a'); }));
    EXPECT_EQ("job.description", key_refused([](JobSpec& s) { s.description = "a\nb"; }));
}

TEST(JobSpecCheck, WantsExactlyOneEnd) {
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.epochs = 0; }));
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.samples = 1; }));
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.minutes = 1; }));
    EXPECT_EQ("", key_refused([](JobSpec& s) {
                  s.train.epochs = 0;
                  s.train.minutes = 0.5;
              }));
    EXPECT_EQ("", key_refused([](JobSpec& s) {
                  s.train.epochs = 0;
                  s.train.samples = 1;
              }));
}

TEST(JobSpecCheck, RefusesEndsThatNeverCome) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.epochs = -1; }));
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.epochs = infinity; }));
    EXPECT_EQ("train.epochs", key_refused([](JobSpec& s) { s.train.epochs = NAN; }));
    EXPECT_EQ("train.minutes", key_refused([](JobSpec& s) {
                  s.train.epochs = 0;
                  s.train.minutes = -1;
              }));
    EXPECT_EQ("train.samples", key_refused([](JobSpec& s) {
                  s.train.epochs = 0;
                  s.train.samples = UINT64_MAX;
              }));
    EXPECT_EQ(
        "train.epochs",
        key_refused(
            [](JobSpec& s) {
                s.train.samples = 0;
                s.train.epochs = 1;
            },
            external_spec()));
}

TEST(JobSpecCheck, RefusesLayersThatAreNoModel) {
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) { s.model.layers = {}; }));
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) { s.model.layers = {784}; }));
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) { s.model.layers = {784, 0, 10}; }));
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) { s.model.layers.assign(65, 1); }));
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) {
                  s.model.layers = {UINT32_MAX, UINT32_MAX};
              }));
    EXPECT_EQ("model.layers", key_refused([](JobSpec& s) {
                  s.model.layers.assign(64, 1U << 18U);  // 63 times 2^36
              }));
    EXPECT_EQ("model.tensors", key_refused([](JobSpec& s) { s.model.tensors = {{"a", {1}, 0}}; }));
}

TEST(JobSpecCheck, RefusesTensorsThatDoNotLieInOrder) {
    const auto refused = [](const Damage& damage) {
        return key_refused(damage, external_spec());
    };
    using S = JobSpec;
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors.clear(); }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[0].name = ""; }));
    EXPECT_EQ(
        "model.tensors", refused([](S& s) { s.model.tensors[0].name = std::string(257, 'a'); }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[1].name = "a.weight"; }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[0].shape = {0}; }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[0].shape.assign(9, 1); }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[1].offset = 7; }));
    EXPECT_EQ("model.tensors", refused([](S& s) { s.model.tensors[2].shape = {1ULL << 40U}; }));
    EXPECT_EQ("model.tensors", refused([](S& s) {
                  s.model.tensors[0].shape = {1ULL << 32U, 1ULL << 32U};  // 2^64 wraps to nothing
              }));
    EXPECT_EQ("model.layers", refused([](S& s) { s.model.layers = {1, 1}; }));
}

TEST(JobSpecCheck, RefusesDataThatIsNone) {
    EXPECT_EQ("data.set", key_refused([](JobSpec& s) { s.data.set = ""; }));
    EXPECT_EQ("data.set", key_refused([](JobSpec& s) { s.data.set = "/etc/passwd"; }));
    EXPECT_EQ("data.split", key_refused([](JobSpec& s) { s.data.split = SplitKind::dirichlet; }));
    EXPECT_EQ("", key_refused([](JobSpec& s) {
                  s.data.split = SplitKind::dirichlet;
                  s.data.dirichlet_alpha = 0.3;
              }));
}

TEST(JobSpecCheck, RefusesEachNumberOutsideItsRange) {
    using S = JobSpec;
    EXPECT_EQ("train.batch_size", key_refused([](S& s) { s.train.batch_size = 0; }));
    EXPECT_EQ("train.batch_size", key_refused([](S& s) { s.train.batch_size = 65'537; }));
    EXPECT_EQ("train.round_steps", key_refused([](S& s) { s.train.round_steps = 0; }));
    EXPECT_EQ("optimizer.momentum", key_refused([](S& s) { s.optimizer.momentum = 1; }));
    EXPECT_EQ("optimizer.momentum", key_refused([](S& s) { s.optimizer.momentum = NAN; }));
    EXPECT_EQ("optimizer.weight_decay", key_refused([](S& s) { s.optimizer.weight_decay = -1; }));
    EXPECT_EQ("optimizer.beta1", key_refused([](S& s) { s.optimizer.beta1 = 1; }));
    EXPECT_EQ("optimizer.beta2", key_refused([](S& s) { s.optimizer.beta2 = -0.1; }));
    EXPECT_EQ("optimizer.epsilon", key_refused([](S& s) { s.optimizer.epsilon = 0; }));
    EXPECT_EQ("schedule.base_lr", key_refused([](S& s) { s.schedule.base_lr = 0; }));
    EXPECT_EQ("schedule.base_lr", key_refused([](S& s) { s.schedule.base_lr = 101; }));
    EXPECT_EQ("schedule.warmup", key_refused([](S& s) { s.schedule.warmup = 1.1; }));
    EXPECT_EQ("schedule.final_lr", key_refused([](S& s) { s.schedule.final_lr = -1; }));
}

TEST(JobSpecCheck, RefusesMixingOutsideItsRange) {
    using S = JobSpec;
    EXPECT_EQ("mixing.recipe", key_refused([](S& s) { s.mixing.recipe = ""; }));
    EXPECT_EQ("mixing.recipe", key_refused([](S& s) { s.mixing.recipe = "a\nb"; }));
    EXPECT_EQ("mixing.codec", key_refused([](S& s) { s.mixing.axes["codec"] = "q8;"; }));
    EXPECT_EQ("", key_refused([](S& s) { s.mixing.axes["codec"] = "delta(q4) layers.0.B*=fp32"; }));
    EXPECT_EQ("", key_refused([](S& s) { s.mixing.axes["guard"] = "finite+norm(10)"; }));
    EXPECT_EQ("mixing", key_refused([](S& s) {
                  for (char c = 'a'; c <= 'z'; ++c)
                      s.mixing.axes[std::string(1, c)] = "x";
              }));
    EXPECT_EQ("mixing.min_peers", key_refused([](S& s) { s.mixing.min_peers = 0; }));
    EXPECT_EQ("mixing.min_peers", key_refused([](S& s) { s.mixing.min_peers = 4097; }));
    EXPECT_EQ("mixing.deadline", key_refused([](S& s) { s.mixing.deadline = 0s; }));
    EXPECT_EQ("mixing.staleness_max", key_refused([](S& s) { s.mixing.staleness_max = 0; }));
    EXPECT_EQ("mixing.finish_tolerance", key_refused([](S& s) { s.mixing.finish_tolerance = 0; }));
    EXPECT_EQ("mixing.finish_tolerance", key_refused([](S& s) { s.mixing.finish_tolerance = 1; }));
    EXPECT_EQ("mixing.finish_deadline", key_refused([](S& s) { s.mixing.finish_deadline = 0s; }));
}

TEST(JobSpecCheck, RefusesPeriodsThatBurnTheDisk) {
    using S = JobSpec;
    EXPECT_EQ("eval.every", key_refused([](S& s) { s.eval.every = 1ms; }));
    EXPECT_EQ("", key_refused([](S& s) { s.eval.every = 0s; }));
    EXPECT_EQ("checkpoint.every", key_refused([](S& s) { s.checkpoint.every = -1s; }));
    EXPECT_EQ("checkpoint.keep_last", key_refused([](S& s) { s.checkpoint.keep_last = 0; }));
}

TEST(SamplesTotal, IsWhatTheSpecSays) {
    JobSpec spec = sound_spec();
    EXPECT_EQ(SampleCount{600'000}, samples_total(spec, SampleCount{60'000}));
    spec.train.epochs = 0.5;
    EXPECT_EQ(SampleCount{2}, samples_total(spec, SampleCount{3}));
    spec.train.epochs = 0;
    spec.train.samples = 77;
    EXPECT_EQ(SampleCount{77}, samples_total(spec, SampleCount{60'000}));
    spec.train.samples = 0;
    spec.train.minutes = 3;
    EXPECT_EQ(SampleCount{0}, samples_total(spec, SampleCount{60'000}));
}

TEST(SamplesTotal, NeverOverflows) {
    JobSpec spec = sound_spec();
    spec.train.epochs = 1e6;
    EXPECT_EQ(SampleCount{limits::count_mesh_max}, samples_total(spec, SampleCount{UINT64_MAX}));
}

}  // namespace
}  // namespace p2p::core
