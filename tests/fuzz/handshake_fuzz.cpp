// The handshake's messages in every role and pattern, fed with anything: garbage, and true messages
// with bytes changed.
//
// Nothing that was not made with the right keys may be read, and what fails may change nothing.

#include <algorithm>
#include <cstdint>

#include "core/base/check.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ByteView;

Handshake make(Pattern pattern, Role role) {
    const bool is_initiator = role == Role::initiator;
    const X25519Pair own = x25519_from_secret(tests::seed(is_initiator ? 1 : 2));
    HandshakeKeys keys{own, tests::seed(is_initiator ? 3 : 4), std::nullopt};
    if (is_initiator && pattern == Pattern::ik) {
        keys.remote_static = x25519_from_secret(tests::seed(2)).public_key;
    }
    return Handshake(pattern, role, {}, keys);
}

void try_garbage(Pattern pattern, ByteView bytes) {
    Handshake responder = make(pattern, Role::responder);
    const auto payload = responder.read_message(bytes);
    if (pattern == Pattern::ik) P2P_CHECK(!payload);

    Handshake initiator = make(pattern, Role::initiator);
    (void)initiator.write_message({});
    P2P_CHECK(!initiator.read_message(bytes));
}

/// A conversation in which one message has bytes changed as the input says.
void try_changed(Pattern pattern, std::size_t index, ByteView mask) {
    Handshake initiator = make(pattern, Role::initiator);
    Handshake responder = make(pattern, Role::responder);
    for (std::size_t i = 0; !initiator.is_finished() || !responder.is_finished(); ++i) {
        Handshake& writer = initiator.is_our_turn() ? initiator : responder;
        Handshake& reader = initiator.is_our_turn() ? responder : initiator;
        const Bytes message = writer.write_message({}).value();
        Bytes changed = message;
        for (std::size_t at = 0; at < std::min(changed.size(), mask.size()); ++at) {
            changed[at] ^= mask[at];
        }
        // XX's first message is in the clear: changing it spoils the second one instead.
        if (i == index && changed != message && !(pattern == Pattern::xx && i == 0)) {
            P2P_CHECK(!reader.read_message(changed));
        }
        P2P_CHECK(reader.read_message(message));
    }
    P2P_CHECK(initiator.handshake_hash() == responder.handshake_hash());
}

}  // namespace
}  // namespace p2p::proto

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using p2p::proto::Pattern;
    if (size == 0) return 0;
    const Pattern pattern = (data[0] & 1U) != 0 ? Pattern::ik : Pattern::xx;
    const p2p::core::ByteView bytes(data + 1, size - 1);
    if ((data[0] & 2U) != 0) {
        p2p::proto::try_garbage(pattern, bytes);
    } else {
        p2p::proto::try_changed(pattern, data[0] >> 6U, bytes);
    }
    return 0;
}
