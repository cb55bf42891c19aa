#pragma once

// What one node says of itself to all: its name, where it is, how to reach it. Newest wins.
// Signing and verifying them is proto's, keeping the newest is core/mesh/directory's.

#include <string>
#include <vector>

#include "core/base/types.hpp"

namespace p2p::core {

struct PeerRecord {
    PeerId id;
    Incarnation incarnation;             ///< of the process that made it
    std::uint64_t version = 0;           ///< raised with each change within one incarnation
    std::string name;                    ///< at most limits::name_bytes_max
    std::string site;                    ///< data centre; may be empty
    std::vector<std::string> addresses;  ///< "host:port", at most limits::addresses_a_peer_max
    std::string release;                 ///< "0.1.0"

    bool operator==(const PeerRecord&) const = default;
};

/// Whether `a` should replace `b`, both being of one peer.
[[nodiscard]] inline bool is_newer(const PeerRecord& a, const PeerRecord& b) {
    if (a.incarnation != b.incarnation) return a.incarnation > b.incarnation;
    return a.version > b.version;
}

}  // namespace p2p::core
