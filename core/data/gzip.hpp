#pragma once

// gzip, read a piece at a time into buffers that the caller has sized; the one file with zlib.
//
// The compressed bytes never decide how much is allocated: who reads knows how much to expect,
// from a header that he has checked, and asks for that much and then for the end.

#include <cstddef>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace p2p::core {

/// No deflate stream grows by more than this factor when it is opened (zlib.net/zlib_tech.html).
inline constexpr std::size_t gzip_ratio_max = 1032;

/// Whether `bytes` begin like a gzip file.
[[nodiscard]] bool is_gzip(ByteView bytes);

class GzipReader {
  public:
    /// Reads from `compressed`, which must live as long as the reader.
    explicit GzipReader(ByteView compressed);
    ~GzipReader();

    GzipReader(const GzipReader&) = delete;
    GzipReader& operator=(const GzipReader&) = delete;

    /// Fills `out` whole: `wrong_size` where the contents end before that, `malformed` where they
    /// are damaged. After an error, every call fails.
    [[nodiscard]] Status read(MutableByteView out);

    /// Ok where the contents end here, their checksum fits, and nothing follows in the file.
    [[nodiscard]] Status finish();

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace p2p::core
