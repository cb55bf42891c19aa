#pragma once

// Hello: the first thing that each end says once the channel is secret.
//
// It names who speaks (checked against the key that made the channel), since when, which protocols,
// and where it listens. Its shape never changes, so that two releases that share no protocol can
// still tell each other which ones they speak; what is new goes behind a feature bit.
// What follows from it is left to session and to the owner of the session.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "proto/version.hpp"

namespace p2p::proto {

/// More than the longest Hello, and what a record may have before both Hellos have come.
inline constexpr std::size_t hello_bytes_max = 4096;
inline constexpr std::size_t release_bytes_max = 63;

struct Hello {
    core::PeerId id;                               ///< set by the session to its own identity
    core::Incarnation incarnation;                 ///< starts of this node's process, from 1
    std::uint16_t protocol_min = protocol_oldest;  ///< 1 <= protocol_min <= protocol_max
    std::uint16_t protocol_max = protocol_newest;
    std::uint64_t features = 0;           ///< bits; unknown ones are ignored
    std::string release{proto::release};  ///< <= 63 bytes
    std::int64_t wall_clock_unix_ms = 0;
    std::vector<std::string> listen_addresses;  ///< <= 8 of <= 255 bytes
    std::string name;                           ///< <= 63 bytes
    std::string site;                           ///< <= 63 bytes

    bool operator==(const Hello&) const = default;
};

/// @pre the lengths and the protocol range are within what the fields say
[[nodiscard]] core::Bytes encode(const Hello& hello);

/// `malformed` or `too_large` where the bytes are no such Hello.
[[nodiscard]] core::Result<Hello> decode_hello(core::ByteView bytes);

/// The highest protocol that both ranges hold; `unsupported`, naming both ranges, where none is.
[[nodiscard]] core::Result<std::uint16_t> common_protocol(const Hello& own, const Hello& remote);

inline constexpr std::size_t close_bytes_max = 1024;

/// The frame that ends a session and says why, as the other end shall read it.
struct Close {
    core::Error reason;

    bool operator==(const Close&) const = default;
};

/// Texts are cut to 255 bytes each.
[[nodiscard]] core::Bytes encode(const Close& close);

/// A code that this release does not know becomes `unsupported`.
[[nodiscard]] core::Result<Close> decode_close(core::ByteView bytes);

/// UTF-8 without control characters: safe to show on a terminal and in a log line.
[[nodiscard]] bool is_printable(std::string_view text);

}  // namespace p2p::proto
