#pragma once

// One blob (a spec, a frozen state, a final model) on its way here, in order, from one holder at a
// time; what has come is never asked for again, also after the holder was lost.
//
// The bytes are kept elsewhere; the hash is checked when all have come, by who has the bytes.

#include <cstdint>
#include <optional>

#include "core/base/time.hpp"
#include "core/job/messages.hpp"

namespace p2p::core {

class BlobFetch {
  public:
    /// `bytes_max`: more than this is refused, whatever the holder says.
    BlobFetch(BlobHash hash, std::uint64_t bytes_max)
        : hash_(hash),
          bytes_max_(bytes_max) {}

    [[nodiscard]] const BlobHash& hash() const { return hash_; }

    [[nodiscard]] std::uint64_t total() const { return total_; }

    [[nodiscard]] const std::optional<PeerId>& source() const { return source_; }

    [[nodiscard]] bool is_complete() const { return total_ > 0 && held_ == total_; }

    /// Asks `source` for what is missing. It must answer within `patience`, and then go on.
    BlobRequest ask(TimePoint now, PeerId source, Duration patience) {
        source_ = source;
        patience_ = patience;
        deadline_ = now + patience;
        return {.hash = hash_, .offset = held_};
    }

    void on_source_lost() {
        source_.reset();
        deadline_.reset();
    }

    [[nodiscard]] std::optional<TimePoint> deadline() const { return deadline_; }

    enum class Verdict : std::uint8_t {
        keep,      ///< the next piece: keep its bytes
        skip,      ///< held already, or from somebody who was not asked
        not_held,  ///< the source does not hold the blob
        refuse,    ///< does not fit: the source is to be dropped
    };

    [[nodiscard]] Verdict on_chunk(TimePoint now, PeerId from, const BlobChunk& chunk) {
        if (from != source_) return Verdict::skip;
        if (chunk.total == 0) return Verdict::not_held;
        const std::uint64_t size = chunk.bytes->size();
        const bool fits = chunk.total <= bytes_max_ && (total_ == 0 || total_ == chunk.total)
                          && size > 0 && chunk.offset <= chunk.total
                          && size <= chunk.total - chunk.offset;
        if (!fits) return Verdict::refuse;
        if (chunk.offset != held_) return chunk.offset < held_ ? Verdict::skip : Verdict::refuse;
        total_ = chunk.total;
        held_ += size;
        deadline_ = now + patience_;
        return Verdict::keep;
    }

  private:
    BlobHash hash_;
    std::uint64_t bytes_max_;
    std::uint64_t total_ = 0;
    std::uint64_t held_ = 0;
    std::optional<PeerId> source_;
    Duration patience_{};
    std::optional<TimePoint> deadline_;
};

}  // namespace p2p::core
