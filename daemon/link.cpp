#include "daemon/link.hpp"

#include <utility>

#include <netinet/tcp.h>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"
#include "daemon/clock.hpp"

namespace p2p::daemon {
namespace {

constexpr std::size_t handshake_read_bytes = 4096;
constexpr std::size_t read_bytes = 256 * core::kib;

core::Error broken_connection(const asio::error_code& error) {
    const bool is_end = error == asio::error::eof;
    return {
        core::ErrorCode::unreachable,
        "the connection broke",
        is_end ? "the other end closed it" : error.message(),
        ""};
}

/// Small messages go at once, and little lies unsent in the kernel. Where a kernel knows no such
/// option the link is slower to let control overtake, no more.
void set_options(Tcp::socket& socket) {
    asio::error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    const int unsent = static_cast<int>(Link::unsent_bytes_max);
    (void)setsockopt(
        socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

}  // namespace

Link::Link(Tcp::socket socket, proto::Session session, LinkOwner& owner, LinkFacts facts)
    : socket_(std::move(socket)),
      session_(std::move(session)),
      owner_(owner),
      facts_(std::move(facts)),
      output_ready_(socket_.get_executor(), asio::steady_timer::time_point::max()),
      deadline_(socket_.get_executor(), asio::steady_timer::time_point::max()),
      last_heard_(steady_now()),
      rekeyed_at_(last_heard_) {
    set_options(socket_);
}

awaitable<core::Status> Link::establish(core::Duration time_max) {
    set_deadline(time_max);
    const auto outcome = co_await (shake_hands() || deadline_loop());
    if (outcome.index() == 0 && std::get<0>(outcome).is_ok()) {
        set_deadline(core::Duration::max());
        co_return core::Status();
    }
    if (outcome.index() == 0) {
        fail(std::get<0>(outcome).error());
        set_deadline(goodbye_time_max);
        co_await (say_goodbye() || deadline_loop());
    }
    close({core::ErrorCode::timed_out, "the handshake was not over in time", "", ""});
    co_return *failure_;
}

awaitable<core::Status> Link::shake_hands() {
    core::Bytes buffer(handshake_read_bytes);
    while (!session_.is_established()) {
        const core::Bytes output = session_.take_output(proto::output_bytes_min);
        if (!output.empty()) {
            const auto [error, count] =
                co_await asio::async_write(socket_, asio::buffer(output), as_result);
            if (error) co_return broken_connection(error);
            continue;
        }
        const auto [error, count] =
            co_await socket_.async_read_some(asio::buffer(buffer), as_result);
        if (error) co_return broken_connection(error);
        const core::Status status = take_in({buffer.data(), count});
        if (!status) co_return status;
    }
    co_return core::Status();
}

awaitable<core::Error> Link::run() {
    co_await (read_loop() || write_loop() || deadline_loop());
    set_deadline(goodbye_time_max);
    co_await (say_goodbye() || deadline_loop());
    close({core::ErrorCode::timed_out, "the goodbye was not over in time", "", ""});
    co_return *failure_;
}

awaitable<void> Link::read_loop() {
    core::Bytes buffer(read_bytes);
    tell_room();
    for (;;) {
        deliver();  // before the first read: what came together with the last of the handshake
        if (session_.is_over()) co_return;

        const auto [error, count] =
            co_await socket_.async_read_some(asio::buffer(buffer), as_result);
        if (error) {
            fail(broken_connection(error));
            co_return;
        }
        last_heard_ = steady_now();
        if (const core::Status status = take_in({buffer.data(), count}); !status) {
            fail(status.error());
        }
    }
}

awaitable<void> Link::write_loop() {
    core::Bytes buffer(proto::output_bytes_min);
    for (;;) {
        prepare_output();
        const std::size_t size = session_.take_output(core::MutableByteView(buffer));
        if (size == 0) {
            if (session_.is_over()) co_return;
            co_await output_ready_.async_wait(as_result);  // cut short by push, finish, take_in
            continue;
        }
        if (session_.queued_bulk_bytes() < bulk_queued_) tell_room();
        const auto [error, count] =
            co_await asio::async_write(socket_, asio::buffer(buffer.data(), size), as_result);
        if (error) {
            fail(broken_connection(error));
            co_return;
        }
    }
}

awaitable<void> Link::deadline_loop() {
    for (;;) {
        const auto [error] = co_await deadline_.async_wait(as_result);
        if (!error) co_return;  // Else it was moved, and the wait begins anew.
    }
}

/// Closing a socket that holds unread bytes would send a reset, which can overtake the reason: so
/// the other end is read to its end, too.
awaitable<void> Link::say_goodbye() {
    const core::Bytes output = session_.take_output(proto::output_bytes_min);
    if (output.empty()) co_return;
    const auto [fault, written] =
        co_await asio::async_write(socket_, asio::buffer(output), as_result);
    if (fault) co_return;

    asio::error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    core::Bytes unread(handshake_read_bytes);
    for (;;) {
        const auto [error, count] =
            co_await socket_.async_read_some(asio::buffer(unread), as_result);
        if (error) co_return;
    }
}

core::Status Link::push_control(core::Bytes message) {
    if (is_finishing_) return *failure_;
    core::Status status = session_.push_control(std::move(message));
    output_ready_.cancel_one();
    return status;
}

core::Status Link::push_bulk(proto::BulkPiece piece) {
    if (is_finishing_) return *failure_;
    core::Status status = session_.push_bulk(std::move(piece));
    bulk_queued_ = session_.queued_bulk_bytes();
    output_ready_.cancel_one();
    return status;
}

void Link::finish(core::Error why) {
    if (is_finishing_) return;
    is_finishing_ = true;
    fail(std::move(why));
    set_deadline(goodbye_time_max);
    output_ready_.cancel_one();
}

void Link::close(core::Error why) {
    is_finishing_ = true;
    fail(std::move(why));
    asio::error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    output_ready_.cancel();
}

/// Feeds the session and asks the owner about the other end as soon as it is known.
core::Status Link::take_in(core::ByteView input) {
    core::Status status = session_.feed(input);
    output_ready_.cancel_one();  // The session may have something to say.
    if (!status || is_admitted_ || !session_.remote()) return status;

    is_admitted_ = true;
    core::Status admitted = owner_.admit(*session_.remote());
    if (!admitted) session_.refuse(admitted.error());
    return admitted;
}

void Link::deliver() {
    while (!is_finishing_) {
        auto event = session_.next_event();
        if (!event) return;
        if (auto* control = std::get_if<proto::Control>(&*event)) {
            owner_.on_control(*this, std::move(control->message));
        } else if (const auto* bulk = std::get_if<proto::Bulk>(&*event)) {
            owner_.on_bulk(*this, bulk->bytes);
        }
    }
}

void Link::prepare_output() {
    if (is_finishing_ && session_.queued_control_bytes() == 0) session_.refuse(*failure_);
    const core::TimePoint now = steady_now();
    if (now - rekeyed_at_ < core::limits::rekey_interval) return;
    rekeyed_at_ = now;
    session_.request_rekey();
}

void Link::tell_room() {
    bulk_queued_ = session_.queued_bulk_bytes();
    if (is_finishing_ || !session_.wants_bulk()) return;
    owner_.on_writable(*this, bulk_room_bytes - bulk_queued_);
}

void Link::fail(core::Error why) {
    if (!failure_) failure_ = std::move(why);
}

void Link::set_deadline(core::Duration from_now) {
    if (from_now == core::Duration::max()) {
        deadline_.expires_at(asio::steady_timer::time_point::max());
    } else {
        deadline_.expires_after(from_now);
    }
}

}  // namespace p2p::daemon
