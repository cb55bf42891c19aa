// Whole sessions, fed with anything: garbage at both roles, a conversation with bytes changed on
// its way, and an authentic peer that says what it likes in sealed records.
//
// Whatever comes, a session must not deliver what the other end never sent.

#include <algorithm>
#include <cstdint>

#include "core/base/check.hpp"
#include "tests/support/liar.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::tests {
namespace {

using core::Bytes;
using core::ByteView;

void try_garbage(ByteView bytes) {
    for (const bool knows_id : {true, false}) {
        PairOptions options;
        options.knows_id = knows_id;
        options.acceptor.accept_unknown_id = true;
        SessionPair pair(options);
        (void)pair.dialler.send();
        pair.acceptor.receive(bytes);
        pair.dialler.receive(bytes);
        P2P_CHECK(pair.acceptor.events.empty() && pair.dialler.events.empty());
        P2P_CHECK(!pair.acceptor.session.remote());
        (void)pair.acceptor.send();
        P2P_CHECK(!pair.acceptor.session.has_output());
    }
}

/// The input is a list of changes: three bytes of which, where (two bytes), and by what.
void try_changed(bool knows_id, ByteView changes) {
    PairOptions options;
    options.knows_id = knows_id;
    options.acceptor.accept_unknown_id = true;
    SessionPair pair(options);
    pair.change = [&](bool from_dialler, std::size_t position, std::uint8_t byte) {
        for (std::size_t at = 0; at + 4 <= changes.size(); at += 4) {
            const bool is_there = ((changes[at] & 1U) != 0) == from_dialler
                                  && core::load_le<std::uint16_t>(&changes[at + 1]) == position;
            if (is_there) byte ^= changes[at + 3];
        }
        return byte;
    };
    pair.run();
    const Bytes message{1, 2, 3};
    (void)pair.dialler.session.push_control(message);
    (void)pair.acceptor.session.push_control(message);
    pair.run();
    for (const End* end : {&pair.dialler, &pair.acceptor}) {
        for (const Bytes& seen : end->control()) {
            P2P_CHECK(seen == message);
        }
        P2P_CHECK(end->control().size() <= 1 && end->bulk().empty());
    }
}

/// The input is records, each behind a length of two bytes.
void try_liar(bool comes_up, ByteView bytes) {
    Liar liar;
    if (comes_up) liar.come_up();
    std::size_t said_bytes = 0;
    while (bytes.size() >= 2) {
        const std::size_t length = core::load_le<std::uint16_t>(bytes.data());
        bytes = bytes.subspan(2);
        const ByteView record = bytes.first(std::min(length, bytes.size()));
        bytes = bytes.subspan(record.size());
        said_bytes += record.size();
        liar.say(record);
    }
    std::size_t given_bytes = 0;
    for (const Bytes& message : liar.victim.control()) {
        given_bytes += message.size();
    }
    P2P_CHECK(given_bytes <= said_bytes);
    (void)liar.victim.send();
    P2P_CHECK(!liar.victim.session.has_output());
}

}  // namespace
}  // namespace p2p::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const p2p::core::ByteView bytes(data + 1, size - 1);
    switch (data[0] % 5) {
        case 0: p2p::tests::try_garbage(bytes); break;
        case 1: p2p::tests::try_changed(true, bytes); break;
        case 2: p2p::tests::try_changed(false, bytes); break;
        case 3: p2p::tests::try_liar(true, bytes); break;
        default: p2p::tests::try_liar(false, bytes); break;
    }
    return 0;
}
