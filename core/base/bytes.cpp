#include "core/base/bytes.hpp"

namespace p2p::core {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view base32_digits = "abcdefghijklmnopqrstuvwxyz234567";

}  // namespace

std::string to_hex(ByteView bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += hex_digits[byte >> 4U];
        text += hex_digits[byte & 15U];
    }
    return text;
}

std::optional<Bytes> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    Bytes bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const auto high = hex_digits.find(text[i]);
        const auto low = hex_digits.find(text[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    return bytes;
}

std::string to_base32(ByteView bytes) {
    std::string text;
    std::uint32_t pending = 0;
    unsigned pending_bits = 0;
    for (const std::uint8_t byte : bytes) {
        pending = (pending << 8U) | byte;
        pending_bits += 8;
        while (pending_bits >= 5) {
            pending_bits -= 5;
            text += base32_digits[(pending >> pending_bits) & 31U];
        }
    }
    if (pending_bits > 0) text += base32_digits[(pending << (5 - pending_bits)) & 31U];
    return text;
}

std::optional<Bytes> from_base32(std::string_view text) {
    Bytes bytes;
    std::uint32_t pending = 0;
    unsigned pending_bits = 0;
    for (const char letter : text) {
        const auto digit = base32_digits.find(letter);
        if (digit == std::string_view::npos) return std::nullopt;
        pending = (pending << 5U) | static_cast<std::uint32_t>(digit);
        pending_bits += 5;
        if (pending_bits >= 8) {
            pending_bits -= 8;
            bytes.push_back(static_cast<std::uint8_t>(pending >> pending_bits));
        }
    }
    const std::uint32_t unused = pending & ((1U << pending_bits) - 1U);
    if (pending_bits >= 5 || unused != 0) return std::nullopt;
    return bytes;
}

}  // namespace p2p::core
