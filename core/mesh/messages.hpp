#pragma once

// What nodes say to each other about being there: signs of life, records of peers, goodbye.
// Plain values; their bytes are proto's, what follows from them is decided in this room.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/records.hpp"
#include "core/base/signature.hpp"

namespace p2p::core {

/// Answered by a Pong with the same nonce; sent when a link has been idle.
struct Ping {
    std::uint64_t nonce = 0;

    bool operator==(const Ping&) const = default;
};

struct Pong {
    std::uint64_t nonce = 0;

    bool operator==(const Pong&) const = default;
};

/// Peer records, each signed by its peer; as many as fit limits::records_bytes_max.
struct PeerRecords {
    std::vector<Signed<PeerRecord>> records;

    bool operator==(const PeerRecords&) const = default;
};

/// The sender is about to close for good, and why ("stopping").
struct Leave {
    std::string reason;  ///< at most limits::name_bytes_max

    bool operator==(const Leave&) const = default;
};

}  // namespace p2p::core
