// A native replica under the local rules of recipes, on a small set; plain training is tested with
// the daemon's trainer, too.

#include "core/train/replica.hpp"

#include <gtest/gtest.h>

#include "tests/core/train/rule_walk.hpp"
#include "tests/tools/sim/toy_stage.hpp"

namespace p2p::core {
namespace {

JobSpec toy_spec() {
    return sim::toy_stage().job;
}

class ReplicaTest : public testing::TestWithParam<LocalSpec> {
  protected:
    [[nodiscard]] NativeReplica replica(const LocalSpec& local) const {
        return {std::make_shared<const JobSpec>(spec_), {}, data_, KernelLevel::scalar, local};
    }

    /// Rounds of four steps, each ended by a displacement of two parts and an outer step.
    void train(NativeReplica& replica, int rounds) {
        const std::vector<float> d(20, 0.01F);
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < 4; ++i)
                replica.step(buffers_, 0.02);
            replica.displace(0, d);
            replica.displace(30, d);
            replica.mark_outer_step();
        }
    }

    JobSpec spec_ = toy_spec();
    std::shared_ptr<const Dataset> data_ = sim::toy_data();
    StepBuffers buffers_{spec_.model, spec_.train.batch_size, KernelLevel::scalar};
};

bool are_equal(const NativeReplica& a, const NativeReplica& b) {
    const auto x = a.parameters();
    const auto y = b.parameters();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

TEST_P(ReplicaTest, ThatGetsTheSameCallsIsTheSameToTheBit) {
    NativeReplica one = replica(GetParam());
    NativeReplica same = replica(GetParam());
    train(one, 20);
    train(same, 20);
    EXPECT_TRUE(are_equal(one, same));
    EXPECT_EQ(one.batch_hash(), same.batch_hash());
}

TEST_P(ReplicaTest, CountsAndDrawsTheBatchesThatPlainTrainingDoes) {
    NativeReplica bent = replica(GetParam());
    NativeReplica plain = replica({});
    for (int round = 0; round < 20; ++round) {
        train(bent, 1);
        train(plain, 1);
        EXPECT_EQ(plain.batch_hash(), bent.batch_hash());
    }
    EXPECT_EQ(plain.steps(), bent.steps());
    EXPECT_EQ(plain.samples(), bent.samples());
    EXPECT_FALSE(are_equal(plain, bent));
}

TEST_P(ReplicaTest, StillLearns) {
    NativeReplica bent = replica(GetParam());
    for (int i = 0; i < 400; ++i)
        bent.step(buffers_, 0.02);
    const auto result =
        evaluate_parameters(spec_.model, *data_, KernelLevel::scalar, bent.parameters());
    EXPECT_GT(result.accuracy(), 0.9);
}

INSTANTIATE_TEST_SUITE_P(LocalRules, ReplicaTest, testing::ValuesIn(each_rule()));

}  // namespace
}  // namespace p2p::core
