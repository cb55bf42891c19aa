#pragma once

// The depth of bytes: what two simulated nodes tell each other is encoded, signed, sealed by a real
// session, cut at random, opened and decoded again, as the daemon's links do.
//
// When a message arrives is the network's business at either depth; a session seals it at that
// moment, as a link seals what the socket can take. Slow: for tens of nodes.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/rng.hpp"
#include "core/node/message.hpp"
#include "proto/keys.hpp"
#include "proto/session.hpp"

namespace p2p::sim {

/// Of `nodes` machines; a function of `seed`.
[[nodiscard]] std::vector<proto::Identity> draw_identities(std::uint64_t seed, std::size_t nodes);

class ByteLinks {
  public:
    ByteLinks(std::uint64_t seed, std::size_t nodes);

    [[nodiscard]] core::PeerId id(std::size_t node) const { return identities_[node].id(); }

    /// What `to` reads where `from` says `message` in their `session`, which begins with the first.
    /// Errors: what proto said of it.
    [[nodiscard]] core::Result<core::Message> pass(
        std::size_t from, std::size_t to, std::uint64_t session, const core::Message& message);

  private:
    /// Both ends of one session.
    struct Ends {
        std::uint64_t session = 0;
        std::unique_ptr<proto::Session> low;
        std::unique_ptr<proto::Session> high;
    };

    [[nodiscard]] core::Status begin(std::size_t low, std::size_t high, Ends& ends);
    [[nodiscard]] core::Status carry(proto::Session& from, proto::Session& to);

    core::Rng rng_;
    std::vector<proto::Identity> identities_;
    std::map<std::pair<std::size_t, std::size_t>, Ends> links_;
};

}  // namespace p2p::sim
