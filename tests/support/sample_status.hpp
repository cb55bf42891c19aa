#pragma once

// A node with peers and jobs in most of their states: what the documents and screens are tested on.
// Values only; fake_node.hpp answers requests with them.

#include "core/node/status.hpp"

namespace p2p::tests {

/// An id of one repeated byte.
template <typename SomeId>
[[nodiscard]] SomeId id_of(std::uint8_t byte) {
    SomeId id;
    id.bytes.fill(byte);
    return id;
}

/// Node ams1-a of four peers, in two jobs: mnist-mlp running, cifar-vit waiting.
[[nodiscard]] core::NodeStatus sample_status();

/// The same, with quotes, control characters, terminal escapes and broken UTF-8 in every text that
/// comes from other nodes.
[[nodiscard]] core::NodeStatus nasty_status();

}  // namespace p2p::tests
