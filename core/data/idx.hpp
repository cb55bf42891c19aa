#pragma once

// IDX, the format of the MNIST family: a magic number, big-endian extents, then one byte a value.
//
// (yann.lecun.com/exdb/mnist.) Only unsigned bytes in one to three dimensions are read. The header
// is checked against the limit and against what the file can hold before anything is allocated.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace p2p::core {

struct IdxArray {
    std::vector<std::uint32_t> shape;  ///< one to three extents, none of them 0
    Bytes values;                      ///< row-major; as many as the product of the extents

    bool operator==(const IdxArray&) const = default;
};

/// Reads a whole IDX file, plain or gzipped.
///
/// `unsupported` for other types or dimensions, `malformed` for what is no IDX at all, `too_large`
/// beyond limits::idx_bytes_max, `wrong_size` where there are fewer or more bytes than promised.
[[nodiscard]] Result<IdxArray> parse_idx(ByteView file);

}  // namespace p2p::core
