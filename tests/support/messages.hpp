#pragma once

// Messages for tests: one of each kind with fixed values, and any number of random ones.
//
// The fixed ones are what the golden files hold: never change them.

#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/rng.hpp"
#include "core/node/message.hpp"
#include "proto/keys.hpp"

namespace p2p::tests {

struct NamedMessage {
    std::string name;
    core::Message message;
};

/// Made from a seed of `first` and 31 zeros.
[[nodiscard]] proto::Identity test_identity(std::uint8_t first);

/// One of each alternative of core::Message, records unsigned and by `author`.
[[nodiscard]] std::vector<NamedMessage> fixed_messages(const core::PeerId& author);

/// Any sound message; records unsigned and by `author`.
[[nodiscard]] core::Message random_message(core::Rng& rng, const core::PeerId& author);

/// Control or bulk, as its kind wants it.
[[nodiscard]] core::Bytes encoded(const core::Message& message, const proto::Identity& self);

[[nodiscard]] bool is_bulk(const core::Message& message);

/// By decode_bulk or decode_control.
[[nodiscard]] core::Result<core::Message> decoded(bool as_bulk, core::ByteView bytes);

}  // namespace p2p::tests
