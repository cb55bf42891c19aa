#pragma once

// How many strangers may stand in the door: limits on connections that have not proved who they
// are (design: WIRE, "before authentication").
//
// 64 in all and 4 an address (/32, /64), and a token bucket an address (20 a second, burst of 5)
// that a handshake gives back when it succeeds. Where a limit is reached, the oldest connection
// that has been silent for a second makes room: an honest handshake is over by then, so a flood
// that says nothing cannot keep honest peers out. Arithmetic only: time is an argument, the
// listener owns the sockets.

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/time.hpp"

namespace p2p::daemon {

/// Whom a limit counts: an IPv4 address, or the /64 of an IPv6 address.
struct AddressPrefix {
    bool is_v6 = false;
    std::array<std::uint8_t, 8> bytes{};

    auto operator<=>(const AddressPrefix&) const = default;
};

/// @param address 4 bytes, or 16; an IPv4 address inside IPv6 (::ffff:a.b.c.d) counts as IPv4
[[nodiscard]] AddressPrefix address_prefix(core::ByteView address);

using HalfOpenId = std::uint64_t;

class HalfOpenLimits {
  public:
    /// After this long an unproved connection may be closed in favour of a new one.
    static constexpr core::Duration patience = std::chrono::seconds{1};
    static constexpr std::size_t addresses_remembered_max = 4096;

    struct Admission {
        std::optional<HalfOpenId> admitted;  ///< none: close it at once
        std::optional<HalfOpenId> evicted;   ///< close this one: it is no longer counted
    };

    /// A connection came.
    [[nodiscard]] Admission on_accepted(core::TimePoint now, const AddressPrefix& from);

    /// It has proved who it is: it is no longer half-open, and its token comes back.
    void on_authenticated(HalfOpenId id);

    /// It ended unproved. Nothing happens where it was evicted before.
    void on_closed(HalfOpenId id);

    [[nodiscard]] std::size_t half_open() const { return connections_.size(); }

  private:
    struct Connection {
        AddressPrefix from;
        core::TimePoint since;
    };

    struct Bucket {
        double tokens = core::limits::handshakes_burst_address;
        core::TimePoint at;
        std::size_t half_open = 0;
    };

    [[nodiscard]] bool take_token(core::TimePoint now, const AddressPrefix& from);
    [[nodiscard]] std::optional<HalfOpenId> oldest_silent(
        core::TimePoint now, const AddressPrefix* from) const;
    void forget_idle_buckets(core::TimePoint now);
    void remove(HalfOpenId id);

    HalfOpenId next_id_ = 1;
    std::map<HalfOpenId, Connection> connections_;  ///< ids rise with time: the first is the oldest
    std::map<AddressPrefix, Bucket> buckets_;
};

}  // namespace p2p::daemon
