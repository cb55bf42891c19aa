#pragma once

// What waits to be sealed, and in which order it goes.
//
// Session frames before control messages before bulk. Nothing is sealed until its record is asked
// for, so a ping that comes late still overtakes all the bulk that waits here. Control messages
// share a record; a piece of bulk has one of its own and is sealed from where it lies.
// Both queues are bounded. When records are asked for is left to session.

#include <cstdint>
#include <deque>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "proto/cipher.hpp"
#include "proto/frame.hpp"

namespace p2p::proto {

/// A slice of a shared buffer, behind a small header of the caller's: one frame.
struct BulkPiece {
    std::uint16_t stream = 0;
    core::Bytes header;                       ///< <= bulk_header_bytes_max
    std::shared_ptr<const core::Bytes> body;  ///< kept alive until sealed
    std::size_t offset = 0;                   ///< of the slice in `body`
    std::size_t length = 0;                   ///< to limits::chunk_bytes_max; 0: header only
};

class Outbox {
  public:
    /// A frame of the session itself; it goes before everything else.
    void push_session_frame(FrameKind kind, core::ByteView body);

    /// `too_large` where the message exceeds its limit or the queue is full; then it is not queued.
    [[nodiscard]] core::Status push_control(core::Bytes message);

    /// `too_large` where more than limits::unacknowledged_bulk_bytes_max would wait.
    /// @pre the slice lies in its body, the lengths are within their limits, and not both are 0
    [[nodiscard]] core::Status push_bulk(BulkPiece piece);

    /// Forgets what has not been sealed.
    void clear();

    /// The same, but for session frames.
    void clear_messages();

    [[nodiscard]] std::size_t control_bytes() const { return control_bytes_; }

    [[nodiscard]] std::size_t bulk_bytes() const { return bulk_bytes_; }

    /// The size on the wire of the record that goes next; 0 where nothing waits.
    [[nodiscard]] std::size_t next_record_bytes() const;

    /// Seals that record; false once the key has sealed all that it may.
    /// @pre out.size() == next_record_bytes() > 0
    [[nodiscard]] bool seal_record(Sealer& sealer, core::MutableByteView out);

    struct Counts {
        std::uint64_t control = 0;
        std::uint64_t bulk = 0;
    };

    /// What has been sealed so far.
    [[nodiscard]] const Counts& counts() const { return counts_; }

  private:
    [[nodiscard]] std::size_t control_messages_that_fit() const;
    [[nodiscard]] bool seal_control(Sealer& sealer, core::MutableByteView out);
    [[nodiscard]] bool seal_bulk(Sealer& sealer, core::MutableByteView out);

    core::Bytes session_frames_;  ///< whole frames, one after the other
    std::deque<core::Bytes> control_;
    std::deque<BulkPiece> bulk_;
    std::size_t control_bytes_ = 0;
    std::size_t bulk_bytes_ = 0;
    Counts counts_;
};

/// Writes the length of a record before its place and seals the pieces into it.
/// @pre out.size() == record_overhead_bytes + the sum of the pieces
[[nodiscard]] bool seal_as_record(
    Sealer& sealer, std::span<const core::ByteView> pieces, core::MutableByteView out);

}  // namespace p2p::proto
