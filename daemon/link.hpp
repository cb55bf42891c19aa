#pragma once

// One TCP connection and the session on it: two loops that move bytes and decide nothing.
//
// The owner lets the other end in or refuses it, gets what comes, and is told when there is room
// for bulk. Control overtakes bulk: what lies sealed but unsent, here and in the kernel together,
// is held to about 128 KiB. Whether a link is needed, and with whom, is left to links and core.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/limits.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "daemon/asio.hpp"
#include "proto/session.hpp"

namespace p2p::daemon {

class Link;

/// Called on the loop thread, never from within a call into the link. Outlives its links' loops.
class LinkOwner {
  public:
    /// The other end has proved who it is and has not heard our Hello yet; an error refuses it.
    [[nodiscard]] virtual core::Status admit(const core::PeerId& peer) = 0;

    virtual void on_control(Link& link, core::Bytes message) = 0;

    /// @param frame the sender's header and raw bytes; valid during the call
    virtual void on_bulk(Link& link, core::ByteView frame) = 0;

    /// `room` bytes of bulk can be pushed before the link wants to be asked again.
    virtual void on_writable(Link& link, std::size_t room) = 0;

  protected:
    ~LinkOwner() = default;
};

struct LinkFacts {
    std::string address;  ///< of the other end, as this one sees it
    bool dialled_here = false;
};

/// Kept alive by the coroutine that runs it: `co_await link->establish()`, then
/// `co_await link->run()`.
class Link {
  public:
    static constexpr std::size_t bulk_room_bytes = 512 * core::kib;
    static constexpr std::size_t unsent_bytes_max =
        64 * core::kib;  ///< in the kernel; as many here
    static constexpr core::Duration goodbye_time_max = std::chrono::seconds{1};

    Link(Tcp::socket socket, proto::Session session, LinkOwner& owner, LinkFacts facts);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Handshake and Hellos, within `time_max`. Ok: the link is up at both ends. Else it is closed,
    /// and the error says why: timed_out, not_permitted (the owner), what the session found.
    awaitable<core::Status> establish(core::Duration time_max = core::limits::handshake_time_max);

    /// Both loops, until one ends; then the socket is closed. Gives the reason.
    /// @pre establish() gave ok
    awaitable<core::Error> run();

    /// Same errors as the session's; after finish() or close() `conflict`.
    [[nodiscard]] core::Status push_control(core::Bytes message);
    [[nodiscard]] core::Status push_bulk(proto::BulkPiece piece);

    /// Ends the link once the control messages queued so far are out and the other end was told
    /// why, or when a second is over.
    void finish(core::Error why);

    /// Ends the link now.
    void close(core::Error why);

    /// @pre the handshake is through, as it is once admit() was called
    [[nodiscard]] const core::PeerId& peer() const { return *session_.remote(); }

    /// @pre the link is up
    [[nodiscard]] const proto::Hello& hello() const { return *session_.remote_hello(); }

    [[nodiscard]] const LinkFacts& facts() const { return facts_; }

    [[nodiscard]] core::TimePoint last_heard() const { return last_heard_; }

    [[nodiscard]] proto::SessionCounters counters() const { return session_.counters(); }

  private:
    awaitable<core::Status> shake_hands();
    awaitable<void> read_loop();
    awaitable<void> write_loop();
    awaitable<void> deadline_loop();
    awaitable<void> say_goodbye();

    [[nodiscard]] core::Status take_in(core::ByteView input);
    void deliver();
    void prepare_output();
    void tell_room();
    void fail(core::Error why);
    void set_deadline(core::Duration from_now);

    Tcp::socket socket_;
    proto::Session session_;
    LinkOwner& owner_;
    LinkFacts facts_;
    asio::steady_timer output_ready_;  ///< never expires; cut short when there is output
    asio::steady_timer deadline_;      ///< of the handshake, then of the goodbye
    core::TimePoint last_heard_;
    core::TimePoint rekeyed_at_;
    std::size_t bulk_queued_ = 0;  ///< as the owner was last told
    bool is_admitted_ = false;
    bool is_finishing_ = false;
    std::optional<core::Error> failure_;  ///< the first cause is the one that counts
};

}  // namespace p2p::daemon
