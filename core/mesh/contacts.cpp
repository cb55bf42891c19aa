#include "core/mesh/contacts.hpp"

#include <algorithm>

#include "core/base/deadlines.hpp"
#include "core/base/limits.hpp"

namespace p2p::core {

namespace {

constexpr double pause_seconds_min = 0.5;
constexpr double pause_seconds_max = 30;
constexpr Duration courtesy = std::chrono::seconds{1};  // the higher id lets the lower dial first

}  // namespace

void Contacts::add(TimePoint now, PeerId peer, const std::vector<std::string>& addresses) {
    if (peer == self_) return;
    if (addresses.empty() && !contacts_.contains(peer)) return;  // nothing to dial, or to look at
    const auto [found, is_new] = contacts_.try_emplace(peer);
    Contact& contact = found->second;
    if (is_new) contact.next_try = self_ < peer ? now : now + courtesy;

    std::vector<std::string> merged = addresses;
    for (const std::string& known : contact.addresses) {
        if (std::find(merged.begin(), merged.end(), known) == merged.end()) merged.push_back(known);
    }
    if (merged.size() > limits::addresses_a_peer_max) merged.resize(limits::addresses_a_peer_max);
    const bool is_news = merged != contact.addresses;
    contact.addresses = std::move(merged);
    if (is_news && !is_new && contact.state == State::resting) {
        contact.failures = 0;
        contact.next_try = std::min(contact.next_try, now + courtesy);
    }
}

void Contacts::on_connected(PeerId peer) {
    const auto found = contacts_.find(peer);
    if (found == contacts_.end()) return;
    found->second.state = State::connected;
    found->second.failures = 0;
}

void Contacts::on_disconnected(TimePoint now, PeerId peer) {
    const auto found = contacts_.find(peer);
    if (found == contacts_.end()) return;
    found->second.state = State::resting;
    found->second.next_try = now + pause(0) + (self_ < peer ? Duration{} : courtesy);
}

void Contacts::on_unreachable(TimePoint now, PeerId peer) {
    const auto found = contacts_.find(peer);
    if (found == contacts_.end() || found->second.state != State::dialling) return;
    Contact& contact = found->second;
    contact.state = State::resting;
    contact.next_try = now + pause(contact.failures);
    ++contact.failures;
}

Duration Contacts::pause(std::uint32_t failures) {
    const double grown = pause_seconds_min * static_cast<double>(1U << std::min(failures, 10U));
    const double jitter = 0.8 + 0.4 * rng_.uniform();
    return from_seconds(std::min(grown, pause_seconds_max) * jitter);
}

std::optional<Contacts::Dial> Contacts::next_dial(TimePoint now) {
    for (auto& [peer, contact] : contacts_) {
        if (contact.state != State::resting || contact.addresses.empty()) continue;
        if (contact.next_try > now) continue;
        contact.state = State::dialling;
        return Dial{.peer = peer, .addresses = contact.addresses};
    }
    return std::nullopt;
}

std::optional<TimePoint> Contacts::next_wakeup() const {
    std::optional<TimePoint> next;
    for (const auto& [peer, contact] : contacts_) {
        if (contact.state != State::resting || contact.addresses.empty()) continue;
        next = earlier(next, contact.next_try);
    }
    return next;
}

bool Contacts::is_dialling(PeerId peer) const {
    const auto found = contacts_.find(peer);
    return found != contacts_.end() && found->second.state == State::dialling;
}

std::vector<std::string> Contacts::addresses(PeerId peer) const {
    const auto found = contacts_.find(peer);
    return found == contacts_.end() ? std::vector<std::string>{} : found->second.addresses;
}

}  // namespace p2p::core
