// Bytes from a peer against every codec: refused, or decoded to exactly the floats of the layout.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/check.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/edge.hpp"
#include "core/codec/form_modulo.hpp"
#include "core/codec/kernels.hpp"

namespace {

using p2p::core::Bytes;
using p2p::core::ByteView;
using p2p::core::CodecId;
using p2p::core::Coding;
using p2p::core::EdgeCodec;

const p2p::core::Kernels& table() {
    return p2p::core::kernels(p2p::core::best_kernel_level());
}

/// What stands for nothing without the receiver's own value.
bool is_modulo(Coding coding) {
    return modulo_bits(coding.codec) > 0 && !coding.keyframe;
}

constexpr std::array<Coding, 17> codings{{
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
    {CodecId::modulo_1, true},
    {CodecId::modulo_1, false},
    {CodecId::modulo_2, false},
    {CodecId::modulo_4, false},
    {CodecId::modulo_8, false},
}};

/// Random bytes hardly ever fit a header, so the input may also be a payload with a true one.
Bytes with_header(Coding coding, ByteView payload, std::size_t floats) {
    const std::uint64_t seed = is_modulo(coding) ? p2p::core::modulo_seed(3) : 0;
    Bytes bytes = p2p::core::start_encoding(coding, floats, seed);
    const std::size_t room = bytes.size() - p2p::core::encoding_header_bytes;
    const std::size_t count = payload.size() < room ? payload.size() : room;
    if (count != 0) {
        std::memcpy(bytes.data() + p2p::core::encoding_header_bytes, payload.data(), count);
    }
    return bytes;
}

/// The payload as it comes into an edge whose last swap was a keyframe of zeros.
void decode_in_edge(Coding coding, ByteView bytes, std::size_t floats) {
    const std::vector<float> zeros(floats);
    EdgeCodec edge(floats, /*self_is_low=*/true, table());
    if (has_keyframe(coding.codec) && !coding.keyframe) {
        const auto first = edge.encode(zeros, coding.codec, /*keyframe=*/true, 1);
        P2P_CHECK(edge.decode(*first.bytes, coding.codec, /*keyframe=*/true).is_ok());
        edge.commit();
    }
    if (!edge.encode(zeros, coding.codec, coding.keyframe, 1).finite) return;
    if (!edge.decode(bytes, coding.codec, coding.keyframe)) return;
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

    if (!is_modulo(coding)) {
        std::vector<float> out(floats);
        if (p2p::core::decode(table(), coding, came, out)) {
            P2P_CHECK(came.size() == encoded_bytes(coding.codec, floats, coding.keyframe));
        }
    }
    decode_in_edge(coding, with_header(coding, came, floats), floats);
    return 0;
}
