// The door under attack: raw sockets that say nothing or rubbish.

#include "daemon/listener.hpp"

#include <deque>

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/daemon/net_support.hpp"

namespace p2p::daemon {
namespace {

using testing_net::run_until;
using testing_net::run_until_quiet;
using testing_net::Station;

Tcp::endpoint endpoint_of(const Station& station) {
    const HostPort at = station.links.listening().front();
    return {asio::ip::make_address(at.host), at.port};
}

/// A connection from 127.0.`c`.`d`, where the kernel lets loopback addresses be.
Tcp::socket connection_from(
    asio::io_context& loop, std::uint8_t c, std::uint8_t d, const Tcp::endpoint& to) {
    Tcp::socket socket(loop, Tcp::v4());
    socket.bind({asio::ip::address_v4({127, 0, c, d}), 0});
    socket.connect(to);
    return socket;
}

TEST(Listener, SaysWhoHoldsThePort) {
    asio::io_context loop;
    Station first(loop, 1);
    Station second(loop, 2);
    first.start();
    const core::Status status = second.links.listen(first.links.listening());
    ASSERT_FALSE(status);
    EXPECT_EQ(core::ErrorCode::in_use, status.error().code);
    EXPECT_NE(std::string::npos, status.error().what.find(first.address()));
    EXPECT_NE(std::string::npos, status.error().why.find("(pid " + std::to_string(getpid()) + ")"))
        << status.error().why;
    EXPECT_NE(std::string::npos, status.error().next.find("network.listen"));
}

TEST(Listener, BindsBothFamiliesOnOnePort) {
    asio::io_context loop;
    Listener listener(loop);
    ASSERT_TRUE(listener.open({{"127.0.0.1", 0}}));
    const std::uint16_t port = listener.addresses().front().port;
    Listener other(loop);
    const core::Status status = other.open({{"::1", port}});
    // A machine without IPv6 says so; IPv4 must never be what stands in the way.
    EXPECT_TRUE(status.is_ok() || status.error().code == core::ErrorCode::unreachable);
}

TEST(Listener, SkipsIpv6WhereTheMachineHasNone) {
    asio::io_context loop;
    Listener listener(loop);
    // 2001:db8::/32 is for documents: no machine has it, which looks as if there were no IPv6.
    EXPECT_TRUE(listener.open({{"127.0.0.1", 0}, {"2001:db8::1", 0}}));
    EXPECT_EQ(1U, listener.addresses().size());
}

TEST(Listener, RefusesWhatItCannotBind) {
    asio::io_context loop;
    for (const HostPort& bad : {HostPort{"not-an-address", 1}, HostPort{"192.0.2.1", 0}}) {
        Listener listener(loop);
        const core::Status status = listener.open({{"127.0.0.1", 0}, bad});
        ASSERT_FALSE(status) << bad.text();
        EXPECT_NE(std::string::npos, status.error().text().find(bad.text()));
        EXPECT_TRUE(listener.addresses().empty());
    }
    Listener listener(loop);
    EXPECT_EQ(core::ErrorCode::invalid, listener.open({}).error().code);
}

TEST(Listener, HoldsAFloodToItsLimitsAndLetsAnHonestPeerIn) {
    asio::io_context loop;
    Station home(loop, 1);
    Station honest(loop, 2);
    home.allow({honest.id()});
    honest.allow({home.id()});
    home.start();
    honest.start();

    std::deque<Tcp::socket> flood;
    for (std::uint8_t i = 0; i < 200; ++i) {
        flood.push_back(connection_from(loop, 2, i, endpoint_of(home)));
        loop.poll();
        ASSERT_LE(home.links.half_open(), core::limits::half_open_total_max);
    }
    ASSERT_TRUE(run_until(loop, [&] {
        return home.links.half_open() == core::limits::half_open_total_max
               && home.refused.size() >= 136;
    }));

    // As core would: again and again until it is in.
    std::size_t dials = 0;
    const bool is_in = run_until(loop, [&] {
        if (honest.unreachable.size() == dials) {
            dials += 1;
            honest.links.connect(home.id(), {home.address()});
        }
        return home.up() == 1;
    });
    EXPECT_TRUE(is_in);
    EXPECT_LE(home.links.half_open(), core::limits::half_open_total_max);
}

TEST(Listener, HoldsOneAddressToFour) {
    asio::io_context loop;
    Station home(loop, 1);
    home.start();
    std::deque<Tcp::socket> flood;
    for (int i = 0; i < 30; ++i) {
        flood.push_back(connection_from(loop, 3, 1, endpoint_of(home)));
    }
    run_until_quiet(loop);
    EXPECT_LE(home.links.half_open(), core::limits::half_open_address_max);
    EXPECT_GE(home.refused.size(), 26U);
}

TEST(Listener, AnswersNothingToRubbish) {
    asio::io_context loop;
    Station home(loop, 1);
    home.start();
    Tcp::socket rude = connection_from(loop, 4, 1, endpoint_of(home));
    core::Bytes rubbish(4096, 0x5a);
    rubbish[0] = 0x01;  // the suite of IK, so that it is not the suite that is refused
    asio::write(rude, asio::buffer(rubbish));

    core::Bytes answer(64);
    std::size_t answered = 0;
    bool is_ended = false;
    rude.async_read_some(asio::buffer(answer), [&](const asio::error_code&, std::size_t count) {
        answered = count;
        is_ended = true;
    });
    ASSERT_TRUE(run_until(loop, [&] { return is_ended && home.links.half_open() == 0; }));
    EXPECT_EQ(0U, answered);
    EXPECT_EQ(1U, home.refused.size());
}

/// Owner of a link whose other end is a raw socket.
class NoOwner final : public LinkOwner {
    core::Status admit(const core::PeerId&) override { return {}; }

    void on_control(Link&, core::Bytes) override {}

    void on_bulk(Link&, core::ByteView) override {}

    void on_writable(Link&, std::size_t) override {}
};

TEST(Listener, GivesASilentConnectionNoMoreThanItsTime) {
    asio::io_context loop;
    Tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    Tcp::socket silent(loop);
    silent.connect(acceptor.local_endpoint());

    NoOwner owner;
    const proto::Identity self = testing_net::identity(1);
    Link link(
        acceptor.accept(),
        proto::Session::accept({}, self, proto::SecretKey()),
        owner,
        {"127.0.0.1", false});
    std::optional<core::Status> outcome;
    asio::co_spawn(
        loop,
        link.establish(std::chrono::milliseconds{50}),
        [&](std::exception_ptr, core::Status status) { outcome = std::move(status); });
    const core::TimePoint start = steady_now();
    ASSERT_TRUE(run_until(loop, [&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(core::ErrorCode::timed_out, outcome->error().code);
    EXPECT_GE(steady_now() - start, std::chrono::milliseconds{50});
    EXPECT_LT(steady_now() - start, std::chrono::seconds{5});
}

}  // namespace
}  // namespace p2p::daemon
