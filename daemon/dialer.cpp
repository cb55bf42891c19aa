#include "daemon/dialer.hpp"

#include <utility>
#include <vector>

#include "daemon/host_port.hpp"

namespace p2p::daemon {
namespace {

using SocketResult = core::Result<Tcp::socket>;

core::Error not_reached(const std::string& address, const asio::error_code& error) {
    return {core::ErrorCode::unreachable, "cannot connect to " + address, error.message(), ""};
}

/// The endpoints that a host stands for: itself where it is an address, else what its name says.
awaitable<core::Result<std::vector<Tcp::endpoint>>> resolve(HostPort at) {
    asio::error_code is_no_literal;
    const asio::ip::address literal = asio::ip::make_address(at.host, is_no_literal);
    if (!is_no_literal) co_return std::vector<Tcp::endpoint>(1, Tcp::endpoint(literal, at.port));

    Tcp::resolver resolver(co_await asio::this_coro::executor);
    const std::string service = std::to_string(at.port);
    const auto [error, found] = co_await resolver.async_resolve(at.host, service, as_result);
    if (error) {
        co_return core::Error{
            core::ErrorCode::not_found,
            "cannot resolve " + at.host,
            error.message(),
            "check the name in network.bootstrap or peers.toml"};
    }
    std::vector<Tcp::endpoint> endpoints;
    for (const auto& entry : found) {
        endpoints.push_back(entry.endpoint());
    }
    co_return endpoints;
}

awaitable<SocketResult> connect(std::string address, HostPort at) {
    const auto endpoints = co_await resolve(std::move(at));
    if (!endpoints) co_return endpoints.error();

    Tcp::socket socket(co_await asio::this_coro::executor);
    const auto [error, endpoint] = co_await asio::async_connect(socket, *endpoints, as_result);
    if (error) co_return not_reached(address, error);
    co_return std::move(socket);
}

awaitable<void> wait_for(core::Duration time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_result);
}

}  // namespace

awaitable<SocketResult> connect_to(std::string address) {
    const auto at = host_port_from(address);
    if (!at) co_return at.error();

    auto outcome = co_await (connect(address, *at) || wait_for(connect_time_max));
    if (outcome.index() == 0) co_return std::get<0>(std::move(outcome));
    co_return core::Error{
        core::ErrorCode::timed_out, "cannot connect to " + address, "nobody answered in time", ""};
}

}  // namespace p2p::daemon
