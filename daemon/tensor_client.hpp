#pragma once

// One connection of tensor.sock: lines in, lines out, and where its trainer stands.
//
// Never blocks. What it cannot answer yet (a job that is not open, a wait with no news) it answers
// when it is looked at again. The socket's thread owns it.
//
//   new --attach--> opening --trainer is there--> attached <--offer, took--> asked
//                                                   +--wait--> waiting --news, or 1 s-->
//                                                   asked/attached

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/files.hpp"
#include "daemon/tensor_line.hpp"
#include "daemon/trainer_externals.hpp"

struct msghdr;

namespace p2p::daemon {

class TensorClient {
  public:
    enum class State : std::uint8_t {
        fresh,     ///< nothing but attach is understood
        opening,   ///< the job's trainer is not open yet
        attached,  ///< between two exchanges
        asked,     ///< has an offer to carry out
        waiting,   ///< wants an offer with something in it
        closed,    ///< done, or thrown out; what is left to send is still sent
    };

    using Clock = std::chrono::steady_clock;

    explicit TensorClient(Descriptor socket)
        : socket_(std::move(socket)) {}

    TensorClient(const TensorClient&) = delete;
    TensorClient& operator=(const TensorClient&) = delete;

    /// Without a clean detach its parameters are lost.
    ~TensorClient();

    [[nodiscard]] int fd() const { return socket_.get(); }

    [[nodiscard]] State state() const { return state_; }

    [[nodiscard]] bool has_output() const { return !output_.empty(); }

    [[nodiscard]] bool is_over() const { return state_ == State::closed && output_.empty(); }

    /// Bytes, descriptors and the end, as far as they are there.
    void receive();
    void send_output();

    /// All whole lines that can be dealt with now, and what waits for `trainers` or for `now`.
    void advance(const ExternalTrainers& trainers, Clock::time_point now);

    /// When advance() is wanted though nothing happened.
    [[nodiscard]] std::optional<Clock::time_point> deadline() const;

    /// The spec that this client brought for a job that is not open; once.
    [[nodiscard]] std::optional<std::string> take_proposal();

    /// The proposal was refused.
    void refuse(const core::Error& error);

  private:
    std::optional<std::string> take_line();
    void on_line(const std::string& text, Clock::time_point now);
    void on_attach(AttachLine line, Clock::time_point now);
    void on_took();
    void try_attach(const ExternalTrainers& trainers, Clock::time_point now);
    void finish_wait(Clock::time_point now);
    void send_offer(const Offer& offer);
    void keep_descriptors(msghdr& message);
    void end();

    Descriptor socket_;
    State state_ = State::fresh;
    std::string input_;
    std::string output_;
    std::optional<Descriptor> memory_;  ///< came with attach, not mapped yet
    std::optional<AttachLine> attach_;
    bool has_proposed_ = false;
    Clock::time_point since_{};  ///< of opening or waiting
    std::shared_ptr<ExternalTrainer> trainer_;
};

}  // namespace p2p::daemon
