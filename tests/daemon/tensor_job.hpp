#pragma once

// A daemon's workshop behind its tensor socket, with one external job; and a training process, as
// far as the daemon can tell.

#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "daemon/tensor_socket.hpp"
#include "daemon/workshop.hpp"
#include "proto/json.hpp"
#include "tests/daemon/test_loop.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {

using core::StepCount;
using core::Ticket;
using core::WorkResult;
using proto::Json;
using proto::json_member;

inline constexpr std::size_t floats = 8;
inline constexpr const char* tensors = R"([{"name":"w","shape":[2,3]},{"name":"b","shape":[2]}])";

inline std::string external_toml(const std::string& name) {
    return "job.name = \"" + name
           + "\"\njob.seed = 7\nmodel.kind = \"external\"\n"
             "model.tensors = [{ name = \"w\", shape = [2, 3] }, { name = \"b\", shape = [2] }]\n"
             "train.samples = 1000\ntrain.batch_size = 4\n";
}

/// A memfd of `bytes`, sealed as asked.
inline Descriptor memfd(std::size_t bytes, int seals) {
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

inline std::string state_of(const Json& offer) {
    return json_member<std::string>(offer, "state").value_or("");
}

inline std::string error_of(const Json& answer) {
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

}  // namespace p2p::daemon
