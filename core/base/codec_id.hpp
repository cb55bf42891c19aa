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
    fp32 = 1,       ///< as it is
    bf16 = 2,       ///< rounded to nearest even
    q8 = 3,         ///< 8 bits, blocks of 256 with a scale, stochastic rounding
    q4 = 4,         ///< 4 bits, the same blocks and rounding
    fp16 = 5,       ///< IEEE half, to nearest even; too large becomes the largest finite one
    delta_q8 = 16,  ///< q8 of the difference to a reference that both ends of the link hold
    delta_q4 = 17,  ///< q4 of that difference
};

struct CodecName {
    CodecId id;
    std::string_view name;
};

inline constexpr std::array<CodecName, 7> codec_names{{
    {CodecId::fp32, "fp32"},
    {CodecId::bf16, "bf16"},
    {CodecId::q8, "q8"},
    {CodecId::q4, "q4"},
    {CodecId::fp16, "fp16"},
    {CodecId::delta_q8, "delta(q8)"},
    {CodecId::delta_q4, "delta(q4)"},
}};

[[nodiscard]] constexpr std::optional<CodecId> codec_from_name(std::string_view name) {
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

/// Codecs that keep a reference on each link, and so start with a keyframe.
[[nodiscard]] constexpr bool has_reference(CodecId id) {
    return id == CodecId::delta_q8 || id == CodecId::delta_q4;
}

}  // namespace p2p::core
