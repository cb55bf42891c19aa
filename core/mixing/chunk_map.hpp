#pragma once

// Which pieces of one encoded value are there: a bit a chunk, as SwapState tells it.
// Places only: the bytes themselves are kept by whoever does the work.

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"

namespace p2p::core {

class ChunkMap {
  public:
    ChunkMap() = default;

    explicit ChunkMap(std::uint64_t total_bytes)
        : total_(total_bytes),
          count_((total_bytes + chunk_bytes - 1) / chunk_bytes),
          bits_((count_ + 7) / 8) {}

    [[nodiscard]] std::uint64_t total_bytes() const { return total_; }

    [[nodiscard]] std::uint64_t count() const { return count_; }

    [[nodiscard]] bool is_complete() const { return held_ == count_; }

    [[nodiscard]] const Bytes& bits() const { return bits_; }

    /// Bytes of chunk `index`. @pre index < count()
    [[nodiscard]] std::uint32_t length_of(std::uint64_t index) const {
        const std::uint64_t left = total_ - index * chunk_bytes;
        return static_cast<std::uint32_t>(left < chunk_bytes ? left : chunk_bytes);
    }

    /// Whether a piece at `offset` of `length` bytes is one of the chunks.
    [[nodiscard]] bool fits(std::uint64_t offset, std::uint64_t length) const {
        return offset % chunk_bytes == 0 && offset < total_
               && length == length_of(offset / chunk_bytes);
    }

    [[nodiscard]] bool has(std::uint64_t index) const {
        return ((bits_[index / 8] >> (index % 8)) & 1U) != 0;
    }

    void add(std::uint64_t index) {
        if (has(index)) return;
        bits_[index / 8] = static_cast<std::uint8_t>(bits_[index / 8] | (1U << (index % 8)));
        ++held_;
    }

    /// Takes over what the other end says it holds; a map of another size says: nothing.
    void set_bits(const Bytes& bits) {
        *this = ChunkMap(total_);
        if (bits.size() != bits_.size()) return;
        for (std::uint64_t i = 0; i < count_; ++i) {
            if (((bits[i / 8] >> (i % 8)) & 1U) != 0) add(i);
        }
    }

    static constexpr std::uint64_t chunk_bytes = limits::chunk_bytes_max;

  private:
    std::uint64_t total_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t held_ = 0;
    Bytes bits_;
};

}  // namespace p2p::core
