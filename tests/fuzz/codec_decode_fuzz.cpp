// Bytes from a peer against every codec: refused, or decoded to exactly the floats of the layout.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/check.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/edge.hpp"
#include "core/codec/kernels.hpp"

namespace {

using p2p::core::ByteView;
using p2p::core::CodecId;
using p2p::core::Coding;

constexpr std::array<Coding, 12> codings{{
    {CodecId::fp32, false},
    {CodecId::bf16, false},
    {CodecId::fp16, false},
    {CodecId::q8, false},
    {CodecId::q4, false},
    {CodecId::delta_q4, false},
    {CodecId::delta_q4, true},
    {CodecId::delta_q8, false},
    {CodecId::delta_q8, true},
    {CodecId::delta_topk16, false},
    {CodecId::delta_topk64, false},
    {CodecId::delta_topk256, false},
}};

/// Random bytes hardly ever fit a header, so the input may also be a payload with a true one.
void decode_payload(Coding coding, ByteView payload, std::size_t floats) {
    p2p::core::Bytes bytes = p2p::core::start_encoding(coding, floats, 0);
    const std::size_t room = bytes.size() - p2p::core::encoding_header_bytes;
    const std::size_t count = payload.size() < room ? payload.size() : room;
    if (count != 0) {
        std::memcpy(bytes.data() + p2p::core::encoding_header_bytes, payload.data(), count);
    }
    const auto& table = p2p::core::kernels(p2p::core::best_kernel_level());
    std::vector<float> out(floats);
    static_cast<void>(p2p::core::decode(table, coding, bytes, out));
    if (has_reference(coding.codec) && !coding.keyframe) return;
    p2p::core::EdgeCodec edge(floats, /*self_is_low=*/true, table);
    if (!edge.decode(bytes, coding.codec, coding.keyframe)) return;
    const std::vector<float> zeros(floats);
    if (!edge.encode(zeros, coding.codec, coding.keyframe, 1).finite) return;
    const auto stats = edge.stats();
    P2P_CHECK(!stats.finite || stats.distance >= 0);
    edge.commit();
}

}  // namespace

/// Two bytes choose the coding and the count that the layout says; the rest is what came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const Coding coding = codings[data[0] % codings.size()];
    const std::size_t floats = data[1] * std::size_t{37};
    const ByteView came(data + 2, size - 2);

    std::vector<float> out(floats);
    const auto& table = p2p::core::kernels(p2p::core::best_kernel_level());
    if (p2p::core::decode(table, coding, came, out)) {
        P2P_CHECK(came.size() == encoded_bytes(coding.codec, floats, coding.keyframe));
    }
    decode_payload(coding, came, floats);
    return 0;
}
