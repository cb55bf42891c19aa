#include "daemon/tensor_socket.hpp"

#include <array>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <future>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "daemon/replica_blob.hpp"
#include "daemon/workshop.hpp"
#include "proto/json.hpp"
#include "tests/daemon/test_loop.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {
namespace {

using core::StepCount;
using core::Ticket;
using core::WorkResult;
using proto::Json;
using proto::json_member;

constexpr std::size_t floats = 8;
constexpr const char* tensors = R"([{"name":"w","shape":[2,3]},{"name":"b","shape":[2]}])";

std::string external_toml(const std::string& name) {
    return "job.name = \"" + name
           + "\"\njob.seed = 7\nmodel.kind = \"external\"\n"
             "model.tensors = [{ name = \"w\", shape = [2, 3] }, { name = \"b\", shape = [2] }]\n"
             "train.samples = 1000\ntrain.batch_size = 4\n";
}

/// A memfd of `bytes`, sealed as asked.
Descriptor memfd(std::size_t bytes, int seals) {
    Descriptor fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    P2P_CHECK(fd.is_open() && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
    P2P_CHECK(seals == 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
    return fd;
}

/// A training process, as far as the daemon can tell.
class Client {
  public:
    explicit Client(const Path& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          fd_(memfd(2 * floats * sizeof(float), F_SEAL_SHRINK | F_SEAL_GROW)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string name = path.string();
        P2P_CHECK(name.size() < sizeof address.sun_path);
        std::memcpy(address.sun_path, name.data(), name.size());
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        P2P_CHECK(::connect(socket_.get(), generic, sizeof address) == 0);
        void* const memory = ::mmap(
            nullptr, 2 * floats * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
        P2P_CHECK(memory != MAP_FAILED);
        snapshot = static_cast<float*>(memory);
        displacement = snapshot + floats;
        parameters.fill(1);
    }

    ~Client() { ::munmap(snapshot, 2 * floats * sizeof(float)); }

    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void send(const std::string& text, int fd) {
        iovec part{const_cast<char*>(text.data()), text.size()};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (fd >= 0) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof fd);
            std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
        }
        P2P_CHECK(
            ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    }

    /// The next line, or null where the daemon has closed the connection.
    Json receive() {
        std::string line;
        for (char c = 0; c != '\n'; line += c) {
            if (::recv(socket_.get(), &c, 1, 0) <= 0) return nullptr;
        }
        return *proto::parse_json(line, 1 << 20);
    }

    Json ask(const std::string& line) {
        send(line + "\n", -1);
        return receive();
    }

    Json attach(const std::string& job, const std::string& more = "") {
        return attach_with(job, fd_.get(), more);
    }

    Json attach_with(const std::string& job, int fd, const std::string& more = "") {
        send(R"({"op":"attach","job":")" + job + R"(","tensors":)" + tensors + more + "}\n", fd);
        return receive();
    }

    /// Does what an offer asks, as tools/python does; true if it asked for anything.
    bool carry_out(const Json& offer) {
        const bool is_replaced = json_member<bool>(offer, "replace").value_or(false);
        const auto& add = offer["add"];
        const auto& take = offer["take"];
        if (is_replaced) {
            std::copy(parameters.begin(), parameters.end(), snapshot);
            std::copy(displacement, displacement + floats, parameters.begin());
        }
        for (const auto& range : add) {
            for (std::size_t i = range[0];
                 i < range[0].get<std::size_t>() + range[1].get<std::size_t>();
                 ++i)
                parameters[i] += displacement[i];
        }
        for (const auto& range : take) {
            for (std::size_t i = range[0];
                 i < range[0].get<std::size_t>() + range[1].get<std::size_t>();
                 ++i)
                snapshot[i] = parameters[i];
        }
        if (!is_replaced && add.empty() && take.empty()) return false;
        EXPECT_EQ(true, json_member<bool>(ask(R"({"op":"took"})"), "ok"));
        return true;
    }

    void detach() {
        std::copy(parameters.begin(), parameters.end(), snapshot);
        EXPECT_EQ(true, json_member<bool>(ask(R"({"op":"detach"})"), "ok"));
    }

    std::array<float, floats> parameters{};
    float* snapshot;
    float* displacement;

  private:
    Descriptor socket_;
    Descriptor fd_;
};

std::string state_of(const Json& offer) {
    return json_member<std::string>(offer, "state").value_or("");
}

std::string error_of(const Json& answer) {
    if (!answer.is_object() || json_member<bool>(answer, "ok") != false) return "";
    return json_member<std::string>(answer["error"], "code").value_or("");
}

class TensorSocketTest : public testing::Test {
  protected:
    TensorSocketTest()
        : shop_(config(), loop_.poster(), events()) {
        auto opened = TensorSocket::open(
            {place_, 0660, ""},
            shop_.external(),
            [this](const std::string& toml, const std::function<void(core::Status)>& reply) {
                const std::lock_guard lock(mutex_);
                proposed_.push_back(toml);
                changed_.notify_one();
                reply(proposal_answer_);
            });
        P2P_CHECK(opened.has_value());
        socket_ = *std::move(opened);
    }

    ~TensorSocketTest() override {
        socket_ = nullptr;
        shop_.stop();
    }

    void start_job(std::uint64_t step_limit = 1000000) {
        shop_.start_training(start_of(spec_));
        shop_.set_pace(pace_of(spec_, step_limit, 1000));
        P2P_CHECK(loop_.run_until([&] { return shop_.external().find("outer") != nullptr; }));
    }

    void save(bool is_final) {
        core::Save order;
        order.job = spec_.id;
        order.is_final = is_final;
        shop_.save(order);
    }

    Ticket order(const core::WorkOrder& work) {
        const Ticket ticket{++tickets_};
        shop_.work(ticket, work);
        return ticket;
    }

    WorkResult result_of(Ticket ticket) {
        P2P_CHECK(loop_.run_until([&] { return results_.contains(ticket); }));
        return results_.at(ticket);
    }

    const TempFolder temp_;
    const Path place_ = temp_.path() / "tensor.sock";
    const proto::ParsedSpec spec_ = parsed(external_toml("outer"));
    TestLoop loop_;
    std::map<Ticket, WorkResult> results_;
    std::optional<core::TrainerReady> ready_;
    core::SteppedReport newest_;
    std::optional<core::Status> saved_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> proposed_;
    core::Status proposal_answer_;
    std::uint64_t tickets_ = 0;
    Workshop shop_;
    std::unique_ptr<TensorSocket> socket_;

  private:
    WorkshopConfig config() {
        WorkshopConfig made;
        made.state_dir = temp_.path() / "state";
        made.self = peer_id(1);
        return made;
    }

    WorkshopEvents events() {
        return {
            [this](Ticket ticket, const WorkResult& result) { results_.emplace(ticket, result); },
            [this](core::JobId, const core::SteppedReport& report) { newest_ = report; },
            [this](const core::TrainerReady& ready) { ready_ = ready; },
            [this](core::JobId, const core::Status& status) { saved_ = status; },
            nullptr};
    }
};

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
    const auto encode =
        order(core::Encode{edge, core::SwapNumber{1}, all, core::CodecId::fp32, false, false, 1});
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
    std::string state = "finishing";
    while (state == "finishing") {
        const Json offer = client.ask(R"({"op":"wait"})");
        client.carry_out(offer);
        state = state_of(offer);
    }
    EXPECT_EQ("done", state);
    ASSERT_TRUE(loop_.run_until([&] { return saved_.has_value(); }));
    EXPECT_TRUE(*saved_);
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
    Client next(place_);
    EXPECT_EQ(true, json_member<bool>(next.attach("outer"), "ok"));
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

TEST(UnixListener, ANameLeftBehindIsTakenOver) {
    const TempFolder temp;
    const Path place = temp.path() / "s.sock";
    { ASSERT_TRUE(listen_unix({place, 0600, ""}).has_value()); }
    ASSERT_TRUE(std::filesystem::exists(place));
    EXPECT_TRUE(listen_unix({place, 0600, ""}).has_value());
}

TEST(UnixListener, WhatIsNoSocketIsNotRemoved) {
    const TempFolder temp;
    put_text(temp.path() / "s.sock", "precious");
    const auto listener = listen_unix({temp.path() / "s.sock", 0600, ""});
    ASSERT_FALSE(listener.has_value());
    EXPECT_EQ("precious", get_text(temp.path() / "s.sock"));
}

TEST(UnixListener, APlaceThatCannotBeIsNamed) {
    const TempFolder temp;
    EXPECT_EQ(
        core::ErrorCode::unwritable,
        listen_unix({temp.path() / "no/where.sock", 0600, ""}).error().code);
    EXPECT_EQ(
        core::ErrorCode::invalid,
        listen_unix({temp.path() / std::string(120, 'x'), 0600, ""}).error().code);
    EXPECT_EQ(
        core::ErrorCode::invalid,
        listen_unix({temp.path() / "s.sock", 0600, "no-such-group"}).error().code);
}

TEST(TensorLine, EachIsReadAsWhatItSays) {
    const auto attach = read_tensor_line(
        R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[2,2]},{"name":"y","shape":[]}],)"
        R"("set_samples":9,"spec":"s"})");
    ASSERT_TRUE(attach.has_value());
    const auto& line = std::get<AttachLine>(*attach);
    EXPECT_EQ(9U, line.set_samples);
    EXPECT_EQ(4U, line.tensors[1].offset);
    EXPECT_EQ("s", line.spec);
    EXPECT_TRUE(std::holds_alternative<WaitLine>(*read_tensor_line(R"({"op":"wait"})")));
}

TEST(TensorLine, WhatMakesNoSenseIsRefused) {
    for (
        const char* text :
        {"",
         "{}",
         "[]",
         "null",
         R"({"op":1})",
         R"({"op":"dance"})",
         R"({"op":"attach","job":"a","tensors":[]})",
         R"({"op":"attach","job":"","tensors":[{"name":"x","shape":[1]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[0]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[-1]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"","shape":[1]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[4294967296,4294967296]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[1]},{"name":"x","shape":[1]}]})",
         R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[1,1,1,1,1,1,1,1,1]}]})",
         R"({"op":"step"})",
         R"({"op":"step","samples":0})",
         R"({"op":"step","samples":1e30})"}) {
        EXPECT_FALSE(read_tensor_line(text).has_value()) << text;
    }
}

TEST(TensorLine, ALossThatIsNoNumberCountsAsNone) {
    for (const char* loss : {"null", "\"much\"", "true"}) {
        const auto line =
            read_tensor_line(std::string(R"({"op":"step","samples":1,"loss":)") + loss + "}");
        ASSERT_TRUE(line.has_value()) << loss;
        EXPECT_EQ(0.0, std::get<StepLine>(*line).loss);
    }
}

}  // namespace
}  // namespace p2p::daemon
