#pragma once

// Bytes, views of them, and their forms as text: hexadecimal and base32.
// Text from outside may be anything, so reading it back gives an optional.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace p2p::core {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
using MutableByteView = std::span<std::uint8_t>;
using FloatView = std::span<const float>;
using MutableFloatView = std::span<float>;

[[nodiscard]] inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

[[nodiscard]] inline std::string_view as_text(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline Bytes to_bytes(ByteView view) {
    return {view.begin(), view.end()};
}

/// Lower-case hexadecimal, two characters a byte.
[[nodiscard]] std::string to_hex(ByteView bytes);

/// Nothing where `text` has an odd length or a character that is no hexadecimal digit.
[[nodiscard]] std::optional<Bytes> from_hex(std::string_view text);

/// Lower-case base32 of RFC 4648 without padding (a-z, 2-7).
[[nodiscard]] std::string to_base32(ByteView bytes);

/// Nothing where a character is outside the alphabet or the unused last bits are not zero.
[[nodiscard]] std::optional<Bytes> from_base32(std::string_view text);

/// Little-endian stores and loads; the wire and the files know no other order.
template <typename Unsigned>
void store_le(std::uint8_t* at, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        at[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
}

template <typename Unsigned>
[[nodiscard]] Unsigned load_le(const std::uint8_t* at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        value |= static_cast<std::uint64_t>(at[i]) << (8 * i);
    }
    return static_cast<Unsigned>(value);
}

}  // namespace p2p::core
