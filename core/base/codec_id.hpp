#pragma once

// The names of the codecs: what a recipe asks for, what a swap agrees on, what codec/ implements.
//
// The numbers travel in SwapOpen: never change them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace p2p::core {

enum class CodecId : std::uint8_t {
    fp32 = 1,            ///< as it is
    bf16 = 2,            ///< rounded to nearest even
    q8 = 3,              ///< 8 bits, blocks of 256 with a scale, stochastic rounding
    q4 = 4,              ///< 4 bits, the same blocks and rounding
    fp16 = 5,            ///< IEEE half, to nearest even; too large becomes the largest finite one
    delta_q8 = 16,       ///< q8 of the difference to a reference that both ends of the link hold
    delta_q4 = 17,       ///< q4 of that difference
    delta_topk16 = 18,   ///< of that difference the 16 largest of each 4096, in 2 bits each
    delta_topk64 = 19,   ///< the 64 largest
    delta_topk256 = 20,  ///< the 256 largest
    modulo_1 = 33,       ///< the last bits of whole values, near to the receiver's own (Moniqua)
    modulo_2 = 34,
    modulo_4 = 36,
    modulo_8 = 40,
};

struct CodecName {
    CodecId id;
    std::string_view name;
};

inline constexpr std::array<CodecName, 14> codec_names{{
    {CodecId::fp32, "fp32"},
    {CodecId::bf16, "bf16"},
    {CodecId::q8, "q8"},
    {CodecId::q4, "q4"},
    {CodecId::fp16, "fp16"},
    {CodecId::delta_q8, "delta(q8)"},
    {CodecId::delta_q4, "delta(q4)"},
    {CodecId::delta_topk16, "delta(topk(16))"},
    {CodecId::delta_topk64, "delta(topk(64))"},
    {CodecId::delta_topk256, "delta(topk(256))"},
    {CodecId::modulo_1, "modulo(1)"},
    {CodecId::modulo_2, "modulo(2)"},
    {CodecId::modulo_4, "modulo(4)"},
    {CodecId::modulo_8, "modulo(8)"},
}};

/// "delta(topk)" is delta(topk(64)).
[[nodiscard]] constexpr std::optional<CodecId> codec_from_name(std::string_view name) {
    if (name == "delta(topk)") return CodecId::delta_topk64;
    for (const auto& entry : codec_names) {
        if (entry.name == name) return entry.id;
    }
    return std::nullopt;
}

[[nodiscard]] constexpr std::string_view codec_name(CodecId id) {
    for (const auto& entry : codec_names) {
        if (entry.id == id) return entry.name;
    }
    return "unknown";
}

[[nodiscard]] constexpr bool is_known_codec(std::uint8_t number) {
    return codec_name(static_cast<CodecId>(number)) != "unknown";
}

/// Codecs that keep two references on each link, as large as the shard.
[[nodiscard]] constexpr bool has_reference(CodecId id) {
    switch (id) {
        case CodecId::delta_q8:
        case CodecId::delta_q4:
        case CodecId::delta_topk16:
        case CodecId::delta_topk64:
        case CodecId::delta_topk256: return true;
        case CodecId::fp32:
        case CodecId::bf16:
        case CodecId::q8:
        case CodecId::q4:
        case CodecId::fp16:
        case CodecId::modulo_1:
        case CodecId::modulo_2:
        case CodecId::modulo_4:
        case CodecId::modulo_8: return false;
    }
    return false;
}

/// Of modulo(b); 0 for every other codec.
[[nodiscard]] constexpr std::uint32_t modulo_bits(CodecId id) {
    switch (id) {
        case CodecId::modulo_1: return 1;
        case CodecId::modulo_2: return 2;
        case CodecId::modulo_4: return 4;
        case CodecId::modulo_8: return 8;
        case CodecId::fp32:
        case CodecId::bf16:
        case CodecId::q8:
        case CodecId::q4:
        case CodecId::fp16:
        case CodecId::delta_q8:
        case CodecId::delta_q4:
        case CodecId::delta_topk16:
        case CodecId::delta_topk64:
        case CodecId::delta_topk256: return 0;
    }
    return 0;
}

/// Codecs whose swaps build on the one before, and so start with a keyframe of whole values.
[[nodiscard]] constexpr bool has_keyframe(CodecId id) {
    return has_reference(id) || modulo_bits(id) > 0;
}

/// Codecs that tell only part of a difference, and the rest in later swaps.
[[nodiscard]] constexpr bool is_sparse(CodecId id) {
    return id == CodecId::delta_topk16 || id == CodecId::delta_topk64
           || id == CodecId::delta_topk256;
}

}  // namespace p2p::core
