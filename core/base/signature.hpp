#pragma once

// A signature, and a record that carries its author's.
//
// Whatever is passed on from node to node (peer records, reports, announcements, the end of a job)
// keeps its author's bytes: proto verifies while decoding, signs only what this node itself makes,
// and passes the rest on byte for byte. Core only carries them.

#include <array>
#include <cstdint>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

using Signature = std::array<std::uint8_t, 64>;  ///< Ed25519

template <typename T>
struct Signed {
    PeerId author;
    T value;
    Bytes signed_bytes;  ///< what the author signed; empty: made here, to be signed when encoded
    Signature signature{};

    /// Of two nodes that hold the same record, one may not have signed it yet: bytes don't count.
    bool operator==(const Signed& other) const {
        return author == other.author && value == other.value;
    }
};

/// A record that this node makes itself.
template <typename T>
[[nodiscard]] Signed<T> made_here(PeerId self, T value) {
    return {.author = self, .value = std::move(value), .signed_bytes = {}, .signature = {}};
}

}  // namespace p2p::core
