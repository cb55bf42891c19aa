#pragma once

// A peer that has the keys of its session and says what it likes: the dialling end, by hand.
//
// For what only an authentic peer can send wrong, in tests and in fuzzing. Its victim is a session
// at the accepting end, network 7, whose identity is that of seed 20.

#include <optional>

#include "core/base/check.hpp"
#include "proto/outbox.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::tests {

struct Liar {
    proto::Identity identity = proto::Identity::from_seed(seed(10));
    proto::Identity victim_identity = proto::Identity::from_seed(seed(20));
    End victim{proto::Session::accept(session_config("victim"), victim_identity, seed(40))};
    std::optional<proto::Sealer> sealer{};

    Liar() {
        const core::Bytes prologue{proto::suite_ik};
        const proto::HandshakeKeys keys{
            identity.x25519_pair(), seed(30), proto::x25519_public(victim_identity.id()).value()};
        proto::Handshake handshake(proto::Pattern::ik, proto::Role::initiator, prologue, keys);
        core::Bytes first{proto::suite_ik, 128, 0};
        const core::Bytes message = handshake.write_message(network(7).bytes).value();
        first.insert(first.end(), message.begin(), message.end());
        victim.receive(first);
        const core::Bytes answer = victim.send();
        P2P_CHECK(handshake.read_message(core::ByteView(answer).subspan(3)));
        sealer.emplace(handshake.split().sending);
    }

    /// One record of these bytes, whatever they are.
    void say(core::ByteView plain) {
        core::Bytes record(plain.size() + proto::record_overhead_bytes);
        const core::ByteView pieces[] = {plain};
        P2P_CHECK(proto::seal_as_record(*sealer, pieces, record));
        victim.receive(record);
    }

    void say(proto::FrameKind kind, const core::Bytes& body) {
        core::Bytes plain;
        proto::append_frame(kind, body, plain);
        say(plain);
    }

    [[nodiscard]] proto::Hello hello() const {
        proto::Hello hello;
        hello.id = identity.id();
        return hello;
    }

    void come_up() {
        say(proto::FrameKind::hello, proto::encode(hello()));
        say(proto::FrameKind::confirm, {});
        P2P_CHECK(victim.session.is_established());
    }

    [[nodiscard]] core::ErrorCode failure() const { return victim.session.failure().code; }
};

}  // namespace p2p::tests
