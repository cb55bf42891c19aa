#include "core/codec/form_modulo.hpp"

#include <algorithm>
#include <bit>

#include "core/base/check.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/form.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t digest_bytes = 4;

std::size_t code_bytes(std::uint32_t bits, std::size_t floats) {
    return (floats * bits + 7) / 8;
}

struct Block {
    std::size_t first = 0;
    std::size_t floats = 0;
    std::size_t at = 0;  ///< byte of the encoding
    ModuloGrid grid{};
};

Block block_of(
    std::size_t index, std::size_t floats, const ThetaTerms& terms, const ModuloBase& base) {
    const std::size_t first = index * modulo_block_floats;
    const std::size_t whole = digest_bytes + code_bytes(terms.bits, modulo_block_floats);
    return {
        .first = first,
        .floats = std::min(modulo_block_floats, floats - first),
        .at = encoding_header_bytes + index * whole,
        .grid = {
            .bits = terms.bits,
            .step = modulo_step(terms, base.spreads[index]),
            .phase = base.phase + static_cast<std::uint32_t>(index) * 0x85ebca6bU}};
}

template <std::uint32_t bits>
std::size_t modulo_bytes(std::size_t floats) {
    return modulo_block_count(floats) * digest_bytes
           + floats / modulo_block_floats * code_bytes(bits, modulo_block_floats)
           + code_bytes(bits, floats % modulo_block_floats);
}

bool is_factor(std::uint64_t seed) {
    const auto factor = std::bit_cast<float>(static_cast<std::uint32_t>(seed));
    return seed >> 32U == 0 && factor >= theta_factor_min && factor <= theta_factor_max;
}

/// The places of a short last block that hold no code, in its last bytes, are 0.
template <std::uint32_t bits>
Status check_modulo(ByteView payload, std::size_t floats) {
    const std::size_t rest = floats % modulo_block_floats;
    const std::size_t stride = code_bytes(bits, rest);
    const ByteView codes = payload.last(stride);
    for (std::size_t place = rest; place < stride * (8 / bits); ++place) {
        const std::uint32_t byte = codes[place % stride];
        if ((byte >> (place / stride * bits) & ((1U << bits) - 1)) == 0) continue;
        return refused_encoding(ErrorCode::malformed, "a code past the last float");
    }
    return {};
}

template <std::uint32_t bits>
constexpr Form form_of_modulo{
    .slice_unit = modulo_block_floats,
    .is_seed = is_factor,
    .payload_bytes = modulo_bytes<bits>,
    .encode = nullptr,
    .check = check_modulo<bits>,
    .decode = nullptr};

}  // namespace

const Form modulo1_form = form_of_modulo<1>;
const Form modulo2_form = form_of_modulo<2>;
const Form modulo4_form = form_of_modulo<4>;
const Form modulo8_form = form_of_modulo<8>;

std::uint64_t modulo_seed(float factor) {
    P2P_CHECK(factor >= theta_factor_min && factor <= theta_factor_max);
    return std::bit_cast<std::uint32_t>(factor);
}

ThetaTerms modulo_terms(ByteView encoding) {
    const EncodingHeader header = read_header(encoding);
    return {
        .bits = modulo_bits(header.coding.codec),
        .factor = std::bit_cast<float>(static_cast<std::uint32_t>(header.seed))};
}

void encode_modulo(
    const Kernels& kernels,
    FloatView values,
    const ModuloBase& base,
    MutableByteView encoding,
    MutableFloatView rebuilt) {
    const ThetaTerms terms = modulo_terms(encoding);
    P2P_CHECK(base.spreads.size() == modulo_block_count(values.size()));
    for (std::size_t i = 0; i < base.spreads.size(); ++i) {
        const Block block = block_of(i, values.size(), terms, base);
        std::uint8_t* out = encoding.data() + block.at;
        const std::uint32_t digest = kernels.encode_modulo(
            values.data() + block.first,
            block.floats,
            block.grid,
            out + digest_bytes,
            rebuilt.data() + block.first);
        store_le(out, digest);
    }
}

bool decode_modulo(
    const Kernels& kernels,
    ByteView encoding,
    FloatView own,
    const ModuloBase& base,
    MutableFloatView rebuilt) {
    const ThetaTerms terms = modulo_terms(encoding);
    P2P_CHECK(base.spreads.size() == modulo_block_count(own.size()));
    for (std::size_t i = 0; i < base.spreads.size(); ++i) {
        const Block block = block_of(i, own.size(), terms, base);
        const std::uint8_t* in = encoding.data() + block.at;
        const std::uint32_t digest = kernels.decode_modulo(
            in + digest_bytes,
            own.data() + block.first,
            block.floats,
            block.grid,
            rebuilt.data() + block.first);
        if (digest != load_le<std::uint32_t>(in)) return false;
    }
    return true;
}

}  // namespace p2p::core
