#pragma once

// Blobs by their hash: whole ones that this node serves, and those whose pieces are still coming.
//
// A size from the wire allocates nothing beyond what the job can need. Whether a whole one is what
// its hash says is found out by a worker; until then it is neither served nor adopted.

#include <cstdint>
#include <map>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"

namespace p2p::daemon {

struct BlobPiece {
    std::uint64_t offset = 0;
    std::uint64_t total = 0;  ///< of the whole blob
    std::shared_ptr<const core::Bytes> bytes;
};

class BlobStore {
  public:
    /// A blob of which this node knows that its hash fits.
    void put(core::BlobHash hash, std::shared_ptr<const core::Bytes> bytes);

    /// Keeps a piece; pieces may come twice and in any order. Errors: too_large beyond `bytes_max`,
    /// wrong_size for a piece outside of the whole or another total; they change nothing.
    core::Status store(core::BlobHash hash, const BlobPiece& piece, std::uint64_t bytes_max);

    /// All pieces of it have come; null where not. Its hash may not fit.
    [[nodiscard]] std::shared_ptr<const core::Bytes> whole(core::BlobHash hash) const;

    /// To be served or adopted; null where it is not held, not whole or not checked.
    [[nodiscard]] std::shared_ptr<const core::Bytes> trusted(core::BlobHash hash) const;

    /// Its hash was found to fit.
    void set_trusted(core::BlobHash hash);

    void drop(core::BlobHash hash) { blobs_.erase(hash); }

  private:
    struct Blob {
        std::shared_ptr<core::Bytes> partial;         ///< null once whole
        std::map<std::uint64_t, std::uint64_t> held;  ///< begin -> end, apart from each other
        std::shared_ptr<const core::Bytes> bytes;
        bool is_trusted = false;
    };

    static void add_range(Blob& blob, std::uint64_t begin, std::uint64_t end);

    std::map<core::BlobHash, Blob> blobs_;
};

}  // namespace p2p::daemon
