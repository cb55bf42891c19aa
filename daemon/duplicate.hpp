#pragma once

// Which of two sessions between one pair of nodes stays.
//
// Both ends decide alone and must agree. When both dial at once, the session dialled by the lower
// id stays. But a session that its other end has lost (a reset that never came, a node that was
// killed) must not keep the new one out: signs of that come first.

#include "core/base/limits.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::daemon {

struct SessionFacts {
    bool dialled_here = false;
    core::Incarnation incarnation;  ///< of the other end
    core::TimePoint up_since;
    core::TimePoint last_heard;
};

/// A live other end says something at least this often, since idle links are pinged.
inline constexpr core::Duration silence_max = std::chrono::milliseconds{2500};

/// Two dials that did not know of each other come up within this time. A node that has a session
/// does not dial, so whoever dials later has lost his.
inline constexpr core::Duration crossing_time_max = 2 * core::limits::handshake_time_max;

enum class Stays : std::uint8_t { older, newer };

/// @param self_is_low whether this end's id is the lower one of the pair
[[nodiscard]] inline Stays which_stays(
    core::TimePoint now, bool self_is_low, const SessionFacts& older, const SessionFacts& newer) {
    if (newer.incarnation != older.incarnation) {
        return newer.incarnation > older.incarnation ? Stays::newer : Stays::older;
    }
    if (now - older.last_heard >= silence_max) return Stays::newer;
    if (newer.dialled_here == older.dialled_here) return Stays::newer;
    if (now - older.up_since >= crossing_time_max) return Stays::newer;
    return newer.dialled_here == self_is_low ? Stays::newer : Stays::older;
}

}  // namespace p2p::daemon
