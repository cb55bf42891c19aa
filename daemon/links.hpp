#pragma once

// All links of this node: who may be here, at most one session for each pair, dialling.
//
// Makes of connections what a Node knows: peers that are connected or not. Which peers to dial is
// left to the Node; what messages mean, to the driver. On the loop thread only.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/node.hpp"
#include "daemon/asio.hpp"
#include "daemon/duplicate.hpp"
#include "daemon/link.hpp"
#include "daemon/listener.hpp"
#include "proto/keys.hpp"

namespace p2p::daemon {

struct LinksConfig {
    proto::SessionConfig session;    ///< network, Hello, accept_unknown_id
    std::set<core::PeerId> allowed;  ///< nobody else is told our Hello
};

/// Called on the loop thread, never from within a call into Links.
struct LinksEvents {
    std::function<void(const core::ConnectedPeer&)> on_connected;
    std::function<void(core::PeerId, const core::Error&)> on_disconnected;
    std::function<void(core::PeerId, const core::Error&)> on_unreachable;
    std::function<void(core::PeerId, core::Bytes)> on_control;
    std::function<void(core::PeerId, core::ByteView)> on_bulk;  ///< the view lasts for the call
    std::function<void(core::PeerId, std::size_t room)> on_writable;

    /// A connection that came to nothing, for the log.
    std::function<void(const std::string& address, const core::Error&)> on_refused;
};

struct LinkStatus {
    core::PeerId peer;
    LinkFacts facts;
    SessionFacts session;
    proto::SessionCounters counters;
};

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): final, and no one deletes a LinkOwner
class Links final : private LinkOwner {
  public:
    /// The identity must outlive the links, and the links the loop's last handler.
    Links(asio::io_context& loop, const proto::Identity& identity, LinksConfig config);

    /// Binds; nothing is accepted before start(). Errors: Listener::open's.
    core::Status listen(const std::vector<HostPort>& addresses) {
        return listener_.open(addresses);
    }

    [[nodiscard]] std::vector<HostPort> listening() const { return listener_.addresses(); }

    void start(LinksEvents events);

    /// Dials these addresses in turn until one leads to a session with `peer`: then on_connected;
    /// else on_unreachable. Nothing happens where it is connected or being dialled already.
    void connect(core::PeerId peer, std::vector<std::string> addresses);

    /// What is queued for `peer` goes out, and it is told why the session ends. Whoever calls this
    /// knows, so on_disconnected is not called; `peer` can be dialled again at once.
    void disconnect(core::PeerId peer, core::Error why);

    /// Both do nothing where `peer` is not connected. A peer that does not read until its queue is
    /// full is disconnected.
    void send_control(core::PeerId peer, core::Bytes message);
    void send_bulk(core::PeerId peer, proto::BulkPiece piece);

    /// Takes up a new configuration; sessions of peers that are not allowed any more end.
    void adopt(LinksConfig config);

    /// No new connection, and all links finish.
    void close();

    [[nodiscard]] bool is_idle() const { return serving_ == 0 && unproved_.empty(); }

    [[nodiscard]] std::size_t half_open() const { return listener_.half_open(); }

    [[nodiscard]] std::vector<LinkStatus> status() const;

  private:
    using LinkPtr = std::shared_ptr<Link>;

    struct Up {
        LinkPtr link;
        SessionFacts facts;  ///< but for last_heard, which the link knows
    };

    awaitable<void> dial(core::PeerId peer, std::vector<std::string> addresses);
    awaitable<core::Status> dial_one(core::PeerId peer, std::string address);
    awaitable<void> serve_accepted(LinkPtr link, HalfOpenId id);
    awaitable<void> serve(LinkPtr link);

    void on_accepted(Tcp::socket socket, HalfOpenId id);
    [[nodiscard]] core::Status take_up(const LinkPtr& link);
    void put_down(const LinkPtr& link, const core::Error& why);
    [[nodiscard]] bool is_up(const Link& link) const;
    [[nodiscard]] Link* find(core::PeerId peer) const;
    [[nodiscard]] SessionFacts facts_of(const Up& up) const;
    [[nodiscard]] proto::SessionConfig session_config() const;
    void spawn(awaitable<void> story);
    void check_thread() const;

    [[nodiscard]] LinkOwner& owner() { return *this; }

    [[nodiscard]] core::Status admit(const core::PeerId& peer) override;
    void on_control(Link& link, core::Bytes message) override;
    void on_bulk(Link& link, core::ByteView frame) override;
    void on_writable(Link& link, std::size_t room) override;

    asio::io_context& loop_;
    const proto::Identity& identity_;
    LinksConfig config_;
    LinksEvents events_;
    Listener listener_;
    std::map<core::PeerId, Up> links_;        ///< sessions that count
    std::map<HalfOpenId, LinkPtr> unproved_;  ///< accepted, handshake under way
    std::set<core::PeerId> dialling_;
    std::size_t serving_ = 0;  ///< loops that run, those of finishing links too
    std::thread::id thread_ = std::this_thread::get_id();
    bool is_closing_ = false;
};

}  // namespace p2p::daemon
