// Messages from anybody: what is taken is within the limits and has exactly these bytes.
//
// The first byte chooses the door: control, bulk, or the content of a record that is then validly
// signed around it, since no fuzzer forges a signature but any member may sign nonsense.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "proto/decode.hpp"
#include "proto/encode.hpp"
#include "proto/msgpack.hpp"
#include "proto/wire_kinds.hpp"

namespace {

using p2p::core::Bytes;
using p2p::core::ByteView;
namespace proto = p2p::proto;

const proto::Identity& member() {
    static const auto identity = proto::Identity::from_seed(proto::SecretKey{});
    return identity;
}

void try_control(ByteView bytes) {
    const auto message = proto::decode_control(bytes);
    if (!message) return;
    const Bytes again = proto::encode_control(*message, member());
    P2P_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

void try_bulk(ByteView bytes) {
    const auto message = proto::decode_bulk(bytes);
    if (!message) return;
    Bytes header;
    if (const auto* chunk = std::get_if<p2p::core::SwapChunk>(&*message)) {
        header = proto::encode_swap_chunk_header(chunk->key, chunk->offset, chunk->total);
    } else {
        const auto& blob = std::get<p2p::core::BlobChunk>(*message);
        if (blob.total == 0) return;  // any offset is allowed there, and none is written
        header = proto::encode_blob_chunk_header(blob.hash, blob.offset, blob.total);
    }
    P2P_CHECK(std::equal(header.begin(), header.end(), bytes.begin()));
}

/// The domain of the kind that `choice` falls on, then the fuzzer's content.
void try_signed(std::uint8_t choice, ByteView content) {
    if (content.size() > p2p::core::limits::signed_bytes_max) return;

    struct Kind {
        proto::WireKind kind;
        std::string_view name;
    };

    using proto::WireKind;
    static constexpr Kind kinds[] = {
        {WireKind::peer_records, "PeerRecord"},
        {WireKind::job_announcement, "JobAnnouncement"},
        {WireKind::job_report, "JobReport"},
        {WireKind::job_control, "JobControl"},
        {WireKind::job_end, "JobEnd"},
        {WireKind::final_model, "Final"},
    };
    const Kind& kind = kinds[choice % std::size(kinds)];
    Bytes signed_bytes = p2p::core::to_bytes(p2p::core::as_bytes(proto::signed_domain));
    const auto name = p2p::core::as_bytes(kind.name);
    signed_bytes.insert(signed_bytes.end(), name.begin(), name.end());
    signed_bytes.insert(signed_bytes.end(), content.begin(), content.end());

    proto::Packer out;
    const bool is_list = kind.kind == WireKind::peer_records;
    out.array(is_list ? 2 : 4).uint(static_cast<std::uint64_t>(kind.kind));
    if (is_list) out.array(1).array(3);
    out.binary(member().id().bytes).binary(signed_bytes).binary(member().sign(signed_bytes));
    try_control(out.bytes());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteView rest(data + 1, size - 1);
    const auto choice = static_cast<std::uint8_t>(data[0] / 3);
    switch (data[0] % 3) {
        case 0: try_control(rest); break;
        case 1: try_bulk(rest); break;
        default: try_signed(choice, rest); break;
    }
    return 0;
}
