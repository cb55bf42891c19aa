#include "core/codec/chunks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

constexpr std::uint64_t piece_bytes = limits::chunk_bytes_max;

std::size_t bitmap_bytes(std::uint64_t total) {
    return (chunk_count(total) + 7) / 8;
}

bool has_bit(ByteView bitmap, std::size_t index) {
    return (bitmap[index / 8] >> (index % 8) & 1U) != 0;
}

Error refused(ErrorCode code, std::string what, std::string why) {
    return Error{
        .code = code,
        .what = std::move(what),
        .why = std::move(why),
        .next = "compare the versions of both ends"};
}

}  // namespace

std::size_t chunk_count(std::uint64_t total) {
    return static_cast<std::size_t>(total / piece_bytes + (total % piece_bytes != 0 ? 1 : 0));
}

ChunkRange chunk_at(std::uint64_t total, std::size_t index) {
    P2P_CHECK(index < chunk_count(total));
    const std::uint64_t offset = index * piece_bytes;
    return {
        .offset = offset,
        .length = static_cast<std::uint32_t>(std::min(piece_bytes, total - offset))};
}

std::vector<ChunkRange> split(std::uint64_t total) {
    std::vector<ChunkRange> ranges;
    ranges.reserve(chunk_count(total));
    for (std::size_t index = 0; index < chunk_count(total); ++index) {
        ranges.push_back(chunk_at(total, index));
    }
    return ranges;
}

Result<std::vector<ChunkRange>> missing_chunks(std::uint64_t total, ByteView held) {
    if (held.size() != bitmap_bytes(total)) {
        return refused(
            ErrorCode::wrong_size,
            "bitmap of pieces refused",
            std::to_string(held.size()) + " bytes for " + std::to_string(chunk_count(total))
                + " pieces");
    }
    for (std::size_t bit = chunk_count(total); bit < held.size() * 8; ++bit) {
        if (!has_bit(held, bit)) continue;
        return refused(
            ErrorCode::malformed, "bitmap of pieces refused", "a bit past the last piece is set");
    }
    std::vector<ChunkRange> missing;
    for (std::size_t index = 0; index < chunk_count(total); ++index) {
        if (!has_bit(held, index)) missing.push_back(chunk_at(total, index));
    }
    return missing;
}

ChunkAssembly::ChunkAssembly(std::uint64_t total)
    : total_(total),
      held_(bitmap_bytes(total)) {}

Result<bool> ChunkAssembly::accept(std::uint64_t offset, ByteView piece) {
    P2P_CHECK(!is_taken_);
    const auto index = static_cast<std::size_t>(offset / piece_bytes);
    const bool is_piece = offset < total_ && offset % piece_bytes == 0
                          && piece.size() == chunk_at(total_, index).length;
    if (!is_piece) {
        return refused(
            ErrorCode::wrong_size,
            "piece of a shard refused",
            std::to_string(piece.size()) + " bytes at " + std::to_string(offset)
                + " are no piece of " + std::to_string(total_));
    }
    if (has_bit(held_, index)) return false;

    if (bytes_.empty()) bytes_.resize(static_cast<std::size_t>(total_));
    std::copy(piece.begin(), piece.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    held_[index / 8] = static_cast<std::uint8_t>(held_[index / 8] | 1U << (index % 8));
    bytes_held_ += piece.size();
    return true;
}

Bytes ChunkAssembly::take() {
    P2P_CHECK(is_complete() && !is_taken_);
    is_taken_ = true;
    return std::exchange(bytes_, {});
}

}  // namespace p2p::core
