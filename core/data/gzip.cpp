#include "core/data/gzip.hpp"

#include <algorithm>
#include <limits>

#include <zlib.h>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

Error damaged(std::string why) {
    return {
        ErrorCode::malformed,
        "the gzip file is damaged",
        std::move(why),
        "fetch the file again, or test it with gzip -t"};
}

Error too_short() {
    return {
        ErrorCode::wrong_size,
        "the gzip file holds too little",
        "its contents end before the size that their header promises",
        "fetch the file again"};
}

Error too_long(std::string why) {
    return {
        ErrorCode::wrong_size,
        "the gzip file holds too much",
        std::move(why),
        "fetch the file again, or unpack it with gunzip and compress it anew"};
}

}  // namespace

struct GzipReader::Stream {
    z_stream z{};
    ByteView rest;  ///< compressed bytes that zlib has not been given
    int state = Z_OK;
};

bool is_gzip(ByteView bytes) {
    return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

GzipReader::GzipReader(ByteView compressed)
    : stream_(std::make_unique<Stream>()) {
    constexpr int window_bits_gzip_only = 15 + 16;
    stream_->rest = compressed;
    P2P_CHECK(inflateInit2(&stream_->z, window_bits_gzip_only) == Z_OK);
}

GzipReader::~GzipReader() {
    inflateEnd(&stream_->z);
}

Status GzipReader::read(MutableByteView out) {
    constexpr std::size_t piece_bytes_max = std::numeric_limits<uInt>::max();
    Stream& s = *stream_;
    while (!out.empty()) {
        if (s.state == Z_STREAM_END) return too_short();
        if (s.state != Z_OK) return damaged(s.z.msg != nullptr ? s.z.msg : "it ends too early");
        if (s.z.avail_in == 0) {
            const std::size_t given = std::min(s.rest.size(), piece_bytes_max);
            s.z.next_in = const_cast<Bytef*>(s.rest.data());  // zlib only reads it
            s.z.avail_in = static_cast<uInt>(given);
            s.rest = s.rest.subspan(given);
        }
        const std::size_t wanted = std::min(out.size(), piece_bytes_max);
        s.z.next_out = out.data();
        s.z.avail_out = static_cast<uInt>(wanted);
        s.state = inflate(&s.z, Z_NO_FLUSH);
        out = out.subspan(wanted - s.z.avail_out);
    }
    return {};
}

Status GzipReader::finish() {
    Stream& s = *stream_;
    std::uint8_t beyond = 0;
    Status status = read({&beyond, 1});  // at the true end, this is what checks the checksum
    if (status) return too_long("its contents go on after the size that their header promises");
    if (s.state != Z_STREAM_END) return status;
    if (s.z.avail_in > 0 || !s.rest.empty()) return too_long("something follows its contents");
    return {};
}

}  // namespace p2p::core
