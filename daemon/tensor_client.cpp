#include "daemon/tensor_client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "core/base/limits.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;

namespace {

constexpr std::chrono::seconds open_time_max{60};
constexpr std::chrono::seconds wait_time_max{1};
constexpr std::size_t read_bytes = 16 * core::kib;
constexpr std::size_t descriptors_max = 4;  // more than one is wrong, and must still be closed

Error out_of_turn(const char* what) {
    return {
        ErrorCode::conflict,
        std::string(what) + " is out of turn",
        "",
        "attach first; say took when it was asked for"};
}

}  // namespace

TensorClient::~TensorClient() {
    if (trainer_) trainer_->detach(/*is_clean=*/false);
}

// --- bytes --------------------------------------------------------------------------------------

void TensorClient::receive() {
    std::array<char, read_bytes> buffer;
    iovec part{buffer.data(), buffer.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * descriptors_max)> control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();

    const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        output_.clear();  // nobody is there to read it
        return end();
    }
    keep_descriptors(message);
    if (state_ == State::closed) return;
    input_.append(buffer.data(), static_cast<std::size_t>(count));
    const bool is_endless = input_.size() > core::limits::tensor_line_bytes_max
                            && input_.find('\n') == std::string::npos;
    if (is_endless) refuse({ErrorCode::too_large, "a line on tensor.sock is too long", "", ""});
}

void TensorClient::keep_descriptors(msghdr& message) {
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            memory_ = Descriptor(fd);  // one before it is closed
        }
    }
}

void TensorClient::send_output() {
    while (!output_.empty()) {
        const ssize_t count =
            ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) {
            output_.clear();
            return end();
        }
        output_.erase(0, static_cast<std::size_t>(count));
    }
}

std::optional<std::string> TensorClient::take_line() {
    const std::size_t end = input_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    return line;
}

// --- lines --------------------------------------------------------------------------------------

void TensorClient::advance(const ExternalTrainers& trainers, Clock::time_point now) {
    for (;;) {
        if (state_ == State::opening) try_attach(trainers, now);
        if (state_ == State::waiting) finish_wait(now);
        const bool is_idle =
            state_ == State::fresh || state_ == State::attached || state_ == State::asked;
        if (!is_idle) return;
        const auto line = take_line();
        if (!line) return;
        on_line(*line, now);
    }
}

void TensorClient::on_line(const std::string& text, Clock::time_point now) {
    auto line = read_tensor_line(text);
    if (!line) return refuse(line.error());
    if (auto* attach = std::get_if<AttachLine>(&*line)) return on_attach(std::move(*attach), now);
    if (std::holds_alternative<TookLine>(*line)) return on_took();
    if (state_ != State::attached) return refuse(out_of_turn("that"));
    if (const auto* step = std::get_if<StepLine>(&*line))
        return send_offer(trainer_->on_step(*step));
    if (std::holds_alternative<WaitLine>(*line)) {
        state_ = State::waiting;
        since_ = now;
        return;
    }
    trainer_->detach(/*is_clean=*/true);
    trainer_ = nullptr;
    output_ += ok_line();
    end();
}

void TensorClient::on_attach(AttachLine line, Clock::time_point now) {
    if (state_ != State::fresh) return refuse(out_of_turn("attach"));
    if (!memory_) {
        return refuse(
            {ErrorCode::malformed,
             "attach came without shared memory",
             "its descriptor travels with the line (SCM_RIGHTS)",
             ""});
    }
    attach_ = std::move(line);
    state_ = State::opening;
    since_ = now;
}

void TensorClient::try_attach(const ExternalTrainers& trainers, Clock::time_point now) {
    auto trainer = trainers.find(attach_->job);
    if (!trainer) {
        if (now - since_ < open_time_max) return;
        return refuse(
            {ErrorCode::timed_out,
             "job " + attach_->job + " did not start here",
             "it is not known, or it waits for something",
             "p2pctl job show " + attach_->job});
    }
    auto offer = trainer->attach(*attach_, *memory_);
    memory_.reset();  // the mapping stands by itself
    if (!offer) return refuse(offer.error());
    trainer_ = std::move(trainer);
    state_ = offer->asks() ? State::asked : State::attached;
    output_ += attached_line(trainer_->attach_answer(), *offer);
}

void TensorClient::on_took() {
    if (state_ != State::asked) return refuse(out_of_turn("took"));
    if (const auto status = trainer_->on_took();
        !status && status.error().code != ErrorCode::conflict) {
        return refuse(status.error());
    }
    state_ = State::attached;
    output_ += ok_line();
}

void TensorClient::finish_wait(Clock::time_point now) {
    if (!trainer_->has_news() && now - since_ < wait_time_max) return;
    state_ = State::attached;
    send_offer(trainer_->next_offer());
}

void TensorClient::send_offer(const Offer& offer) {
    state_ = offer.asks() ? State::asked : State::attached;
    output_ += offer_line(offer);
}

std::optional<TensorClient::Clock::time_point> TensorClient::deadline() const {
    if (state_ == State::waiting) return since_ + wait_time_max;
    if (state_ == State::opening) return since_ + open_time_max;
    return std::nullopt;
}

std::optional<std::string> TensorClient::take_proposal() {
    if (state_ != State::opening || !attach_->spec || has_proposed_) return std::nullopt;
    has_proposed_ = true;
    return attach_->spec;
}

void TensorClient::refuse(const Error& error) {
    output_ += error_line(error);
    end();
}

void TensorClient::end() {
    state_ = State::closed;
    if (trainer_) std::exchange(trainer_, nullptr)->detach(/*is_clean=*/false);
}

}  // namespace p2p::daemon
