// Bulk frames to messages (proto/decode): a raw header of fixed size, and raw bytes.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "proto/decode.hpp"
#include "proto/meaning.hpp"
#include "proto/wire_kinds.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
namespace limits = core::limits;

namespace {

Error bulk_fault(ErrorCode code, std::string_view why) {
    return {code, "a bulk frame cannot be read", std::string(why), ""};
}

template <typename T>
Result<core::Message> sound_chunk(T chunk) {
    const auto fault = fault_in(chunk);
    if (!fault.empty()) return bulk_fault(ErrorCode::invalid, fault);
    return core::Message{std::move(chunk)};
}

template <typename Tag>
core::Id<Tag> load_id(const std::uint8_t* at) {
    core::Id<Tag> id;
    std::copy(at, at + id.bytes.size(), id.bytes.begin());
    return id;
}

Result<core::Message> read_swap_chunk(ByteView frame) {
    if (frame.size() < swap_chunk_header_bytes) {
        return bulk_fault(ErrorCode::wrong_size, "shorter than its header");
    }
    const std::uint8_t* at = frame.data() + 1;
    core::SwapChunk chunk;
    chunk.key.job = load_id<core::JobTag>(at);
    chunk.key.shard.value = core::load_le<std::uint32_t>(at + 32);
    chunk.key.n.value = core::load_le<std::uint64_t>(at + 36);
    chunk.offset = core::load_le<std::uint64_t>(at + 44);
    chunk.total = core::load_le<std::uint64_t>(at + 52);
    chunk.bytes =
        std::make_shared<const core::Bytes>(core::to_bytes(frame.subspan(swap_chunk_header_bytes)));
    return sound_chunk(std::move(chunk));
}

Result<core::Message> read_blob_chunk(ByteView frame) {
    if (frame.size() < blob_chunk_header_bytes) {
        return bulk_fault(ErrorCode::wrong_size, "shorter than its header");
    }
    const std::uint8_t* at = frame.data() + 1;
    core::BlobChunk chunk;
    chunk.hash = load_id<core::BlobTag>(at);
    chunk.offset = core::load_le<std::uint64_t>(at + 32);
    chunk.total = core::load_le<std::uint64_t>(at + 40);
    chunk.bytes =
        std::make_shared<const core::Bytes>(core::to_bytes(frame.subspan(blob_chunk_header_bytes)));
    return sound_chunk(std::move(chunk));
}

}  // namespace

Result<core::Message> decode_bulk(ByteView frame) {
    if (frame.empty()) return bulk_fault(ErrorCode::wrong_size, "it is empty");
    if (frame.size() > swap_chunk_header_bytes + limits::chunk_bytes_max) {
        return bulk_fault(ErrorCode::too_large, "longer than a chunk");
    }
    if (frame[0] == static_cast<std::uint8_t>(WireKind::swap_chunk)) return read_swap_chunk(frame);
    if (frame[0] == static_cast<std::uint8_t>(WireKind::blob_chunk)) return read_blob_chunk(frame);
    return bulk_fault(ErrorCode::unsupported, "its kind is unknown");
}

}  // namespace p2p::proto
