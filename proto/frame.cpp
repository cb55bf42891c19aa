#include "proto/frame.hpp"

#include <algorithm>
#include <limits>

#include "core/base/check.hpp"
#include "proto/hello.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;

namespace {

Error bad_frame(ErrorCode code, std::string why) {
    return {code, "a frame is refused", std::move(why), "compare the releases of both ends"};
}

struct Bounds {
    std::size_t bytes_min;
    std::size_t bytes_max;
};

std::optional<Bounds> bounds_of(std::uint8_t kind) {
    switch (static_cast<FrameKind>(kind)) {
        case FrameKind::hello: return Bounds{1, hello_bytes_max};
        case FrameKind::confirm: return Bounds{0, 0};
        case FrameKind::control: return Bounds{1, core::limits::control_message_bytes_max};
        case FrameKind::bulk: return Bounds{1, record_plain_bytes_max - frame_header_bytes};
        case FrameKind::rekey: return Bounds{0, 0};
        case FrameKind::close: return Bounds{1, close_bytes_max};
    }
    return std::nullopt;
}

}  // namespace

void write_frame_header(
    FrameKind kind, std::uint16_t stream, std::size_t length, core::MutableByteView out) {
    P2P_CHECK(out.size() == frame_header_bytes);
    P2P_CHECK(length <= std::numeric_limits<std::uint16_t>::max());
    out[0] = static_cast<std::uint8_t>(kind);
    out[1] = 0;
    core::store_le(out.data() + 2, stream);
    core::store_le(out.data() + 4, static_cast<std::uint16_t>(length));
}

void append_frame(FrameKind kind, ByteView body, core::Bytes& out) {
    const std::size_t start = out.size();
    out.resize(start + frame_header_bytes);
    write_frame_header(
        kind, 0, body.size(), core::MutableByteView(out).subspan(start, frame_header_bytes));
    out.insert(out.end(), body.begin(), body.end());
}

Result<Frame> FrameReader::next() {
    P2P_CHECK(!at_end());
    if (rest_.size() < frame_header_bytes) {
        return bad_frame(ErrorCode::malformed, "its header is cut off");
    }
    const std::uint8_t kind = rest_[0];
    const std::uint8_t flags = rest_[1];
    const auto stream = core::load_le<std::uint16_t>(rest_.data() + 2);
    const std::size_t length = core::load_le<std::uint16_t>(rest_.data() + 4);
    rest_ = rest_.subspan(frame_header_bytes);

    const auto bounds = bounds_of(kind);
    if (!bounds) return bad_frame(ErrorCode::unsupported, "kind " + std::to_string(kind));
    if (flags != 0) return bad_frame(ErrorCode::unsupported, "flags " + std::to_string(flags));
    if (stream != 0 && static_cast<FrameKind>(kind) != FrameKind::bulk) {
        return bad_frame(ErrorCode::malformed, "a stream where none belongs");
    }
    if (length < bounds->bytes_min || length > bounds->bytes_max) {
        return bad_frame(
            ErrorCode::too_large,
            std::to_string(length) + " bytes in a frame of kind " + std::to_string(kind));
    }
    if (length > rest_.size()) return bad_frame(ErrorCode::malformed, "it is cut off");

    const Frame frame{static_cast<FrameKind>(kind), stream, rest_.first(length)};
    rest_ = rest_.subspan(length);
    return frame;
}

Result<std::optional<ByteView>> RecordReader::next(ByteView& input, std::size_t record_bytes_max) {
    if (is_served_) {
        partial_.clear();
        is_served_ = false;
    }
    // A record that lies whole in the input is not copied.
    const bool is_fresh = partial_.empty() && input.size() >= record_prefix_bytes;
    if (!is_fresh) collect(input, record_prefix_bytes);
    if (!is_fresh && partial_.size() < record_prefix_bytes) return std::optional<ByteView>{};

    const std::size_t length =
        core::load_le<std::uint16_t>(is_fresh ? input.data() : partial_.data());
    if (length < aead_tag_bytes + frame_header_bytes || length > record_bytes_max) {
        return Error{
            ErrorCode::wrong_size,
            "a record of " + std::to_string(length) + " bytes is refused",
            "at most " + std::to_string(record_bytes_max) + " may come now",
            "compare the releases of both ends"};
    }
    const std::size_t whole = record_prefix_bytes + length;
    if (is_fresh && input.size() >= whole) {
        const ByteView record = input.subspan(record_prefix_bytes, length);
        input = input.subspan(whole);
        return std::optional(record);
    }
    collect(input, whole);
    if (partial_.size() < whole) return std::optional<ByteView>{};
    is_served_ = true;
    return std::optional(ByteView(partial_).subspan(record_prefix_bytes));
}

void RecordReader::collect(ByteView& input, std::size_t until) {
    if (partial_.size() >= until) return;
    const ByteView piece = input.first(std::min(input.size(), until - partial_.size()));
    partial_.insert(partial_.end(), piece.begin(), piece.end());
    input = input.subspan(piece.size());
}

}  // namespace p2p::proto
