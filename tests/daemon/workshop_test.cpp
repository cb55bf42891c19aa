#include "daemon/workshop.hpp"

#include <map>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/replica_blob.hpp"
#include "tests/daemon/test_loop.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {
namespace {

using core::CodecId;
using core::JobId;
using core::SampleCount;
using core::StepCount;
using core::SwapNumber;
using core::Ticket;
using core::WorkResult;

constexpr std::uint64_t floats = 16 * 8 + 8 + 8 * 3 + 3;
constexpr core::ShardRange all{0, floats};

/// One node's workshop on the test's loop, and what it has told.
class Node {
  public:
    Node(const TempFolder& temp, TestLoop& loop, std::uint8_t id)
        : loop_(loop),
          self(peer_id(id)),
          state_dir(temp.path() / ("state-" + std::to_string(id))),
          shop(config(temp), loop.poster(), events()) {}

    /// The trainer is there and stands at `steps`.
    void train(const proto::ParsedSpec& spec, std::uint64_t steps) {
        shop.start_training(start_of(spec));
        P2P_CHECK(loop_.run_until([&] { return ready.contains(spec.id); }));
        run_to(spec, steps);
    }

    void run_to(const proto::ParsedSpec& spec, std::uint64_t steps) {
        shop.set_pace(pace_of(spec, steps, 6400));
        P2P_CHECK(loop_.run_until([&] { return newest.steps >= StepCount{steps}; }));
    }

    WorkResult work(const core::WorkOrder& order) {
        const Ticket ticket{++tickets_};
        shop.work(ticket, order);
        P2P_CHECK(loop_.run_until([&] { return results.contains(ticket); }));
        return results.at(ticket);
    }

    template <typename T>
    T done(const core::WorkOrder& order) {
        const WorkResult result = work(order);
        if (const auto* error = std::get_if<core::Error>(&result)) {
            ADD_FAILURE() << error->text();
        }
        return std::get<T>(result);
    }

    core::Status save(JobId job, bool is_final) {
        saved.reset();
        core::Save order;
        order.job = job;
        order.is_final = is_final;
        shop.save(order);
        P2P_CHECK(loop_.run_until([&] { return saved.has_value(); }));
        return *saved;
    }

    [[nodiscard]] ReplicaState parameters_of(const proto::ParsedSpec& spec) {
        const auto frozen = done<core::Frozen>(core::Freeze{spec.id, false});
        const auto layout = std::vector<core::TensorInfo>{
            {"layers.0.weight", {8, 16}, 0},
            {"layers.0.bias", {8}, 128},
            {"layers.1.weight", {3, 8}, 136},
            {"layers.1.bias", {3}, 160}};
        return *thaw_replica(layout, *shop.blob(frozen.hash));
    }

  private:
    WorkshopConfig config(const TempFolder& temp) {
        WorkshopConfig made;
        made.state_dir = state_dir;
        made.datasets["tiny"] = temp.path() / "set";
        made.self = self;
        return made;
    }

    WorkshopEvents events() {
        return {
            [this](Ticket ticket, const WorkResult& result) {
                P2P_CHECK(results.emplace(ticket, result).second);  // exactly one answer
            },
            [this](JobId, const core::SteppedReport& report) { newest = report; },
            [this](const core::TrainerReady& told) { ready.insert_or_assign(told.job, told); },
            [this](JobId, const core::Status& status) { saved = status; },
            [this](JobId, const core::Error& error) {
                troubles.push_back(error);
            }};
    }

    TestLoop& loop_;
    std::uint64_t tickets_ = 0;

  public:
    const core::PeerId self;
    const Path state_dir;
    std::map<Ticket, WorkResult> results;
    std::map<JobId, core::TrainerReady> ready;
    core::SteppedReport newest;
    std::optional<core::Status> saved;
    std::vector<core::Error> troubles;
    Workshop shop;
};

class WorkshopTest : public testing::Test {
  protected:
    WorkshopTest() { put_tiny_set(temp_.path() / "set"); }

    struct Swap {
        SwapNumber n;
        CodecId codec = CodecId::fp32;
        bool keyframe = false;
        bool from_round_snapshot = false;
    };

    [[nodiscard]] core::EdgeKey edge(const Node& peer) const { return {spec_.id, peer.self, {}}; }

    core::Encoded encode(Node& node, const Node& peer, const Swap& swap) {
        return node.done<core::Encoded>(core::Encode{
            edge(peer),
            swap.n,
            all,
            swap.codec,
            swap.keyframe,
            swap.from_round_snapshot,
            swap.n.value});
    }

    /// Everything that `from` has encoded, in pieces, as the link would bring it.
    void deliver(const Node& from, Node& to, const Swap& swap) {
        const auto bytes = from.shop.encoded(edge(to), swap.n);
        ASSERT_NE(nullptr, bytes);
        for (std::size_t at = 0; at < bytes->size(); at += core::limits::chunk_bytes_max) {
            const std::size_t length =
                std::min<std::size_t>(core::limits::chunk_bytes_max, bytes->size() - at);
            const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(at);
            auto piece = std::make_shared<const core::Bytes>(
                begin, begin + static_cast<std::ptrdiff_t>(length));
            to.shop.work({}, core::StoreChunk{edge(from), swap.n, at, bytes->size(), piece});
        }
    }

    core::Decoded decode(Node& node, const Node& peer, const Swap& swap) {
        return node.done<core::Decoded>(
            core::Decode{edge(peer), swap.n, all, swap.codec, swap.keyframe});
    }

    core::Applied apply(Node& node, const Node& peer, const Swap& swap, float weight) {
        return node.done<core::Applied>(
            core::Apply{edge(peer), swap.n, all, weight, node.self < peer.self});
    }

    core::Decoded exchange(Node& a, Node& b, const Swap& swap) {
        encode(a, b, swap);
        encode(b, a, swap);
        deliver(a, b, swap);
        deliver(b, a, swap);
        const auto at_a = decode(a, b, swap);
        const auto at_b = decode(b, a, swap);
        EXPECT_TRUE(at_a.well_formed && at_b.well_formed);
        EXPECT_EQ(at_a.hash, at_b.hash);
        EXPECT_EQ(at_a.distance, at_b.distance);
        EXPECT_EQ(at_a.own_norm, at_b.remote_norm);
        return at_a;
    }

    const TempFolder temp_;
    const proto::ParsedSpec spec_ = parsed(tiny_toml("tiny"));
    TestLoop loop_;
};

TEST_F(WorkshopTest, ASwapMovesBothEndsByExactlyOppositeDisplacements) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    for (const CodecId codec : {CodecId::fp32, CodecId::bf16, CodecId::q8, CodecId::delta_q8}) {
        const auto x = a.parameters_of(spec_).parameters;
        const auto y = b.parameters_of(spec_).parameters;
        const Swap swap{SwapNumber{static_cast<std::uint64_t>(codec)}, codec, true};
        const auto decoded = exchange(a, b, swap);
        EXPECT_GT(decoded.distance, 0);
        const auto by_a = apply(a, b, swap, 0.25F);
        const auto by_b = apply(b, a, swap, 0.25F);
        EXPECT_EQ(by_a.displacement_norm, by_b.displacement_norm);
        EXPECT_NEAR(0.25 * decoded.distance, by_a.displacement_norm, 1e-5);
        const auto x_after = a.parameters_of(spec_).parameters;
        const auto y_after = b.parameters_of(spec_).parameters;
        for (std::size_t i = 0; i < floats; ++i) {
            // One rounding an end is all that the sum can move by.
            EXPECT_NEAR(double{x[i]} + y[i], double{x_after[i]} + y_after[i], 3e-7) << i;
        }
        a.run_to(spec_, a.newest.steps.value + 5);
    }
}

TEST_F(WorkshopTest, HalfWeightsMakeTwoReplicasOne) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    const Swap first{SwapNumber{1}};
    exchange(a, b, first);
    apply(a, b, first, 0.5F);
    apply(b, a, first, 0.5F);
    const Swap second{SwapNumber{2}};
    const auto decoded = exchange(a, b, second);
    EXPECT_LT(decoded.distance, 1e-6 * decoded.own_norm);
}

TEST_F(WorkshopTest, DeltasFollowTheReferencesOfBothEnds) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    for (std::uint64_t n = 1; n <= 6; ++n) {
        const Swap swap{SwapNumber{n}, CodecId::delta_q8, /*keyframe=*/n == 1};
        exchange(a, b, swap);
        apply(a, b, swap, 0.25F);
        apply(b, a, swap, 0.25F);
        EXPECT_EQ(nullptr, a.shop.encoded(edge(b), swap.n));  // nobody needs it any more
        a.run_to(spec_, a.newest.steps.value + 2);
    }
}

TEST_F(WorkshopTest, ADroppedSwapTakesItsReferencesAlong) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Swap keyframe{SwapNumber{1}, CodecId::delta_q8, true};
    exchange(a, b, keyframe);
    apply(a, b, keyframe, 0.25F);
    const Swap delta{SwapNumber{2}, CodecId::delta_q8, false};
    encode(a, b, delta);
    a.shop.work({}, core::DropSwap{edge(b), delta.n});
    EXPECT_EQ(nullptr, a.shop.encoded(edge(b), delta.n));
    const auto result =
        a.work(core::Encode{edge(b), SwapNumber{3}, all, CodecId::delta_q8, false, false, 3});
    EXPECT_TRUE(std::holds_alternative<core::Error>(result));
}

TEST_F(WorkshopTest, ASwapDroppedUnderWayIsStillAnsweredAndTheNextOneIsClean) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Ticket ticket{9000};
    a.shop.work(ticket, core::Encode{edge(b), SwapNumber{1}, all, CodecId::q8, false, false, 1});
    a.shop.work({}, core::DropSwap{edge(b), SwapNumber{1}});
    ASSERT_TRUE(loop_.run_until([&] { return a.results.contains(ticket); }));
    EXPECT_EQ(nullptr, a.shop.encoded(edge(b), SwapNumber{1}));
    const Swap next{SwapNumber{2}, CodecId::q8};
    exchange(a, b, next);
}

TEST_F(WorkshopTest, BytesThatDoNotDecodeAreSaidToBeMalformed) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    const Swap swap{SwapNumber{1}, CodecId::bf16};
    const auto encoded = encode(a, b, swap);
    const auto junk = std::make_shared<const core::Bytes>(encoded.bytes_total, std::uint8_t{0xee});
    a.shop.work({}, core::StoreChunk{edge(b), swap.n, 0, junk->size(), junk});
    EXPECT_FALSE(decode(a, b, swap).well_formed);
}

TEST_F(WorkshopTest, ARoundsSnapshotStaysAsItWas) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    a.shop.work({}, core::TakeRoundSnapshot{spec_.id});
    const auto then = a.parameters_of(spec_).parameters;
    a.run_to(spec_, 60);
    const Swap swap{SwapNumber{1}, CodecId::fp32, false, /*from_round_snapshot=*/true};
    encode(a, b, swap);
    encode(b, a, {SwapNumber{1}});
    deliver(a, b, swap);
    deliver(b, a, swap);
    const auto decoded = decode(b, a, {SwapNumber{1}});
    const double distance =
        distance_ratio(b.parameters_of(spec_).parameters, then) * decoded.own_norm;
    EXPECT_NEAR(distance, decoded.distance, 1e-5);
}

TEST_F(WorkshopTest, WorkForAJobThatIsNotHereIsAnsweredWithAnError) {
    Node a(temp_, loop_, 1);
    const core::EdgeKey key{spec_.id, peer_id(2), {}};
    const std::vector<core::WorkOrder> orders{
        core::Encode{key, SwapNumber{1}, all, CodecId::fp32, false, false, 1},
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
    ASSERT_TRUE(a.save(spec_.id, true));
    ASSERT_TRUE(b.save(spec_.id, true));
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
