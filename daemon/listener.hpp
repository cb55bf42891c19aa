#pragma once

// The door: binds the listen addresses and lets connections in, a bounded number at a time.
//
// What a connection is good for is left to links, which tells the door when one has proved who it
// is or has ended (limits: daemon/half_open).

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemon/asio.hpp"
#include "daemon/half_open.hpp"
#include "daemon/host_port.hpp"

namespace p2p::daemon {

struct ListenerEvents {
    std::function<void(Tcp::socket, HalfOpenId)> on_accepted;
    std::function<void(HalfOpenId)> on_evicted;            ///< close it: another needs the place
    std::function<void(const std::string&)> on_held_back;  ///< host that met a limit
};

class Listener {
  public:
    explicit Listener(asio::io_context& loop);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Binds all addresses or none. Errors: invalid (no address), in_use (naming who holds it),
    /// not_permitted, unreachable (no such address here). An IPv6 address on a machine without IPv6
    /// is skipped where another address is bound.
    core::Status open(const std::vector<HostPort>& addresses);

    /// What is bound; with the port that the kernel chose where 0 was asked for.
    [[nodiscard]] std::vector<HostPort> addresses() const;

    /// Lets connections in until close().
    void start(ListenerEvents events);
    void close();

    void on_authenticated(HalfOpenId id) { limits_.on_authenticated(id); }

    void on_closed(HalfOpenId id) { limits_.on_closed(id); }

    [[nodiscard]] std::size_t half_open() const { return limits_.half_open(); }

  private:
    awaitable<void> accept_loop(Tcp::acceptor& acceptor);
    void admit(Tcp::socket socket);
    core::Status bind(const HostPort& address);

    asio::io_context& loop_;
    std::deque<Tcp::acceptor> acceptors_;  ///< a deque: the loops refer to its elements
    HalfOpenLimits limits_;
    ListenerEvents events_;
};

}  // namespace p2p::daemon
