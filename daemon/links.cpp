#include "daemon/links.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "daemon/clock.hpp"
#include "daemon/dialer.hpp"
#include "daemon/entropy.hpp"

namespace p2p::daemon {
namespace {

core::Error stopping() {
    return {core::ErrorCode::interrupted, "the session ends", "this node is stopping", ""};
}

core::Error second_session() {
    return {
        core::ErrorCode::conflict,
        "the session ends",
        "another one between the same two nodes stays",
        ""};
}

core::Error not_allowed(const core::PeerId& peer) {
    return {
        core::ErrorCode::not_permitted,
        "node " + peer.text() + " is refused",
        "it is not in peers.toml of the node that refuses it",
        "list it there (both ends must list each other), then systemctl reload p2pd"};
}

std::string address_of(const Tcp::socket& socket) {
    asio::error_code error;
    const Tcp::endpoint from = socket.remote_endpoint(error);
    return error ? std::string("unknown")
                 : HostPort{from.address().to_string(), from.port()}.text();
}

}  // namespace

Links::Links(asio::io_context& loop, const proto::Identity& identity, LinksConfig config)
    : loop_(loop),
      identity_(identity),
      config_(std::move(config)),
      listener_(loop) {}

void Links::start(LinksEvents events) {
    check_thread();
    events_ = std::move(events);
    listener_.start(
        {.on_accepted =
             [this](Tcp::socket socket, HalfOpenId id) { on_accepted(std::move(socket), id); },
         .on_evicted =
             [this](HalfOpenId id) {
                 const auto link = unproved_.find(id);
                 if (link == unproved_.end()) return;
                 link->second->close(
                     {core::ErrorCode::timed_out,
                      "the handshake took too long",
                      "another connection needed its place",
                      ""});
             },
         .on_held_back =
             [this](const std::string& host) {
                 events_.on_refused(
                     host,
                     {core::ErrorCode::too_large,
                      "a connection was held back",
                      "too many handshakes from there or in all",
                      ""});
             }});
}

void Links::connect(core::PeerId peer, std::vector<std::string> addresses) {
    check_thread();
    if (is_closing_ || links_.contains(peer) || dialling_.contains(peer)) return;
    dialling_.insert(peer);
    spawn(dial(peer, std::move(addresses)));
}

void Links::disconnect(core::PeerId peer, core::Error why) {
    check_thread();
    const auto up = links_.find(peer);
    if (up == links_.end()) return;
    const LinkPtr link = std::move(up->second.link);
    links_.erase(up);
    link->finish(std::move(why));
}

void Links::send_control(core::PeerId peer, core::Bytes message) {
    check_thread();
    Link* link = find(peer);
    if (link == nullptr) return;
    const core::Status status = link->push_control(std::move(message));
    if (!status && status.error().code == core::ErrorCode::too_large) link->close(status.error());
}

void Links::send_bulk(core::PeerId peer, proto::BulkPiece piece) {
    check_thread();
    Link* link = find(peer);
    if (link == nullptr) return;
    const core::Status status = link->push_bulk(std::move(piece));
    if (!status && status.error().code == core::ErrorCode::too_large) link->close(status.error());
}

void Links::adopt(LinksConfig config) {
    check_thread();
    config_ = std::move(config);
    for (const auto& [peer, up] : links_) {
        if (!config_.allowed.contains(peer)) up.link->finish(not_allowed(peer));
    }
}

void Links::close() {
    check_thread();
    is_closing_ = true;
    listener_.close();
    for (const auto& [peer, up] : links_) {
        up.link->finish(stopping());
    }
    for (const auto& [id, link] : unproved_) {
        link->close(stopping());
    }
}

std::vector<LinkStatus> Links::status() const {
    check_thread();
    std::vector<LinkStatus> out;
    for (const auto& [peer, up] : links_) {
        out.push_back({peer, up.link->facts(), facts_of(up), up.link->counters()});
    }
    return out;
}

awaitable<void> Links::dial(core::PeerId peer, std::vector<std::string> addresses) {
    // A coroutine starts at once; the caller must not be called back from within connect().
    co_await asio::post(loop_, asio::use_awaitable);
    core::Error why{core::ErrorCode::unreachable, "peer " + peer.text(), "no address is known", ""};
    for (const std::string& address : addresses) {
        const core::Status status = co_await dial_one(peer, address);
        if (status) co_return;  // It was up, and on_disconnected has said why it is no more.
        why = status.error();
        if (is_closing_ || links_.contains(peer)) break;  // It has dialled us meanwhile.
    }
    dialling_.erase(peer);
    if (!links_.contains(peer) && !is_closing_) events_.on_unreachable(peer, why);
}

/// Ok once a session with `peer` was up and has ended; an error where none came of it.
awaitable<core::Status> Links::dial_one(core::PeerId peer, std::string address) {
    auto socket = co_await connect_to(address);
    if (!socket) co_return socket.error();
    if (is_closing_ || links_.contains(peer)) co_return second_session();

    auto session =
        proto::Session::dial(session_config(), identity_, peer, proto::SecretKey(entropy_seed()));
    if (!session) co_return session.error();
    const auto link = std::make_shared<Link>(
        *std::move(socket), *std::move(session), owner(), LinkFacts{address, true});
    const core::Status established = co_await link->establish();
    if (!established) co_return established.error().with_context(address);

    dialling_.erase(peer);
    co_await serve(link);
    co_return core::Status();
}

void Links::on_accepted(Tcp::socket socket, HalfOpenId id) {
    LinkFacts facts{address_of(socket), false};
    auto session =
        proto::Session::accept(session_config(), identity_, proto::SecretKey(entropy_seed()));
    auto link =
        std::make_shared<Link>(std::move(socket), std::move(session), owner(), std::move(facts));
    unproved_.emplace(id, link);
    spawn(serve_accepted(std::move(link), id));
}

awaitable<void> Links::serve_accepted(LinkPtr link, HalfOpenId id) {
    const core::Status established = co_await link->establish();
    unproved_.erase(id);
    if (!established) {
        listener_.on_closed(id);
        events_.on_refused(link->facts().address, established.error());
        co_return;
    }
    listener_.on_authenticated(id);
    co_await serve(std::move(link));
}

/// The life of a link that is up at both ends.
awaitable<void> Links::serve(LinkPtr link) {
    const core::Status taken = take_up(link);
    if (!taken) link->finish(taken.error());
    serving_ += 1;
    const core::Error why = co_await link->run();
    serving_ -= 1;
    put_down(link, why);
}

/// Makes `link` the one with its peer, or says why not.
core::Status Links::take_up(const LinkPtr& link) {
    if (is_closing_) return stopping();
    const core::PeerId peer = link->peer();
    if (!config_.allowed.contains(peer)) return not_allowed(peer);

    const core::TimePoint now = steady_now();
    const SessionFacts newer{
        link->facts().dialled_here, link->hello().incarnation, now, link->last_heard()};
    const auto older = links_.find(peer);
    if (older != links_.end()) {
        const bool self_is_low = identity_.id() < peer;
        const Stays stays = which_stays(now, self_is_low, facts_of(older->second), newer);
        if (stays == Stays::older) return second_session();
        const LinkPtr replaced = older->second.link;
        replaced->finish(second_session());
        put_down(replaced, second_session());
    }
    links_.insert_or_assign(peer, Up{link, newer});
    events_.on_connected(
        {.id = peer,
         .incarnation = newer.incarnation,
         .name = link->hello().name,
         .address = link->facts().address,
         .dialled_here = newer.dialled_here});
    return {};
}

/// Nothing happens where another link has taken its place.
void Links::put_down(const LinkPtr& link, const core::Error& why) {
    if (!is_up(*link)) return;
    links_.erase(link->peer());
    events_.on_disconnected(link->peer(), why);
}

bool Links::is_up(const Link& link) const {
    return find(link.peer()) == &link;
}

Link* Links::find(core::PeerId peer) const {
    const auto up = links_.find(peer);
    return up == links_.end() ? nullptr : up->second.link.get();
}

SessionFacts Links::facts_of(const Up& up) const {
    SessionFacts facts = up.facts;
    facts.last_heard = up.link->last_heard();
    return facts;
}

proto::SessionConfig Links::session_config() const {
    proto::SessionConfig config = config_.session;
    config.hello.wall_clock_unix_ms = unix_now_ms();
    return config;
}

void Links::spawn(awaitable<void> story) {
    asio::co_spawn(loop_, std::move(story), [](std::exception_ptr fault) {
        // No story throws by design; what does is a fault of ours, and ends the loop.
        if (fault) std::rethrow_exception(fault);
    });
}

void Links::check_thread() const {
    P2P_CHECK(std::this_thread::get_id() == thread_);
}

core::Status Links::admit(const core::PeerId& peer) {
    if (peer == identity_.id()) {
        return core::Error{
            core::ErrorCode::conflict,
            "the session ends",
            "both ends have the same key",
            "give one of them a key of its own"};
    }
    if (!config_.allowed.contains(peer)) return not_allowed(peer);
    return {};
}

void Links::on_control(Link& link, core::Bytes message) {
    if (is_up(link)) events_.on_control(link.peer(), std::move(message));
}

void Links::on_bulk(Link& link, core::ByteView frame) {
    if (is_up(link)) events_.on_bulk(link.peer(), frame);
}

void Links::on_writable(Link& link, std::size_t room) {
    if (is_up(link)) events_.on_writable(link.peer(), room);
}

}  // namespace p2p::daemon
