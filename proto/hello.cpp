#include "proto/hello.hpp"

#include <algorithm>
#include <limits>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "proto/msgpack.hpp"

namespace p2p::proto {

using core::Bytes;
using core::ByteView;
using core::ErrorCode;
using core::Result;

namespace {

constexpr std::size_t hello_fields = 10;
constexpr std::size_t close_fields = 4;
constexpr std::size_t close_text_bytes_max = 255;
constexpr std::size_t error_name_bytes_max = 32;

bool is_control(char letter) {
    const auto byte = static_cast<std::uint8_t>(letter);
    return byte < 0x20 || byte == 0x7f;
}

bool is_not_ascii(char letter) {
    return static_cast<std::uint8_t>(letter) >= 0x80;
}

bool is_continuation(char letter) {
    return (static_cast<std::uint8_t>(letter) & 0xc0U) == 0x80;
}

bool is_within(const std::string& text, std::size_t bytes_max) {
    return text.size() <= bytes_max && is_printable(text);
}

void check(const Hello& hello) {
    namespace limits = core::limits;
    P2P_CHECK(hello.protocol_min >= 1 && hello.protocol_min <= hello.protocol_max);
    P2P_CHECK(hello.listen_addresses.size() <= limits::addresses_a_peer_max);
    for (const std::string& address : hello.listen_addresses) {
        P2P_CHECK(is_within(address, limits::address_bytes_max));
    }
    P2P_CHECK(is_within(hello.release, release_bytes_max));
    P2P_CHECK(is_within(hello.name, limits::name_bytes_max));
    P2P_CHECK(is_within(hello.site, limits::name_bytes_max));
}

std::string read_printable(Unpacker& in, std::size_t bytes_max) {
    const std::string_view text = in.read_text(bytes_max);
    if (is_printable(text)) return std::string(text);
    in.fail(ErrorCode::malformed, "a text with control characters");
    return {};
}

std::uint16_t read_u16(Unpacker& in) {
    return static_cast<std::uint16_t>(in.read_uint(std::numeric_limits<std::uint16_t>::max()));
}

std::string range_text(const Hello& hello) {
    return std::to_string(hello.protocol_min) + " to " + std::to_string(hello.protocol_max)
           + " (release " + hello.release + ")";
}

/// What may stand in a close frame: printable, and cut between characters.
std::string close_text(std::string_view text) {
    const bool is_text = is_utf8(text);
    std::size_t end = std::min(text.size(), close_text_bytes_max);
    while (is_text && end > 0 && end < text.size() && is_continuation(text[end])) {
        --end;
    }
    std::string cut(text.substr(0, end));
    std::replace_if(cut.begin(), cut.end(), is_control, ' ');
    if (!is_text) {
        std::replace_if(cut.begin(), cut.end(), is_not_ascii, '?');
    }
    return cut;
}

ErrorCode code_of(std::string_view name) {
    for (auto code = ErrorCode::malformed; code <= ErrorCode::interrupted;
         code = static_cast<ErrorCode>(static_cast<int>(code) + 1)) {
        if (core::error_name(code) == name) return code;
    }
    return ErrorCode::unsupported;
}

}  // namespace

Bytes encode(const Hello& hello) {
    check(hello);
    Packer out;
    out.array(hello_fields)
        .binary(hello.id.bytes)
        .uint(hello.incarnation.value)
        .uint(hello.protocol_min)
        .uint(hello.protocol_max)
        .uint(hello.features)
        .text(hello.release)
        .integer(hello.wall_clock_unix_ms)
        .array(hello.listen_addresses.size());
    for (const std::string& address : hello.listen_addresses) {
        out.text(address);
    }
    out.text(hello.name).text(hello.site);
    return out.take();
}

Result<Hello> decode_hello(ByteView bytes) {
    namespace limits = core::limits;
    Unpacker in(bytes);
    Hello hello;
    in.expect_array(hello_fields);
    in.read_binary_into(hello.id.bytes);
    hello.incarnation = core::Incarnation{in.read_uint()};
    hello.protocol_min = read_u16(in);
    hello.protocol_max = read_u16(in);
    hello.features = in.read_uint();
    hello.release = read_printable(in, release_bytes_max);
    hello.wall_clock_unix_ms = in.read_integer();
    const std::size_t addresses = in.read_array(limits::addresses_a_peer_max);
    for (std::size_t i = 0; i < addresses; ++i) {
        hello.listen_addresses.push_back(read_printable(in, limits::address_bytes_max));
    }
    hello.name = read_printable(in, limits::name_bytes_max);
    hello.site = read_printable(in, limits::name_bytes_max);
    if (hello.protocol_min < 1 || hello.protocol_min > hello.protocol_max) {
        in.fail(ErrorCode::malformed, "a range of protocols that holds none");
    }
    if (const auto status = in.finish(); !status) return status.error().with_context("Hello");
    return hello;
}

Result<std::uint16_t> common_protocol(const Hello& own, const Hello& remote) {
    const std::uint16_t highest = std::min(own.protocol_max, remote.protocol_max);
    if (highest >= std::max(own.protocol_min, remote.protocol_min)) return highest;
    return core::Error{
        ErrorCode::unsupported,
        "no protocol in common with " + remote.id.short_text(),
        "we speak " + range_text(own) + ", it speaks " + range_text(remote),
        "upgrade the older of the two"};
}

Bytes encode(const Close& close) {
    const core::Error& error = close.reason;
    Packer out;
    out.array(close_fields)
        .text(core::error_name(error.code))
        .text(close_text(error.what))
        .text(close_text(error.why))
        .text(close_text(error.next));
    return out.take();
}

Result<Close> decode_close(ByteView bytes) {
    Unpacker in(bytes);
    core::Error error;
    in.expect_array(close_fields);
    error.code = code_of(in.read_text(error_name_bytes_max));
    error.what = read_printable(in, close_text_bytes_max);
    error.why = read_printable(in, close_text_bytes_max);
    error.next = read_printable(in, close_text_bytes_max);
    if (const auto status = in.finish(); !status) return status.error().with_context("close");
    return Close{error};
}

bool is_printable(std::string_view text) {
    return is_utf8(text) && std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace p2p::proto
