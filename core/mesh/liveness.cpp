#include "core/mesh/liveness.hpp"

#include <algorithm>

#include "core/base/deadlines.hpp"

namespace p2p::core {

void Liveness::on_connected(TimePoint now, PeerId peer) {
    Link link;
    link.heard = now;
    link.ping_at = now;
    links_[peer] = link;
}

void Liveness::on_heard(TimePoint now, PeerId peer) {
    const auto found = links_.find(peer);
    if (found != links_.end()) found->second.heard = now;
}

void Liveness::on_pong(TimePoint now, PeerId peer, std::uint64_t nonce) {
    const auto found = links_.find(peer);
    if (found == links_.end() || !found->second.pinged || found->second.nonce != nonce) return;
    found->second.round_trip_seconds.add(to_seconds(now - *found->second.pinged));
    found->second.pinged.reset();
}

Liveness::Due Liveness::take_due(TimePoint now) {
    Due due;
    for (auto& [peer, link] : links_) {
        if (now - link.heard >= config_.failed_after) {
            due.failed.push_back(peer);
            continue;
        }
        if (now < link.ping_at) continue;
        link.ping_at = now + config_.ping_interval;
        link.pinged = now;
        due.pings.emplace_back(peer, ++link.nonce);
    }
    return due;
}

std::optional<TimePoint> Liveness::next_wakeup() const {
    std::optional<TimePoint> next;
    for (const auto& [peer, link] : links_) {
        next = earlier(next, std::min(link.ping_at, link.heard + config_.failed_after));
    }
    return next;
}

bool Liveness::is_suspect(TimePoint now, PeerId peer) const {
    const auto silent = silent_for(now, peer);
    return silent && *silent >= config_.suspect_after;
}

std::optional<Duration> Liveness::silent_for(TimePoint now, PeerId peer) const {
    const auto found = links_.find(peer);
    if (found == links_.end()) return std::nullopt;
    return now - found->second.heard;
}

std::optional<Duration> Liveness::round_trip(PeerId peer) const {
    const auto found = links_.find(peer);
    if (found == links_.end() || !found->second.round_trip_seconds.has_value()) return std::nullopt;
    return from_seconds(found->second.round_trip_seconds.value_or(0));
}

}  // namespace p2p::core
