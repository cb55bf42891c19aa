#pragma once

// Messages to bytes; decode.hpp is the way back, WIRE.md the list of every byte.
//
// Control messages are messagepack arrays of fixed shape. Bulk (tensor bytes) stays raw behind a
// header of fixed size, so that nothing but the seal touches it. Records that this node makes are
// signed here; those of others are passed on byte for byte.

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/node/message.hpp"
#include "proto/keys.hpp"

namespace p2p::proto {

/// A control message, at most limits::control_message_bytes_max.
///
/// A record without signed_bytes is signed as `self`. Measures of an own report that are no numbers
/// (a diverged loss) go as the largest double, ratios are cut to [0, 1]; addresses of an own
/// record that do not fit limits::signed_bytes_max are left out, the last ones first.
/// @pre no chunk; sound (proto/meaning); the author of an unsigned record is `self`
[[nodiscard]] core::Bytes encode_control(const core::Message& message, const Identity& self);

/// What stands before the bytes of one chunk: swap_chunk_header_bytes.
[[nodiscard]] core::Bytes encode_swap_chunk_header(
    const core::SwapKey& key, std::uint64_t offset, std::uint64_t total);

/// blob_chunk_header_bytes; `total` 0 and no bytes after it: not held.
[[nodiscard]] core::Bytes encode_blob_chunk_header(
    const core::BlobHash& hash, std::uint64_t offset, std::uint64_t total);

/// The record signed as `self`: signed_bytes and signature are set. For those who keep or compare
/// a record's bytes before it is sent. @pre as encode_control
[[nodiscard]] core::Signed<core::PeerRecord> sign(core::PeerRecord value, const Identity& self);
[[nodiscard]] core::Signed<core::JobAnnouncement> sign(
    core::JobAnnouncement value, const Identity& self);
[[nodiscard]] core::Signed<core::JobReport> sign(core::JobReport value, const Identity& self);
[[nodiscard]] core::Signed<core::JobControl> sign(core::JobControl value, const Identity& self);
[[nodiscard]] core::Signed<core::JobEnd> sign(core::JobEnd value, const Identity& self);
[[nodiscard]] core::Signed<core::Final> sign(core::Final value, const Identity& self);

}  // namespace p2p::proto
