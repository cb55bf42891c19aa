#pragma once

// Nodes without a Node: identities and Links on one loop, and what they were told.
// Loops run until a condition or a deadline; nothing sleeps.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/asio.hpp"
#include "daemon/clock.hpp"
#include "daemon/links.hpp"
#include "proto/keys.hpp"

namespace p2p::daemon::testing_net {

/// Turns the loop until `condition` holds; false when `time_max` is over first.
inline bool run_until(
    asio::io_context& loop,
    const std::function<bool()>& condition,
    core::Duration time_max = std::chrono::seconds{20}) {
    const core::TimePoint end = steady_now() + time_max;
    while (!condition()) {
        if (steady_now() >= end) return false;
        loop.restart();
        loop.run_one_for(std::chrono::milliseconds{20});
    }
    return true;
}

/// Turns the loop until nothing has happened for `quiet`.
inline void run_until_quiet(
    asio::io_context& loop, core::Duration quiet = std::chrono::milliseconds{150}) {
    do {
        loop.restart();
    } while (loop.run_one_for(quiet) > 0);
}

inline proto::Identity identity(std::uint8_t seed) {
    proto::SecretKey key;
    for (std::uint8_t& byte : key.view()) {
        byte = seed;
    }
    return proto::Identity::from_seed(key);
}

inline core::NetworkId network(std::uint8_t byte) {
    core::NetworkId id;
    id.bytes.fill(byte);
    return id;
}

/// Two identities, the one with the lower id first.
inline std::pair<std::uint8_t, std::uint8_t> seeds_in_order() {
    return identity(1).id() < identity(2).id() ? std::pair<std::uint8_t, std::uint8_t>{1, 2}
                                               : std::pair<std::uint8_t, std::uint8_t>{2, 1};
}

/// Links with their events written down.
struct Station {
    Station(asio::io_context& loop, std::uint8_t seed, std::uint8_t network_byte = 9)
        : self(identity(seed)),
          config(config_for(network_byte)),
          links(loop, self, config) {}

    static LinksConfig config_for(std::uint8_t network_byte) {
        LinksConfig config;
        config.session.network = network(network_byte);
        config.session.hello.incarnation = core::Incarnation{1};
        config.session.hello.name = "station";
        return config;
    }

    void allow(const std::vector<core::PeerId>& peers) {
        config.allowed.insert(peers.begin(), peers.end());
        links.adopt(config);
    }

    /// Listens on a port of the kernel's choice and starts.
    void start() {
        const core::Status status = links.listen({{"127.0.0.1", 0}});
        P2P_CHECK(status.is_ok());
        start_deaf();
    }

    void start_deaf() {
        links.start(
            {.on_connected = [this](const core::ConnectedPeer& peer) { connected.push_back(peer); },
             .on_disconnected =
                 [this](core::PeerId peer, const core::Error& why) {
                     disconnected.emplace_back(peer, why);
                 },
             .on_unreachable = [this](
                                   core::PeerId peer,
                                   const core::Error& why) { unreachable.emplace_back(peer, why); },
             .on_control =
                 [this](core::PeerId peer, core::Bytes message) {
                     control.push_back(message);
                     if (on_control) on_control(peer, std::move(message));
                 },
             .on_bulk =
                 [this](core::PeerId, core::ByteView frame) {
                     bulk_bytes += frame.size();
                     bulk_frames += 1;
                     if (on_bulk) on_bulk(frame);
                 },
             .on_writable =
                 [this](core::PeerId peer, std::size_t room) {
                     if (on_writable) on_writable(peer, room);
                 },
             .on_refused =
                 [this](const std::string&, const core::Error& why) {
                     refused.push_back(why);
                 }});
    }

    [[nodiscard]] std::string address() const { return links.listening().front().text(); }

    [[nodiscard]] const core::PeerId& id() const { return self.id(); }

    [[nodiscard]] std::size_t up() const { return links.status().size(); }

    proto::Identity self;
    LinksConfig config;
    std::vector<core::ConnectedPeer> connected;
    std::vector<std::pair<core::PeerId, core::Error>> disconnected;
    std::vector<std::pair<core::PeerId, core::Error>> unreachable;
    std::vector<core::Error> refused;
    std::vector<core::Bytes> control;
    std::size_t bulk_bytes = 0;
    std::size_t bulk_frames = 0;
    std::function<void(core::PeerId, core::Bytes)> on_control;
    std::function<void(core::ByteView)> on_bulk;
    std::function<void(core::PeerId, std::size_t)> on_writable;
    Links links;
};

}  // namespace p2p::daemon::testing_net
