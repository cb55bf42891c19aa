#include "daemon/tensor_socket.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/tensor_client.hpp"

namespace p2p::daemon {

using core::Result;
using core::Status;

namespace {

constexpr std::size_t clients_max = 64;

int poll_milliseconds(std::optional<TensorClient::Clock::time_point> deadline) {
    if (!deadline) return -1;
    const auto left = *deadline - TensorClient::Clock::now();
    const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::max<std::int64_t>(rounded_up, 0));
}

}  // namespace

Result<std::unique_ptr<TensorSocket>> TensorSocket::open(
    const UnixPlace& place, ExternalTrainers& trainers, ProposeJob propose) {
    auto listener = listen_unix(place);
    if (!listener) return listener.error();
    return std::unique_ptr<TensorSocket>(
        new TensorSocket(place.path, *std::move(listener), trainers, std::move(propose)));
}

TensorSocket::TensorSocket(
    Path path, Descriptor listener, ExternalTrainers& trainers, ProposeJob propose)
    : path_(std::move(path)),
      listener_(std::move(listener)),
      trainers_(trainers),
      propose_(std::move(propose)) {
    wake_->event = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    trainers_.set_wake([wake = wake_] { wake->ring(); });
    thread_ = std::thread([this] { run(); });
}

TensorSocket::~TensorSocket() {
    is_stopping_ = true;
    wake_->ring();
    thread_.join();
    trainers_.set_wake(nullptr);
    ::unlink(path_.c_str());
}

void TensorSocket::Wake::ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(::write(event.get(), &one, sizeof one));  // full means rung already
}

void TensorSocket::run() {
    while (!is_stopping_) {
        wait();
        accept_clients();
        take_replies();
        for (const auto& [id, client] : clients_) {
            serve(*client);
        }
        std::erase_if(clients_, [](const auto& entry) { return entry.second->is_over(); });
    }
    clients_.clear();
}

/// Until a client, another thread or a deadline wants something; and reads what has come.
void TensorSocket::wait() {
    std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}, {wake_->event.get(), POLLIN, 0}};
    std::vector<TensorClient*> order;
    std::optional<TensorClient::Clock::time_point> earliest;
    for (const auto& [id, client] : clients_) {
        const short events = static_cast<short>(POLLIN | (client->has_output() ? POLLOUT : 0));
        polled.push_back({client->fd(), events, 0});
        order.push_back(client.get());
        const auto deadline = client->deadline();
        if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
    }
    if (::poll(polled.data(), polled.size(), poll_milliseconds(earliest)) <= 0) return;

    std::uint64_t rung = 0;
    static_cast<void>(::read(wake_->event.get(), &rung, sizeof rung));
    for (std::size_t i = 0; i < order.size(); ++i) {
        if ((polled[i + 2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) order[i]->receive();
    }
}

void TensorSocket::accept_clients() {
    for (;;) {
        Descriptor socket(
            ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket.is_open()) return;
        if (clients_.size() >= clients_max) continue;  // closed at once
        clients_.emplace(next_client_++, std::make_unique<TensorClient>(std::move(socket)));
    }
}

void TensorSocket::serve(TensorClient& client) {
    client.advance(trainers_, TensorClient::Clock::now());
    propose_for(client);
    client.send_output();
}

void TensorSocket::propose_for(TensorClient& client) {
    auto spec = client.take_proposal();
    if (!spec || !propose_) return;
    std::uint64_t id = 0;
    for (const auto& [number, pointer] : clients_) {
        if (pointer.get() == &client) id = number;
    }
    propose_(*std::move(spec), [wake = wake_, id](Status status) {
        {
            const std::lock_guard lock(wake->mutex);
            wake->replies.insert_or_assign(id, std::move(status));
        }
        wake->ring();
    });
}

void TensorSocket::take_replies() {
    std::map<std::uint64_t, Status> replies;
    {
        const std::lock_guard lock(wake_->mutex);
        replies = std::exchange(wake_->replies, {});
    }
    for (const auto& [id, status] : replies) {
        const auto found = clients_.find(id);
        if (found != clients_.end() && !status) found->second->refuse(status.error());
    }
}

}  // namespace p2p::daemon
