#pragma once

// Different things, different types: a round is not a step, a peer is not a job.
//
// Identifiers are 32 bytes and print as base32; counts are 64-bit integers that add and compare
// only with their own kind.

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace p2p::core {

/// 32 bytes that name one thing; ordered, so that containers keyed by it replay the same.
template <typename Tag>
struct Id {
    std::array<std::uint8_t, 32> bytes{};

    bool operator==(const Id&) const = default;

    /// As the bytes: the first eight at once, since they decide nearly always and ids are what most
    /// containers are searched by.
    std::strong_ordering operator<=>(const Id& other) const {
        const std::uint64_t own_head = head();
        const std::uint64_t other_head = other.head();
        if (own_head != other_head) return own_head <=> other_head;
        return bytes <=> other.bytes;
    }

    /// 52 characters of lower-case base32.
    [[nodiscard]] std::string text() const { return to_base32(bytes); }

    /// The six characters that people see.
    [[nodiscard]] std::string short_text() const { return text().substr(0, 6); }

    [[nodiscard]] bool is_zero() const { return *this == Id{}; }

    [[nodiscard]] static std::optional<Id> from_bytes(ByteView view) {
        if (view.size() != 32) return std::nullopt;
        Id id;
        std::copy(view.begin(), view.end(), id.bytes.begin());
        return id;
    }

    [[nodiscard]] static std::optional<Id> from_text(std::string_view text) {
        if (text.size() != 52) return std::nullopt;
        const auto decoded = from_base32(text);
        return decoded ? from_bytes(*decoded) : std::nullopt;
    }

    /// The first eight bytes, as a number that orders like them.
    [[nodiscard]] std::uint64_t head() const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof value; ++i)
            value = value << 8U | bytes[i];
        return value;
    }
};

using PeerId = Id<struct PeerTag>;        ///< an Ed25519 public key
using JobId = Id<struct JobTag>;          ///< BLAKE2b of the spec's canonical bytes
using NetworkId = Id<struct NetworkTag>;  ///< zero: no network
using BlobHash = Id<struct BlobTag>;      ///< BLAKE2b of a blob (a spec, a final model)

/// A count of one kind of thing.
template <typename Tag, typename Rep = std::uint64_t>
struct Count {
    Rep value = 0;

    constexpr Count() = default;

    constexpr explicit Count(Rep initial)
        : value(initial) {}

    auto operator<=>(const Count&) const = default;

    constexpr Count& operator+=(Count other) {
        value += other.value;
        return *this;
    }

    constexpr Count& operator++() {
        ++value;
        return *this;
    }

    friend constexpr Count operator+(Count a, Count b) {
        return Count{static_cast<Rep>(a.value + b.value)};
    }

    friend constexpr Count operator-(Count a, Count b) {
        return Count{static_cast<Rep>(a.value - b.value)};
    }
};

using StepCount = Count<struct StepTag>;      ///< local optimizer steps
using SampleCount = Count<struct SampleTag>;  ///< training samples
using ByteCount = Count<struct ByteTag>;      ///< bytes moved or stored
using Round = Count<struct RoundTag>;         ///< only of recipes that have rounds; 0: none
using SwapNumber = Count<struct SwapTag>;     ///< n of an edge swap; counts from 1
using ShardIndex = Count<struct ShardTag, std::uint32_t>;  ///< a shard of the flat vector
using Incarnation = Count<struct IncarnationTag>;          ///< starts of one node's process, from 1
using Ticket = Count<struct TicketTag>;  ///< one piece of work asked for by a Node

}  // namespace p2p::core
