#include "daemon/half_open.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace p2p::daemon {
namespace {

constexpr std::array<std::uint8_t, 12> v4_inside_v6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

double filled(double tokens, core::Duration since) {
    const double gained = core::to_seconds(since) * core::limits::handshakes_a_second_address;
    return std::min(tokens + gained, core::limits::handshakes_burst_address);
}

}  // namespace

AddressPrefix address_prefix(core::ByteView address) {
    P2P_CHECK(address.size() == 4 || address.size() == 16);
    AddressPrefix prefix;
    const bool is_v6 = address.size() == 16;
    if (is_v6 && std::equal(v4_inside_v6.begin(), v4_inside_v6.end(), address.begin())) {
        std::copy_n(address.begin() + v4_inside_v6.size(), 4, prefix.bytes.begin());
        return prefix;
    }
    prefix.is_v6 = is_v6;
    std::copy_n(address.begin(), is_v6 ? 8 : 4, prefix.bytes.begin());
    return prefix;
}

HalfOpenLimits::Admission HalfOpenLimits::on_accepted(
    core::TimePoint now, const AddressPrefix& from) {
    Admission admission;
    if (!take_token(now, from)) return admission;

    Bucket& bucket = buckets_.at(from);
    const bool is_address_full = bucket.half_open >= core::limits::half_open_address_max;
    const bool is_all_full = connections_.size() >= core::limits::half_open_total_max;
    if (is_address_full || is_all_full) {
        admission.evicted = oldest_silent(now, is_address_full ? &from : nullptr);
        if (!admission.evicted) return admission;
        remove(*admission.evicted);
    }

    const HalfOpenId id = next_id_++;
    connections_.emplace(id, Connection{from, now});
    bucket.half_open += 1;
    admission.admitted = id;
    return admission;
}

void HalfOpenLimits::on_authenticated(HalfOpenId id) {
    const auto connection = connections_.find(id);
    if (connection == connections_.end()) return;
    Bucket& bucket = buckets_.at(connection->second.from);
    bucket.tokens = std::min(bucket.tokens + 1, core::limits::handshakes_burst_address);
    remove(id);
}

void HalfOpenLimits::on_closed(HalfOpenId id) {
    if (connections_.contains(id)) remove(id);
}

bool HalfOpenLimits::take_token(core::TimePoint now, const AddressPrefix& from) {
    if (!buckets_.contains(from)) {
        if (buckets_.size() >= addresses_remembered_max) forget_idle_buckets(now);
        // So many addresses at once are an attack; who is remembered is served, new ones wait.
        if (buckets_.size() >= addresses_remembered_max) return false;
        buckets_.emplace(from, Bucket{.at = now});
    }
    Bucket& bucket = buckets_.at(from);
    bucket.tokens = filled(bucket.tokens, now - bucket.at);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
}

std::optional<HalfOpenId> HalfOpenLimits::oldest_silent(
    core::TimePoint now, const AddressPrefix* from) const {
    for (const auto& [id, connection] : connections_) {
        if (from != nullptr && connection.from != *from) continue;
        if (now - connection.since < patience) return std::nullopt;  // The rest is younger still.
        return id;
    }
    return std::nullopt;
}

void HalfOpenLimits::forget_idle_buckets(core::TimePoint now) {
    std::erase_if(buckets_, [now](const auto& item) {
        const Bucket& bucket = item.second;
        const bool is_full =
            filled(bucket.tokens, now - bucket.at) >= core::limits::handshakes_burst_address;
        return is_full && bucket.half_open == 0;
    });
}

void HalfOpenLimits::remove(HalfOpenId id) {
    const auto connection = connections_.find(id);
    P2P_CHECK(connection != connections_.end());
    buckets_.at(connection->second.from).half_open -= 1;
    connections_.erase(connection);
}

}  // namespace p2p::daemon
