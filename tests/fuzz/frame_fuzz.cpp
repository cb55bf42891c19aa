// The frames of a record and the records of a stream, fed with anything.
//
// Frames that are read must write to the same bytes; records must be the same however the stream is
// cut.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/check.hpp"
#include "proto/frame.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ByteView;

void try_frames(ByteView record) {
    FrameReader reader(record);
    Bytes written;
    while (!reader.at_end()) {
        const auto frame = reader.next();
        if (!frame) return;
        const std::size_t start = written.size();
        append_frame(frame->kind, frame->body, written);
        core::store_le(written.data() + start + 2, frame->stream);
    }
    P2P_CHECK(written == core::to_bytes(record));
}

std::vector<Bytes> records_of(ByteView stream, std::size_t piece_bytes) {
    RecordReader reader;
    std::vector<Bytes> records;
    while (!stream.empty()) {
        ByteView piece = stream.first(std::min(stream.size(), piece_bytes));
        stream = stream.subspan(piece.size());
        while (!piece.empty()) {
            const auto record = reader.next(piece, core::limits::noise_message_bytes_max);
            if (!record) return records;
            if (record->has_value()) records.push_back(core::to_bytes(**record));
        }
    }
    return records;
}

}  // namespace
}  // namespace p2p::proto

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const p2p::core::ByteView bytes(data, size);
    p2p::proto::try_frames(bytes);
    const auto whole = p2p::proto::records_of(bytes, size);
    P2P_CHECK(whole == p2p::proto::records_of(bytes, std::size_t{data[0]} + 1));
    return 0;
}
