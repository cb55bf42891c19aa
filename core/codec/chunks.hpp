#pragma once

// An encoded shard in pieces that fit a frame, and whole again, across broken connections.
//
// Pieces are cut by position alone, so both ends know all ranges from the length, and a piece may
// come twice or in any order. Which pieces are held travels as a bitmap when a link comes back.
// The length is the one that the layout and the codec say, never one from the wire.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/result.hpp"

namespace p2p::core {

struct ChunkRange {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;

    bool operator==(const ChunkRange&) const = default;
};

/// Pieces that `total` bytes are cut into.
[[nodiscard]] std::size_t chunk_count(std::uint64_t total);

/// @pre index < chunk_count(total)
[[nodiscard]] ChunkRange chunk_at(std::uint64_t total, std::size_t index);

/// All pieces in order; they cover [0, total) without gaps, and only the last one is short.
[[nodiscard]] std::vector<ChunkRange> split(std::uint64_t total);

/// The pieces that the sender of `held` (a bitmap as of ChunkAssembly::held) lacks. Errors:
/// wrong_size for a bitmap of another length, malformed for a bit past the last piece.
[[nodiscard]] Result<std::vector<ChunkRange>> missing_chunks(std::uint64_t total, ByteView held);

class ChunkAssembly {
  public:
    /// Room for `total` bytes is taken when the first piece comes.
    explicit ChunkAssembly(std::uint64_t total);

    ChunkAssembly(const ChunkAssembly&) = delete;
    ChunkAssembly& operator=(const ChunkAssembly&) = delete;
    ChunkAssembly(ChunkAssembly&&) = default;
    ChunkAssembly& operator=(ChunkAssembly&&) = default;
    ~ChunkAssembly() = default;

    /// True where the piece was new, false where it was held already (the first one stays). Errors:
    /// wrong_size for a range that is no piece of `total`; they change nothing.
    /// @pre take() has not been called
    Result<bool> accept(std::uint64_t offset, ByteView piece);

    [[nodiscard]] bool is_complete() const { return bytes_held_ == total_; }

    [[nodiscard]] std::uint64_t bytes_held() const { return bytes_held_; }

    /// One bit a piece, least significant first; bits past the last piece are 0.
    [[nodiscard]] const Bytes& held() const { return held_; }

    /// The whole; the assembly is spent. @pre is_complete(), not taken before
    [[nodiscard]] Bytes take();

  private:
    std::uint64_t total_;
    std::uint64_t bytes_held_ = 0;
    Bytes held_;
    Bytes bytes_;
    bool is_taken_ = false;
};

}  // namespace p2p::core
