#include "daemon/listener.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "daemon/clock.hpp"
#include "daemon/port_holder.hpp"

namespace p2p::daemon {
namespace {

/// When the process is out of file descriptors, accepting again at once would only spin.
constexpr core::Duration accept_pause = std::chrono::milliseconds{100};

core::Error cannot_bind(const HostPort& at, const asio::error_code& error) {
    const std::string what = "cannot listen on " + at.text();
    if (error == asio::error::address_in_use) {
        const std::string port = std::to_string(at.port);
        const auto holder = port_holder(at.port);
        return {
            core::ErrorCode::in_use,
            what,
            "the port is held by " + holder.value_or("another process"),
            holder ? "stop it, or set network.listen to another port"
                   : "find it with `ss -ltnp 'sport = :" + port
                         + "'`, or set network.listen to another port"};
    }
    if (error == asio::error::access_denied) {
        return {
            core::ErrorCode::not_permitted, what, error.message(), "use a port from 1024 upwards"};
    }
    return {
        core::ErrorCode::unreachable,
        what,
        error.message(),
        "set network.listen to addresses that this machine has (`ip addr`)"};
}

bool is_missing_v6(const HostPort& at, const core::Error& error) {
    return at.host.find(':') != std::string::npos && error.code == core::ErrorCode::unreachable;
}

AddressPrefix prefix_of(const asio::ip::address& address) {
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        return address_prefix(core::ByteView(bytes.data(), bytes.size()));
    }
    const auto bytes = address.to_v6().to_bytes();
    return address_prefix(core::ByteView(bytes.data(), bytes.size()));
}

}  // namespace

Listener::Listener(asio::io_context& loop)
    : loop_(loop) {}

core::Status Listener::open(const std::vector<HostPort>& addresses) {
    core::Status skipped;
    for (const HostPort& address : addresses) {
        core::Status status = bind(address);
        if (status) continue;
        if (!is_missing_v6(address, status.error())) {
            acceptors_.clear();
            return status;
        }
        skipped = status;
    }
    if (!acceptors_.empty()) return {};
    if (!skipped) return skipped;
    return core::Error{
        core::ErrorCode::invalid,
        "network.listen",
        "it names no address",
        "set it to [\"0.0.0.0:7470\"]"};
}

core::Status Listener::bind(const HostPort& address) {
    asio::error_code error;
    const asio::ip::address host = asio::ip::make_address(address.host, error);
    if (error) {
        return core::Error{
            core::ErrorCode::invalid,
            "network.listen holds \"" + address.text() + '"',
            "it is no IP address",
            "name an address of this machine, or 0.0.0.0 for all"};
    }
    const Tcp::endpoint endpoint(host, address.port);
    Tcp::acceptor acceptor(loop_);
    acceptor.open(endpoint.protocol(), error);
    if (error) return cannot_bind(address, error);
    acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    // IPv4 is bound by its own address, so both can stand in network.listen.
    if (host.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
    acceptor.bind(endpoint, error);
    if (error) return cannot_bind(address, error);
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return cannot_bind(address, error);
    acceptors_.push_back(std::move(acceptor));
    return {};
}

std::vector<HostPort> Listener::addresses() const {
    std::vector<HostPort> out;
    for (const Tcp::acceptor& acceptor : acceptors_) {
        asio::error_code error;
        const Tcp::endpoint endpoint = acceptor.local_endpoint(error);
        if (!error) out.push_back({endpoint.address().to_string(), endpoint.port()});
    }
    return out;
}

void Listener::start(ListenerEvents events) {
    events_ = std::move(events);
    for (Tcp::acceptor& acceptor : acceptors_) {
        asio::co_spawn(loop_, accept_loop(acceptor), [](std::exception_ptr fault) {
            if (fault) std::rethrow_exception(fault);
        });
    }
}

void Listener::close() {
    for (Tcp::acceptor& acceptor : acceptors_) {
        asio::error_code ignored;
        acceptor.close(ignored);
    }
}

awaitable<void> Listener::accept_loop(Tcp::acceptor& acceptor) {
    asio::steady_timer pause(loop_);
    while (acceptor.is_open()) {
        auto [error, socket] = co_await acceptor.async_accept(as_result);
        if (error) {
            pause.expires_after(accept_pause);
            co_await pause.async_wait(as_result);
            continue;
        }
        admit(std::move(socket));
    }
}

void Listener::admit(Tcp::socket socket) {
    asio::error_code error;
    const Tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;  // gone already

    const auto admission = limits_.on_accepted(steady_now(), prefix_of(from.address()));
    if (admission.evicted) events_.on_evicted(*admission.evicted);
    if (!admission.admitted) {
        events_.on_held_back(from.address().to_string());
        return;
    }
    events_.on_accepted(std::move(socket), *admission.admitted);
}

}  // namespace p2p::daemon
