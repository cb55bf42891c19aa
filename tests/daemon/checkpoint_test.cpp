#include "daemon/checkpoint.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "daemon/replica_blob.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {
namespace {

using core::ErrorCode;
using core::TensorInfo;

const std::vector<TensorInfo> layout{{"layers.0.weight", {2, 2}, 0}, {"layers.0.bias", {2}, 4}};

Checkpoint checkpoint_at(std::uint64_t steps, float value) {
    Checkpoint checkpoint;
    checkpoint.layout = layout;
    checkpoint.replica.parameters = {value, 2, 3, 4, 5, 6};
    checkpoint.replica.optimizer = {{"momentum_buffer", {6, 5, 4, 3, 2, value}}};
    checkpoint.replica.optimizer_steps = steps;
    checkpoint.replica.steps = core::StepCount{steps};
    checkpoint.replica.samples = core::SampleCount{steps * 16};
    checkpoint.replica.train_loss = 0.25;
    checkpoint.replica.training_seconds = 1.5;
    checkpoint.samples_mesh = core::SampleCount{steps * 48};
    checkpoint.seed = 7;
    return checkpoint;
}

class CheckpointTest : public testing::Test {
  protected:
    CheckpointTest()
        : run_(*open_run_dir(temp_.path(), "tiny", spec_.canonical)) {}

    [[nodiscard]] Path folder_of(const char* step) const {
        return run_.folder / "checkpoints" / step;
    }

    core::Status write(std::uint64_t steps, float value) {
        return write_checkpoint(run_, checkpoint_at(steps, value), {});
    }

    /// The state folder is resumed, and this error says which file was wrong.
    void expect_skipped(const std::string& file_named) {
        const RunScan scan = scan_runs(temp_.path());
        ASSERT_EQ(1U, scan.jobs.size());
        EXPECT_EQ(core::StepCount{1}, scan.jobs.front().steps);
        ASSERT_EQ(1U, scan.broken.size());
        EXPECT_NE(std::string::npos, scan.broken.front().text().find(file_named))
            << scan.broken.front().text();
    }

    const TempFolder temp_;
    const proto::ParsedSpec spec_ = parsed(tiny_toml("tiny"));
    const RunDir run_;
};

TEST_F(CheckpointTest, WhatIsWrittenIsReadBack) {
    const Checkpoint checkpoint = checkpoint_at(12, 0.5F);
    ASSERT_TRUE(write_checkpoint(run_, checkpoint, {}));
    std::vector<core::Error> broken;
    const auto newest = newest_checkpoint(run_, broken);
    ASSERT_TRUE(newest.has_value());
    EXPECT_EQ("step-00000012", newest->filename());
    const auto replica = read_checkpoint(*newest, layout);
    ASSERT_TRUE(replica.has_value());
    EXPECT_EQ(checkpoint.replica, *replica);
    EXPECT_TRUE(broken.empty());
}

TEST_F(CheckpointTest, ANodeFindsItsJobsAgain) {
    ASSERT_TRUE(write(3, 1));
    const auto resumed = find_resumed(temp_.path());
    ASSERT_EQ(1U, resumed.size());
    EXPECT_EQ(spec_.id, resumed[0].job);
    EXPECT_EQ(spec_.canonical, resumed[0].spec_bytes);
    EXPECT_EQ(core::JobState::running, resumed[0].state);
    EXPECT_EQ(core::StepCount{3}, resumed[0].steps);
    EXPECT_EQ(core::SampleCount{48}, resumed[0].samples);
    EXPECT_EQ(core::SampleCount{144}, resumed[0].samples_mesh);
}

TEST_F(CheckpointTest, AJobWithoutACheckpointStartsFromItsBeginning) {
    const auto resumed = find_resumed(temp_.path());
    ASSERT_EQ(1U, resumed.size());
    EXPECT_EQ(core::StepCount{0}, resumed[0].steps);
}

TEST_F(CheckpointTest, OnlyTheNewestAreKeptAndLatestPointsAtTheNewest) {
    for (std::uint64_t steps = 1; steps <= 5; ++steps)
        ASSERT_TRUE(write_checkpoint(run_, checkpoint_at(steps, 1), {.keep_last = 2}));
    const auto folders = list_checkpoints(run_);
    ASSERT_EQ(2U, folders.size());
    EXPECT_EQ("step-00000005", folders[0].filename());
    EXPECT_EQ("step-00000004", folders[1].filename());
    EXPECT_EQ("step-00000005", std::filesystem::read_symlink(folder_of("latest")));
}

TEST_F(CheckpointTest, SavingAgainAtTheSameStepReplacesIt) {
    ASSERT_TRUE(write(4, 1));
    ASSERT_TRUE(write(4, 9));
    const auto replica = read_checkpoint(folder_of("step-00000004"), layout);
    ASSERT_TRUE(replica.has_value());
    EXPECT_EQ(9.0F, replica->parameters[0]);
    EXPECT_EQ(1U, list_checkpoints(run_).size());
}

TEST_F(CheckpointTest, AFlippedBitInAnyFileSkipsItByName) {
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
        ASSERT_TRUE(write(1, 1));
        ASSERT_TRUE(write(2, 1));
        flip_bit(folder_of("step-00000002") / file);
        const auto status = verify_checkpoint(folder_of("step-00000002"));
        ASSERT_FALSE(status);
        EXPECT_EQ(ErrorCode::forged, status.error().code);
        expect_skipped(std::string("step-00000002/") + file);
    }
}

TEST_F(CheckpointTest, ATruncatedFileSkipsItByName) {
    ASSERT_TRUE(write(1, 1));
    ASSERT_TRUE(write(2, 1));
    const Path file = folder_of("step-00000002") / "model.safetensors";
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    expect_skipped("step-00000002/model.safetensors");
}

TEST_F(CheckpointTest, AMissingFileOrManifestSkipsItByName) {
    for (const char* file : {"model.safetensors", "MANIFEST.json"}) {
        ASSERT_TRUE(write(1, 1));
        ASSERT_TRUE(write(2, 1));
        std::filesystem::remove(folder_of("step-00000002") / file);
        expect_skipped(std::string("step-00000002/") + file);
    }
}

TEST_F(CheckpointTest, AManifestThatPointsElsewhereIsRefused) {
    ASSERT_TRUE(write(2, 1));
    for (const char* name : {"../../job.spec", "/etc/passwd", ".hidden", ""}) {
        put_text(
            folder_of("step-00000002") / "MANIFEST.json",
            std::string(R"({"schema":"p2pd.manifest/1","files":{")") + name
                + R"(":{"sha256":"","bytes":1}}})");
        const auto status = verify_checkpoint(folder_of("step-00000002"));
        ASSERT_FALSE(status);
        EXPECT_EQ(ErrorCode::malformed, status.error().code);
    }
}

TEST_F(CheckpointTest, WhatAKillLeftHalfWrittenIsNoCheckpoint) {
    ASSERT_TRUE(write(1, 1));
    put_text(folder_of(".writing-step-00000002") / "model.safetensors", "half");
    EXPECT_EQ(1U, list_checkpoints(run_).size());
    ASSERT_TRUE(write(2, 1));
    EXPECT_FALSE(std::filesystem::exists(folder_of(".writing-step-00000002")));
}

TEST_F(CheckpointTest, TooLittleRoomFailsTheSaveAndSaysHowMuch) {
    const CheckpointRules rules{.min_free_bytes = std::numeric_limits<std::uint64_t>::max() / 2};
    const auto status = write_checkpoint(run_, checkpoint_at(1, 1), rules);
    ASSERT_FALSE(status);
    EXPECT_EQ(ErrorCode::unwritable, status.error().code);
    EXPECT_NE(std::string::npos, status.error().why.find("min_free_bytes"));
    EXPECT_TRUE(list_checkpoints(run_).empty());
}

TEST_F(CheckpointTest, AModelThatHasBrokenDownIsNotSavedOverAWholeOne) {
    ASSERT_TRUE(write(1, 1));
    const auto status = write(2, std::numeric_limits<float>::quiet_NaN());
    ASSERT_FALSE(status);
    EXPECT_EQ(ErrorCode::not_finite, status.error().code);
    EXPECT_EQ(1U, list_checkpoints(run_).size());
}

TEST_F(CheckpointTest, TheFinalModelIsExportedWithTheHashThatPeersFetchItBy) {
    Checkpoint checkpoint = checkpoint_at(8, 1);
    checkpoint.is_final = true;
    checkpoint.job_state = core::JobState::done;
    checkpoint.final_hash = hash_blob(model_bytes(layout, checkpoint.replica.parameters));
    ASSERT_TRUE(write_checkpoint(run_, checkpoint, {}));
    const std::string exported = get_text(run_.folder / "tiny-final.safetensors");
    const auto resumed = find_resumed(temp_.path());
    ASSERT_EQ(1U, resumed.size());
    EXPECT_EQ(core::JobState::done, resumed[0].state);
    EXPECT_EQ(hash_blob(core::as_bytes(exported)), resumed[0].final_hash);

    ReplicaState parameters_alone;
    parameters_alone.parameters = checkpoint.replica.parameters;
    EXPECT_EQ(core::as_text(freeze_replica(layout, parameters_alone)), exported);
}

TEST_F(CheckpointTest, AFinalModelThatIsNotTheAgreedOneIsNotWritten) {
    Checkpoint checkpoint = checkpoint_at(8, 1);
    checkpoint.is_final = true;
    checkpoint.final_hash = hash_blob(model_bytes(layout, checkpoint.replica.parameters));
    checkpoint.replica.parameters[3] += 1;
    const auto status = write_checkpoint(run_, checkpoint, {});
    ASSERT_FALSE(status);
    EXPECT_EQ(ErrorCode::conflict, status.error().code);
    EXPECT_TRUE(list_checkpoints(run_).empty());
}

TEST_F(CheckpointTest, EveryStateOfAJobIsReadBack) {
    for (std::uint8_t number = 1; number <= 8; ++number) {
        Checkpoint checkpoint = checkpoint_at(number, 1);
        checkpoint.job_state = static_cast<core::JobState>(number);
        ASSERT_TRUE(write_checkpoint(run_, checkpoint, {}));
        EXPECT_EQ(checkpoint.job_state, find_resumed(temp_.path()).at(0).state);
    }
}

TEST_F(CheckpointTest, AModelIsExportedOnlyFromAWholeCheckpoint) {
    ASSERT_TRUE(write(1, 1));
    const Path out = temp_.path() / "out.safetensors";
    ASSERT_TRUE(export_model(folder_of("step-00000001"), out));
    EXPECT_EQ(get_text(folder_of("step-00000001") / "model.safetensors"), get_text(out));
    flip_bit(folder_of("step-00000001") / "optimizer.safetensors");
    EXPECT_FALSE(export_model(folder_of("step-00000001"), out));
}

TEST_F(CheckpointTest, ACheckpointOfAnotherModelIsRefused) {
    ASSERT_TRUE(write(1, 1));
    const std::vector<TensorInfo> other{{"layers.0.weight", {3, 2}, 0}};
    EXPECT_FALSE(read_checkpoint(folder_of("step-00000001"), other).has_value());
}

TEST(RunDir, TwoJobsOfOneNameHaveTwoFolders) {
    const TempFolder temp;
    const auto a = parsed(tiny_toml("same"));
    const auto b = parsed(tiny_toml("same", "[eval]\nevery = \"1s\"\n"));
    const auto first = open_run_dir(temp.path(), "same", a.canonical);
    const auto second = open_run_dir(temp.path(), "same", b.canonical);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ("same", first->folder.filename());
    EXPECT_EQ("same@" + b.id.short_text(), second->folder.filename());
    EXPECT_EQ(second->folder, open_run_dir(temp.path(), "same", b.canonical)->folder);
    EXPECT_EQ(b.id, find_run_dir(temp.path(), b.id)->job);
}

TEST(RunDir, ASpecThatHasChangedIsNamedAndNotResumed) {
    const TempFolder temp;
    const auto spec = parsed(tiny_toml("tiny"));
    const auto run = open_run_dir(temp.path(), "tiny", spec.canonical);
    ASSERT_TRUE(run.has_value());
    flip_bit(run->folder / "job.spec");
    const RunScan scan = scan_runs(temp.path());
    EXPECT_TRUE(scan.jobs.empty());
    ASSERT_EQ(1U, scan.broken.size());
    EXPECT_NE(std::string::npos, scan.broken[0].what.find("job.spec"));
}

TEST(RunDir, ItsTextIsTheJobAgain) {
    const TempFolder temp;
    const auto spec = parsed(tiny_toml("tiny"));
    const auto run = open_run_dir(temp.path(), "tiny", spec.canonical);
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(spec.id, parsed(get_text(run->folder / "job.toml")).id);
}

TEST(RunDir, ANameThatLeavesTheFolderIsRefused) {
    const TempFolder temp;
    for (const char* name : {"../up", "a/b", "", ".hidden", "UPPER"})
        EXPECT_FALSE(open_run_dir(temp.path(), name, core::Bytes{1}).has_value()) << name;
}

TEST(ReplicaBlob, AFrozenReplicaIsThawedToTheBit) {
    const auto state = checkpoint_at(5, 0.1F).replica;
    const auto thawed = thaw_replica(layout, freeze_replica(layout, state));
    ASSERT_TRUE(thawed.has_value());
    EXPECT_EQ(state.parameters, thawed->parameters);
    EXPECT_EQ(state.optimizer, thawed->optimizer);
    EXPECT_EQ(state.optimizer_steps, thawed->optimizer_steps);
}

TEST(ReplicaBlob, TensorsThatRideAlongAreRefused) {
    const std::vector<TensorInfo> larger{
        {"layers.0.weight", {2, 2}, 0}, {"layers.0.bias", {2}, 4}, {"more", {1}, 6}};
    ReplicaState state;
    state.parameters.resize(7);
    EXPECT_FALSE(thaw_replica(layout, freeze_replica(larger, state)).has_value());
}

TEST(ReplicaBlob, DistanceIsMeasuredOverTheOwnNorm) {
    EXPECT_DOUBLE_EQ(0.5, distance_ratio(std::vector<float>{4, 0}, std::vector<float>{4, 2}));
    EXPECT_EQ(0.0, distance_ratio(std::vector<float>{0}, std::vector<float>{0}));
}

}  // namespace
}  // namespace p2p::daemon
