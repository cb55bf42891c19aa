#include "daemon/workshop.hpp"

#include "tests/daemon/workshop_node.hpp"

namespace p2p::daemon {
namespace {

TEST_F(WorkshopTest, WorkForAJobThatIsNotHereIsAnsweredWithAnError) {
    Node a(temp_, loop_, 1);
    const core::EdgeKey key{spec_.id, peer_id(2), {}};
    const std::vector<core::WorkOrder> orders{
        core::Encode{.edge = key, .n = SwapNumber{1}, .range = all},
        core::Decode{key, SwapNumber{1}, all, CodecId::fp32, false},
        core::Apply{key, SwapNumber{1}, all, 0.5F, true},
        core::Evaluate{spec_.id},
        core::Freeze{spec_.id, true},
        core::Adopt{spec_.id, {}}};
    for (const auto& order : orders)
        EXPECT_TRUE(std::holds_alternative<core::Error>(a.work(order))) << order.index();
    const auto checked = std::get<core::BlobChecked>(a.work(core::CheckBlob{spec_.id, {}}));
    EXPECT_FALSE(checked.distance_ratio.has_value());
    EXPECT_FALSE(a.save(spec_.id, false));
}

TEST_F(WorkshopTest, AFrozenReplicaIsAdoptedByAnother) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 10);
    const auto frozen = a.done<core::Frozen>(core::Freeze{spec_.id, true});
    const auto bytes = a.shop.blob(frozen.hash);
    ASSERT_NE(nullptr, bytes);
    const std::size_t half = bytes->size() / 2;
    const auto middle = bytes->begin() + static_cast<std::ptrdiff_t>(half);
    const auto head = std::make_shared<const core::Bytes>(bytes->begin(), middle);
    const auto tail = std::make_shared<const core::Bytes>(middle, bytes->end());
    b.shop.work({}, core::StoreBlob{spec_.id, frozen.hash, half, bytes->size(), tail});
    EXPECT_FALSE(b.done<core::BlobChecked>(core::CheckBlob{spec_.id, frozen.hash})
                     .distance_ratio.has_value());
    b.shop.work({}, core::StoreBlob{spec_.id, frozen.hash, 0, bytes->size(), head});
    EXPECT_EQ(nullptr, b.shop.blob(frozen.hash));  // whole, but nobody has looked at it
    const auto checked = b.done<core::BlobChecked>(core::CheckBlob{spec_.id, frozen.hash});
    ASSERT_TRUE(checked.distance_ratio.has_value());
    EXPECT_GT(*checked.distance_ratio, 0);
    const auto adopted = b.done<core::Adopted>(core::Adopt{spec_.id, frozen.hash});
    EXPECT_GT(adopted.displacement_norm, 0);
    EXPECT_EQ(a.parameters_of(spec_).parameters, b.parameters_of(spec_).parameters);
    EXPECT_EQ(frozen.hash, b.done<core::Frozen>(core::Freeze{spec_.id, true}).hash);
}

TEST_F(WorkshopTest, AFinalModelIsRecalledFromItsCheckpointUnderTheHashItHad) {
    const auto spec = std::make_shared<const core::JobSpec>(spec_.spec);
    const auto bytes = std::make_shared<const core::Bytes>(spec_.canonical);
    const core::RecallFinal recall{spec_.id, spec, bytes};
    core::BlobHash hash;
    {
        Node before(temp_, loop_, 1);
        EXPECT_TRUE(std::holds_alternative<core::Error>(before.work(recall)));  // nothing is saved
        before.train(spec_, 20);
        hash = before.done<core::Frozen>(core::Freeze{spec_.id, false}).hash;
        ASSERT_TRUE(before.save(spec_.id, true));
    }
    Node after(temp_, loop_, 1);
    const auto recalled = after.done<core::Frozen>(recall);
    EXPECT_EQ(hash, recalled.hash);
    ASSERT_NE(nullptr, after.shop.blob(hash));
    EXPECT_EQ(recalled.bytes, after.shop.blob(hash)->size());
}

TEST_F(WorkshopTest, AForgedBlobIsNeitherAdoptedNorServed) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 10);
    const auto frozen = a.done<core::Frozen>(core::Freeze{spec_.id, false});
    auto forged = std::make_shared<core::Bytes>(*a.shop.blob(frozen.hash));
    forged->back() ^= 1;
    b.shop.work({}, core::StoreBlob{spec_.id, frozen.hash, 0, forged->size(), forged});
    const auto checked = b.done<core::BlobChecked>(core::CheckBlob{spec_.id, frozen.hash});
    ASSERT_FALSE(checked.distance_ratio.has_value());
    EXPECT_EQ(core::ErrorCode::forged, checked.distance_ratio.error().code);
    EXPECT_TRUE(std::holds_alternative<core::Error>(b.work(core::Adopt{spec_.id, frozen.hash})));
    EXPECT_EQ(nullptr, b.shop.blob(frozen.hash));
}

TEST_F(WorkshopTest, ABlobLargerThanItsJobAllowsTakesNoMemory) {
    Node a(temp_, loop_, 1);
    const auto piece = std::make_shared<const core::Bytes>(16);
    a.shop.work({}, core::StoreBlob{spec_.id, {}, 0, std::uint64_t{1} << 60U, piece});
    ASSERT_EQ(1U, a.troubles.size());
    EXPECT_EQ(core::ErrorCode::too_large, a.troubles[0].code);
}

TEST_F(WorkshopTest, ASpecIsReadOnlyUnderItsOwnHash) {
    Node a(temp_, loop_, 1);
    const auto bytes = std::make_shared<const core::Bytes>(spec_.canonical);
    const auto read = a.done<core::SpecRead>(core::ReadSpec{spec_.id, bytes});
    ASSERT_TRUE(read.spec.has_value());
    EXPECT_EQ(spec_.spec, *read.spec);
    EXPECT_EQ(bytes, a.shop.blob(core::BlobHash{spec_.id.bytes}));
    const auto forged = std::get<core::SpecRead>(a.work(core::ReadSpec{JobId{}, bytes}));
    ASSERT_FALSE(forged.spec.has_value());
    EXPECT_EQ(core::ErrorCode::forged, forged.spec.error().code);
}

TEST_F(WorkshopTest, AJobIsEvaluated) {
    Node a(temp_, loop_, 1);
    a.train(spec_, 400);
    const auto evaluated = a.done<core::Evaluated>(core::Evaluate{spec_.id});
    EXPECT_TRUE(evaluated.has_test_set);
    EXPECT_GT(evaluated.accuracy, 0.9);
}

TEST_F(WorkshopTest, ARestartedNodeTakesUpItsNewestCheckpoint) {
    {
        Node a(temp_, loop_, 1);
        a.train(spec_, 40);
        ASSERT_TRUE(a.save(spec_.id, false));
        a.run_to(spec_, 55);
    }
    Node again(temp_, loop_, 1);
    again.train(spec_, 41);
    EXPECT_EQ(StepCount{40}, again.ready.at(spec_.id).steps);
    EXPECT_EQ(SampleCount{640}, again.ready.at(spec_.id).samples);
}

TEST_F(WorkshopTest, ABrokenCheckpointIsNamedAndTheOneBeforeIsTakenUp) {
    Path folder;
    {
        Node a(temp_, loop_, 1);
        a.train(spec_, 10);
        ASSERT_TRUE(a.save(spec_.id, false));
        a.run_to(spec_, 20);
        ASSERT_TRUE(a.save(spec_.id, false));
        folder = a.state_dir / "jobs/tiny/checkpoints";
    }
    flip_bit(folder / "step-00000020/model.safetensors");
    Node again(temp_, loop_, 1);
    again.train(spec_, 11);
    EXPECT_EQ(StepCount{10}, again.ready.at(spec_.id).steps);
    ASSERT_EQ(1U, again.troubles.size());
    EXPECT_NE(std::string::npos, again.troubles[0].what.find("step-00000020/model.safetensors"));
}

TEST_F(WorkshopTest, TheFinalModelIsTheSameFileAfterAdoption) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 10);
    const auto frozen = a.done<core::Frozen>(core::Freeze{spec_.id, false});
    b.shop.work(
        {}, core::StoreBlob{spec_.id, frozen.hash, 0, frozen.bytes, a.shop.blob(frozen.hash)});
    ASSERT_TRUE(b.done<core::BlobChecked>(core::CheckBlob{spec_.id, frozen.hash})
                    .distance_ratio.has_value());
    b.done<core::Adopted>(core::Adopt{spec_.id, frozen.hash});
    a.run_to(spec_, 60);  // as a displacement that was under way would move it
    ASSERT_TRUE(a.save(spec_.id, true, frozen.hash));
    ASSERT_TRUE(b.save(spec_.id, true, frozen.hash));
    const std::string by_a = get_text(a.state_dir / "jobs/tiny/tiny-final.safetensors");
    EXPECT_EQ(by_a, get_text(b.state_dir / "jobs/tiny/tiny-final.safetensors"));
    EXPECT_EQ(frozen.hash, hash_blob(core::as_bytes(by_a)));
}

TEST_F(WorkshopTest, ADroppedJobIsForgottenAndItsFolderGoesWhenAsked) {
    Node a(temp_, loop_, 1);
    a.train(spec_, 10);
    ASSERT_TRUE(a.save(spec_.id, false));
    core::Save under_way;
    under_way.job = spec_.id;
    a.shop.save(under_way);
    a.shop.drop_training({spec_.id, true});
    EXPECT_TRUE(std::holds_alternative<core::Error>(a.work(core::Evaluate{spec_.id})));
    a.shop.stop();
    EXPECT_FALSE(std::filesystem::exists(a.state_dir / "jobs/tiny"));
}

TEST_F(WorkshopTest, ADataSetThatTheNodeDoesNotHaveIsNamed) {
    Node a(temp_, loop_, 1);
    const auto other =
        parsed(tiny_toml("other", "").replace(tiny_toml("other").find("\"tiny\""), 6, "\"mars\""));
    a.shop.start_training(start_of(other));
    ASSERT_TRUE(loop_.run_until([&] { return a.ready.contains(other.id); }));
    const auto& status = a.ready.at(other.id).status;
    ASSERT_FALSE(status);
    EXPECT_NE(std::string::npos, status.error().what.find("mars"));
    EXPECT_NE(std::string::npos, status.error().next.find("mars"));
}

TEST_F(WorkshopTest, ASaveWithoutRoomFailsAndTrainingGoesOn) {
    Node a(temp_, loop_, 1);
    a.train(spec_, 10);
    std::filesystem::remove_all(a.state_dir / "jobs/tiny");
    put_text(a.state_dir / "jobs/tiny", "in the way");
    const auto status = a.save(spec_.id, false);
    ASSERT_FALSE(status);
    EXPECT_NE(std::string::npos, status.error().what.find("jobs/tiny"));
    a.run_to(spec_, 20);
    EXPECT_EQ(StepCount{20}, a.newest.steps);
}

}  // namespace
}  // namespace p2p::daemon
