#include "daemon/tensor_socket.hpp"

#include <cmath>
#include <future>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "daemon/replica_blob.hpp"
#include "tests/daemon/tensor_job.hpp"

namespace p2p::daemon {
namespace {

TEST_F(TensorSocketTest, OnlyItsGroupMayConnect) {
    struct stat info {};

    ASSERT_EQ(0, ::stat(place_.c_str(), &info));
    EXPECT_EQ(0660U, info.st_mode & 0777U);
}

TEST_F(TensorSocketTest, AttachingTellsSeedAndPeerAndMakesTheTrainerReady) {
    start_job();
    Client client(place_);
    const Json answer = client.attach("outer", R"(,"set_samples":500)");
    EXPECT_EQ(true, json_member<bool>(answer, "ok"));
    EXPECT_EQ(7U, json_member<std::uint64_t>(answer, "seed"));
    EXPECT_EQ(peer_id(1).text(), json_member<std::string>(answer, "peer"));
    EXPECT_EQ("running", state_of(answer));
    ASSERT_TRUE(loop_.run_until([&] { return ready_.has_value(); }));
    EXPECT_EQ(core::SampleCount{500}, ready_->set_samples);
}

TEST_F(TensorSocketTest, StepsAreReported) {
    start_job();
    Client client(place_);
    client.attach("outer");
    client.ask(R"({"op":"step","samples":4,"loss":0.5,"batch_hash":99})");
    ASSERT_TRUE(loop_.run_until([&] { return newest_.steps == StepCount{1}; }));
    EXPECT_EQ(core::SampleCount{4}, newest_.samples);
    EXPECT_EQ(0.5, newest_.train_loss);
    EXPECT_EQ(99U, newest_.batch_hash);
}

TEST_F(TensorSocketTest, ASnapshotIsTakenWhenTheClientStandsBetweenSteps) {
    start_job();
    Client client(place_);
    client.attach("outer");
    const Ticket ticket = order(core::Freeze{spec_.id, false});
    client.parameters = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_TRUE(client.carry_out(client.ask(R"({"op":"step","samples":4,"loss":0.5})")));
    const auto frozen = std::get<core::Frozen>(result_of(ticket));
    const auto thawed = thaw_replica({{"w", {2, 3}, 0}, {"b", {2}, 6}}, *shop_.blob(frozen.hash));
    ASSERT_TRUE(thawed.has_value());
    EXPECT_TRUE(
        std::equal(client.parameters.begin(), client.parameters.end(), thawed->parameters.begin()));
}

TEST_F(TensorSocketTest, ASwapMovesTheClientsParameters) {
    start_job();
    Client client(place_);
    client.attach("outer");
    const core::EdgeKey edge{spec_.id, peer_id(2), {}};
    const core::ShardRange all{0, floats};
    const auto encode = order(core::Encode{.edge = edge, .n = core::SwapNumber{1}, .range = all});
    client.carry_out(client.ask(R"({"op":"step","samples":4,"loss":0.5})"));
    const auto encoded = std::get<core::Encoded>(result_of(encode));
    auto theirs = std::make_shared<core::Bytes>(*shop_.encoded(edge, core::SwapNumber{1}));
    const float three = 3;  // the peer's parameters are all 3, ours are 1
    for (std::size_t i = 0; i < floats; ++i)
        std::memcpy(theirs->data() + encoded.bytes_total - (i + 1) * 4, &three, 4);
    shop_.work({}, core::StoreChunk{edge, core::SwapNumber{1}, 0, encoded.bytes_total, theirs});
    const auto decode =
        order(core::Decode{edge, core::SwapNumber{1}, all, core::CodecId::fp32, false});
    EXPECT_TRUE(std::get<core::Decoded>(result_of(decode)).well_formed);
    const auto apply = order(core::Apply{edge, core::SwapNumber{1}, all, 0.25F, true});
    const auto carried = std::async(std::launch::async, [&] {
        while (!client.carry_out(client.ask(R"({"op":"wait"})"))) {
        }
    });
    const auto applied = std::get<core::Applied>(result_of(apply));
    carried.wait();
    EXPECT_NEAR(0.5 * std::sqrt(8.0), applied.displacement_norm, 1e-6);
    for (const float value : client.parameters)
        EXPECT_EQ(1.5F, value);
}

TEST_F(TensorSocketTest, AtItsStepLimitTheClientIsHeldUntilThePaceMoves) {
    start_job(/*step_limit=*/1);
    Client client(place_);
    client.attach("outer");
    EXPECT_EQ("held", state_of(client.ask(R"({"op":"step","samples":4,"loss":0.5})")));
    shop_.set_pace(pace_of(spec_, 2, 1000));
    EXPECT_EQ("running", state_of(client.ask(R"({"op":"wait"})")));
}

TEST_F(TensorSocketTest, TheEndIsTheFinalModel) {
    start_job();
    Client client(place_);
    client.attach("outer");
    shop_.end_training(spec_.id);
    EXPECT_EQ("finishing", state_of(client.ask(R"({"op":"step","samples":4,"loss":0.5})")));
    save(true);
    auto last_state = std::async(std::launch::async, [&] {
        std::string state = "finishing";
        while (state == "finishing") {
            const Json offer = client.ask(R"({"op":"wait"})");
            client.carry_out(offer);
            state = state_of(offer);
        }
        return state;
    });
    ASSERT_TRUE(loop_.run_until([&] { return saved_.has_value(); }));
    EXPECT_TRUE(*saved_);
    EXPECT_EQ("done", last_state.get());
    EXPECT_TRUE(std::filesystem::exists(temp_.path() / "state/jobs/outer/outer-final.safetensors"));
}

TEST_F(TensorSocketTest, ParametersLeftBehindAreServedAndGivenToTheNextClient) {
    start_job();
    {
        Client client(place_);
        client.attach("outer");
        client.parameters.fill(6);
        client.detach();
    }
    const auto frozen = std::get<core::Frozen>(result_of(order(core::Freeze{spec_.id, false})));
    EXPECT_NE(nullptr, shop_.blob(frozen.hash));
    Client next(place_);
    const Json answer = next.attach("outer");
    EXPECT_EQ(true, json_member<bool>(answer, "replace"));
    next.carry_out(answer);
    EXPECT_EQ(6.0F, next.parameters[3]);
}

TEST_F(TensorSocketTest, AClientThatDiesFailsItsRequestsAndNothingElse) {
    start_job();
    Ticket ticket;
    {
        Client client(place_);
        client.attach("outer");
        ticket = order(core::Freeze{spec_.id, false});
    }
    EXPECT_TRUE(std::holds_alternative<core::Error>(result_of(ticket)));
    ASSERT_TRUE(loop_.run_until([&] { return ready_ && !ready_->status; }));
    Client next(place_);
    EXPECT_EQ(true, json_member<bool>(next.attach("outer"), "ok"));
    EXPECT_TRUE(loop_.run_until([&] { return ready_->status.is_ok(); }));
}

TEST_F(TensorSocketTest, ARestartedNodeGivesTheClientItsCheckpoint) {
    start_job();
    Client client(place_);
    client.attach("outer");
    client.parameters.fill(4);
    save(false);
    client.carry_out(client.ask(R"({"op":"step","samples":4,"loss":0.5})"));
    ASSERT_TRUE(loop_.run_until([&] { return saved_.has_value(); }));
    shop_.drop_training({spec_.id, false});
    EXPECT_EQ("gone", state_of(client.ask(R"({"op":"wait"})")));
    start_job();
    Client next(place_);
    const Json answer = next.attach("outer");
    EXPECT_EQ(1U, json_member<std::uint64_t>(answer, "steps"));
    next.carry_out(answer);
    EXPECT_EQ(4.0F, next.parameters[0]);
    Client keeper(place_);
    EXPECT_EQ("conflict", error_of(keeper.attach("outer")));
}

TEST_F(TensorSocketTest, AClientThatComesBackKeepsItsOwnParameters) {
    start_job();
    {
        Client client(place_);
        client.attach("outer");
        client.detach();
    }
    Client next(place_);
    const Json answer = next.attach("outer", R"(,"keep":true)");
    EXPECT_EQ(false, json_member<bool>(answer, "replace"));
}

TEST_F(TensorSocketTest, AJobThatIsNotKnownIsProposedAndAttachedOnceItIsOpen) {
    Client client(place_);
    client.send(
        R"({"op":"attach","job":"outer","spec":"job.name = 1","tensors":)" + std::string(tensors)
            + "}\n",
        memfd(2 * floats * sizeof(float), F_SEAL_SHRINK | F_SEAL_GROW).release());
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !proposed_.empty(); });
        EXPECT_EQ("job.name = 1", proposed_[0]);
    }
    start_job();
    EXPECT_EQ(true, json_member<bool>(client.receive(), "ok"));
}

TEST_F(TensorSocketTest, AProposalThatIsRefusedIsTold) {
    {
        const std::lock_guard lock(mutex_);
        proposal_answer_ = core::Error{core::ErrorCode::invalid, "no end", "", ""};
    }
    Client client(place_);
    EXPECT_EQ("invalid", error_of(client.attach("unknown", R"(,"spec":"job.name = 1")")));
    EXPECT_TRUE(client.receive().is_null());
}

TEST_F(TensorSocketTest, MemoryWithoutSealsIsRefused) {
    start_job();
    const std::size_t bytes = 2 * floats * sizeof(float);
    for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW}) {
        Client client(place_);
        const Descriptor fd = memfd(bytes, seals);
        EXPECT_EQ("insecure", error_of(client.attach_with("outer", fd.get())));
    }
    put_text(temp_.path() / "file", std::string(bytes, 'x'));
    const Descriptor file(::open((temp_.path() / "file").c_str(), O_RDWR | O_CLOEXEC));
    Client client(place_);
    EXPECT_EQ("insecure", error_of(client.attach_with("outer", file.get())));
}

TEST_F(TensorSocketTest, MemoryOfAnotherSizeIsRefused) {
    start_job();
    Client client(place_);
    const Descriptor fd = memfd(floats * sizeof(float), F_SEAL_SHRINK | F_SEAL_GROW);
    EXPECT_EQ("wrong_size", error_of(client.attach_with("outer", fd.get())));
}

TEST_F(TensorSocketTest, AttachWithoutMemoryIsRefused) {
    start_job();
    Client client(place_);
    EXPECT_EQ("malformed", error_of(client.attach_with("outer", -1)));
}

TEST_F(TensorSocketTest, OtherTensorsAreRefused) {
    start_job();
    Client client(place_);
    client.send(
        R"({"op":"attach","job":"outer","tensors":[{"name":"w","shape":[8]}]})"
        "\n",
        memfd(2 * floats * sizeof(float), F_SEAL_SHRINK | F_SEAL_GROW).release());
    EXPECT_EQ("conflict", error_of(client.receive()));
}

TEST_F(TensorSocketTest, WhatIsOutOfTurnEndsTheConnection) {
    start_job();
    for (const char* line :
         {R"({"op":"step","samples":1})",
          R"({"op":"took"})",
          R"({"op":"wait"})",
          R"({"op":"detach"})"}) {
        Client client(place_);
        EXPECT_EQ("conflict", error_of(client.ask(line))) << line;
        EXPECT_TRUE(client.receive().is_null()) << line;
    }
    Client attached(place_);
    attached.attach("outer");
    EXPECT_EQ("conflict", error_of(attached.ask(R"({"op":"took"})")));
}

TEST_F(TensorSocketTest, LinesThatAreNotUnderstoodEndTheConnection) {
    Client client(place_);
    EXPECT_EQ("malformed", error_of(client.ask("hello")));
    EXPECT_TRUE(client.receive().is_null());
}

TEST_F(TensorSocketTest, ALineWithoutEndIsCutOff) {
    Client client(place_);
    const std::string piece(32 * 1024, 'x');
    for (int i = 0; i < 8; ++i)
        client.send(piece, -1);
    client.send("x", -1);
    EXPECT_EQ("too_large", error_of(client.receive()));
}

TEST_F(TensorSocketTest, ASecondDaemonIsNotLetIntoItsPlace) {
    const auto second = TensorSocket::open({place_, 0660, ""}, shop_.external(), nullptr);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(core::ErrorCode::in_use, second.error().code);
}

}  // namespace
}  // namespace p2p::daemon
