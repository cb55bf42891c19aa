#pragma once

// What every doer of a Decode answers: the peer's value rebuilt beside the own one, and measured.
//
// Daemon and simulator differ in where bytes come from and on which thread this runs, not in what
// both ends of a swap must agree on. It stands here since rooms do not include each other.

#include "core/base/result.hpp"
#include "core/codec/edge.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

/// Rebuilds the peer's value from `bytes` and measures both. Errors: conflict where it decodes, and
/// there is no own value to hold it against.
[[nodiscard]] inline Result<Decoded> decode_and_measure(
    EdgeCodec& codec, const Decode& order, ByteView bytes) {
    const Status status = codec.decode(bytes, order.codec, order.keyframe);
    Decoded decoded;
    decoded.within_theta = !is_theta_exceeded(status);
    decoded.well_formed = status.is_ok() || !decoded.within_theta;
    if (!status) return decoded;
    if (!codec.is_complete()) {
        return Error{ErrorCode::conflict, "a swap has no own value", "it was dropped", ""};
    }
    const SwapStats stats = codec.stats();
    decoded.finite = stats.finite;
    decoded.distance = stats.distance;
    decoded.own_norm = stats.own_norm;
    decoded.remote_norm = stats.remote_norm;
    decoded.peer_theta_factor = stats.remote_theta_factor;
    decoded.hash = codec.swap_hash();
    return decoded;
}

}  // namespace p2p::core
