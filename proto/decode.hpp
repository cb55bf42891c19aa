#pragma once

// Bytes to messages, trusting nothing: length, then shape, then signature, then meaning.
//
// What comes back is whole, within limits.hpp and proto/meaning, and, where it is a record,
// verified as its author's; signed_bytes are kept for passing on. Each message has exactly one
// encoding, and only that one is taken. Whether the sender may say it is left to core.

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/node/message.hpp"

namespace p2p::proto {

/// A control message. `forged`: a signature does not fit or the author speaks for another;
/// `unsupported`: a kind that this release does not know; else what is wrong with the bytes.
[[nodiscard]] core::Result<core::Message> decode_control(core::ByteView bytes);

/// A bulk frame: a SwapChunk or BlobChunk, whose bytes are copied once.
[[nodiscard]] core::Result<core::Message> decode_bulk(core::ByteView frame);

}  // namespace p2p::proto
