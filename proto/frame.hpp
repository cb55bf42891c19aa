#pragma once

// Frames within a record, and records within the stream of bytes.
//
// On the stream stands a record after the other: a length (u16, little-endian like everything of
// ours) and that many sealed bytes, which are one Noise transport message. Opened, a record holds
// one or more frames: {kind u8, flags u8, stream u16, length u16} and `length` bytes.
// Both readers bound what they are given before they look at it. Sealing, and which frame may come
// when, is left to cipher and session.

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/result.hpp"
#include "proto/sodium.hpp"

namespace p2p::proto {

inline constexpr std::size_t record_prefix_bytes = 2;
inline constexpr std::size_t frame_header_bytes = 6;
inline constexpr std::size_t record_plain_bytes_max =
    core::limits::noise_message_bytes_max - aead_tag_bytes;
inline constexpr std::size_t record_overhead_bytes = record_prefix_bytes + aead_tag_bytes;
inline constexpr std::size_t bulk_header_bytes_max = 64;

static_assert(
    frame_header_bytes + bulk_header_bytes_max + core::limits::chunk_bytes_max
    <= record_plain_bytes_max);
static_assert(
    frame_header_bytes + core::limits::control_message_bytes_max <= record_plain_bytes_max);

enum class FrameKind : std::uint8_t {
    hello = 1,    ///< who speaks; once, before everything else
    confirm = 2,  ///< your Hello is accepted; empty
    control = 3,  ///< one message in MessagePack
    bulk = 4,     ///< a small fixed header of the caller's, then raw tensor bytes
    rekey = 5,    ///< alone in its record; the next record has the next key; empty
    close = 6,    ///< the session ends, and why
};

struct Frame {
    FrameKind kind = FrameKind::control;
    std::uint16_t stream = 0;  ///< 0 but for bulk
    core::ByteView body;       ///< lies in the record
};

/// @pre out.size() == frame_header_bytes and length fits 16 bits
void write_frame_header(
    FrameKind kind, std::uint16_t stream, std::size_t length, core::MutableByteView out);

/// Header and body, appended.
void append_frame(FrameKind kind, core::ByteView body, core::Bytes& out);

/// Gives the frames of one opened record, which must outlive the reader.
class FrameReader {
  public:
    explicit FrameReader(core::ByteView record)
        : rest_(record) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    /// The next frame, or `malformed`, `too_large`, `unsupported`; after that the record is void.
    /// @pre !at_end()
    [[nodiscard]] core::Result<Frame> next();

    /// The frames not yet read: a reader of these goes on from here.
    [[nodiscard]] core::ByteView rest() const { return rest_; }

  private:
    core::ByteView rest_;
};

/// Cuts the stream into sealed records, wherever the socket cut it.
class RecordReader {
  public:
    /// The next whole record, or nothing while it is incomplete; always moves `input` forward.
    ///
    /// The view lies in `input` or in the reader and lasts until the next call. `wrong_size` where
    /// the length is too small for a frame or more than `record_bytes_max`.
    [[nodiscard]] core::Result<std::optional<core::ByteView>> next(
        core::ByteView& input, std::size_t record_bytes_max);

  private:
    void collect(core::ByteView& input, std::size_t until);

    core::Bytes partial_;     ///< prefix and as much of the record as has come
    bool is_served_ = false;  ///< partial_ was given out whole and can go
};

}  // namespace p2p::proto
