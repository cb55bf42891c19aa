#pragma once

// Writes what the data room reads: IDX files and gzip around them.
// For tests of parsers: what it makes is right unless the test spoils it.

#include <cstdint>
#include <vector>

#include <zlib.h>

#include "core/base/bytes.hpp"

namespace p2p::core {

inline Bytes idx_bytes(const std::vector<std::uint32_t>& shape, const Bytes& values) {
    Bytes file{0, 0, 8, static_cast<std::uint8_t>(shape.size())};
    for (const std::uint32_t extent : shape) {
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            file.push_back(static_cast<std::uint8_t>(extent >> shift));
    }
    file.insert(file.end(), values.begin(), values.end());
    return file;
}

inline Bytes gzipped(const Bytes& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes out(deflateBound(&stream, bytes.size()) + 32);
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}  // namespace p2p::core
