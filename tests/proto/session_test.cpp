#include "proto/session.hpp"

#include <gtest/gtest.h>

#include "tests/golden/noise/session.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ErrorCode;
using tests::bulk_piece;
using tests::End;
using tests::PairOptions;
using tests::SessionPair;

PairOptions without_id() {
    PairOptions options;
    options.knows_id = false;
    options.acceptor.accept_unknown_id = true;
    return options;
}

/// Both directions of both kinds of message, and that each arrives once, whole and in order.
void expect_conversation(SessionPair& pair) {
    ASSERT_TRUE(pair.dialler.session.push_control({1, 2, 3}));
    ASSERT_TRUE(pair.dialler.session.push_bulk(bulk_piece(5, 65'000, 8)));
    ASSERT_TRUE(pair.acceptor.session.push_control(Bytes(32 * 1024, 4)));
    pair.run();
    EXPECT_EQ(std::vector<Bytes>{(Bytes{1, 2, 3})}, pair.acceptor.control());
    EXPECT_EQ(std::vector<Bytes>{Bytes(32 * 1024, 4)}, pair.dialler.control());
    Bytes bulk(65'004, 8);
    std::fill_n(bulk.begin(), 4, std::uint8_t{0xb});
    EXPECT_EQ(std::vector<Bytes>{bulk}, pair.acceptor.bulk());
}

TEST(Session, IsUpAtBothEndsWithEachOthersHelloByIkAndByXx) {
    for (const auto& options : {PairOptions{}, without_id()}) {
        SessionPair pair(options);
        pair.run();
        ASSERT_TRUE(pair.is_up());
        const auto& at_dialler = std::get<Established>(pair.dialler.events.at(0));
        const auto& at_acceptor = std::get<Established>(pair.acceptor.events.at(0));
        EXPECT_EQ("acceptor", at_dialler.hello.name);
        EXPECT_EQ(pair.acceptor_identity.id(), at_dialler.hello.id);
        EXPECT_EQ(pair.dialler_identity.id(), at_acceptor.hello.id);
        EXPECT_EQ(pair.dialler_identity.id(), pair.acceptor.session.remote());
        EXPECT_EQ(1, at_acceptor.protocol);
        EXPECT_EQ(pair.dialler.session.handshake_hash(), pair.acceptor.session.handshake_hash());
        expect_conversation(pair);
    }
}

TEST(Session, ComesUpWithTheStreamsCutAtEveryPosition) {
    for (const auto& options : {PairOptions{}, without_id()}) {
        for (std::size_t cut = 1; cut < 140; ++cut) {
            SessionPair pair(options);
            pair.piece_bytes = [cut] {
                return cut;
            };
            pair.run();
            ASSERT_TRUE(pair.is_up()) << cut;
            EXPECT_EQ(1U, pair.dialler.events.size());
        }
    }
}

TEST(Session, ConversesWithTheStreamsCutAtRandom) {
    core::Rng rng(21);
    for (int round = 0; round < 20; ++round) {
        SessionPair pair(round % 2 == 0 ? PairOptions{} : without_id());
        const std::uint64_t piece_max = round < 2 ? 1 : std::uint64_t{1} << rng.below(17);
        pair.piece_bytes = [&] {
            return static_cast<std::size_t>(1 + rng.below(piece_max));
        };
        pair.run();
        expect_conversation(pair);
    }
}

TEST(Session, SaysTheSameBytesAsEver) {
    for (const bool knows_id : {true, false}) {
        PairOptions options = knows_id ? PairOptions{} : without_id();
        for (auto* config : {&options.dialler, &options.acceptor}) {
            config->hello.protocol_min = 1;
            config->hello.protocol_max = 1;
        }
        SessionPair pair(options);
        pair.run();
        ASSERT_TRUE(pair.dialler.session.push_control({1, 2, 3}));
        ASSERT_TRUE(pair.acceptor.session.push_bulk(bulk_piece(258, 5, 9)));
        pair.dialler.session.request_rekey();
        pair.run();
        const auto& golden = knows_id ? golden::session_ik : golden::session_xx;
        EXPECT_EQ(golden.from_dialler, core::to_hex(pair.dialler.sent));
        EXPECT_EQ(golden.from_acceptor, core::to_hex(pair.acceptor.sent));
    }
}

TEST(Session, IsUpAtTheAcceptingEndOnlyOnceTheDiallerHasConfirmed) {
    SessionPair pair;
    pair.pass(pair.dialler, pair.acceptor);  // message 1
    pair.pass(pair.acceptor, pair.dialler);  // message 2
    EXPECT_FALSE(pair.acceptor.session.remote());
    pair.pass(pair.dialler, pair.acceptor);  // Hello
    EXPECT_EQ(pair.dialler_identity.id(), pair.acceptor.session.remote());
    EXPECT_FALSE(pair.acceptor.session.is_established());
    pair.pass(pair.acceptor, pair.dialler);  // Hello and confirmation
    EXPECT_TRUE(pair.dialler.session.is_established());
    EXPECT_FALSE(pair.acceptor.session.is_established());
    pair.pass(pair.dialler, pair.acceptor);  // confirmation
    EXPECT_TRUE(pair.acceptor.session.is_established());
}

TEST(Session, ShowsARefusedStrangerNothingButTheRefusal) {
    SessionPair pair;
    pair.pass(pair.dialler, pair.acceptor);
    pair.pass(pair.acceptor, pair.dialler);
    pair.pass(pair.dialler, pair.acceptor);
    pair.acceptor.session.refuse({ErrorCode::not_permitted, "you are not on the list", "", ""});
    pair.run();
    EXPECT_FALSE(pair.dialler.session.remote_hello());
    ASSERT_TRUE(pair.dialler.session.is_over());
    EXPECT_EQ(ErrorCode::not_permitted, pair.dialler.session.failure().code);
    EXPECT_EQ(
        "closed by the other end: you are not on the list", pair.dialler.session.failure().what);
    EXPECT_FALSE(pair.acceptor.session.has_output());
    EXPECT_TRUE(pair.acceptor.events.empty());
}

TEST(Session, TakesNoMessageBeforeItIsUpNorAfterItsEnd) {
    SessionPair pair;
    EXPECT_EQ(ErrorCode::conflict, pair.dialler.session.push_control({1}).error().code);
    EXPECT_FALSE(pair.dialler.session.wants_bulk());
    pair.run();
    EXPECT_TRUE(pair.dialler.session.wants_bulk());
    pair.dialler.session.refuse({ErrorCode::interrupted, "stopping", "", ""});
    EXPECT_EQ(
        ErrorCode::conflict, pair.dialler.session.push_bulk(bulk_piece(0, 9, 9)).error().code);
    pair.run();
    EXPECT_EQ(ErrorCode::interrupted, pair.acceptor.session.failure().code);
    EXPECT_EQ(ErrorCode::interrupted, pair.acceptor.session.feed(Bytes{1}).error().code);
}

TEST(Session, LetsControlOvertakeTheBulkThatIsNotSealedYet) {
    SessionPair pair;
    pair.run();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(pair.dialler.session.push_bulk(bulk_piece(1, 65'000, 1)));
    }
    pair.pass(pair.dialler, pair.acceptor);
    const std::size_t before = pair.acceptor.bulk().size();
    EXPECT_EQ(2U, before);  // 128 KiB at a time
    ASSERT_TRUE(pair.dialler.session.push_control({42}));
    pair.pass(pair.dialler, pair.acceptor);
    ASSERT_GT(pair.acceptor.events.size(), 1 + before);
    EXPECT_TRUE(std::holds_alternative<Control>(pair.acceptor.events[1 + before]));
    pair.run();
    EXPECT_EQ(20U, pair.acceptor.bulk().size());
}

TEST(Session, WantsBulkAgainWhenLittleOfItWaits) {
    SessionPair pair;
    pair.run();
    Session& session = pair.dialler.session;
    while (session.wants_bulk()) {
        ASSERT_TRUE(session.push_bulk(bulk_piece(1, 65'000, 1)));
    }
    EXPECT_GE(session.queued_bulk_bytes(), 256U * 1024);
    pair.pass(pair.dialler, pair.acceptor);
    EXPECT_TRUE(session.wants_bulk());
}

TEST(Session, BoundsItsQueuesAndKeepsWhatItHas) {
    SessionPair pair;
    pair.run();
    Session& session = pair.dialler.session;
    EXPECT_EQ(ErrorCode::too_large, session.push_control(Bytes(32 * 1024 + 1)).error().code);
    std::size_t messages = 0;
    while (session.push_control(Bytes(32 * 1024, 1))) {
        ASSERT_LE(++messages, 256U);
    }
    std::size_t pieces = 0;
    while (session.push_bulk(bulk_piece(1, 65'000, 1))) {
        ASSERT_LE(++pieces, 129U);
    }
    EXPECT_LE(session.queued_control_bytes(), core::limits::control_queue_bytes_max);
    EXPECT_LE(session.queued_bulk_bytes(), core::limits::unacknowledged_bulk_bytes_max);
    pair.run();
    EXPECT_EQ(messages, pair.acceptor.control().size());
    EXPECT_EQ(pieces, pair.acceptor.bulk().size());
}

TEST(Session, ChangesItsKeyAfterSoManyMessagesAndOnRequest) {
    PairOptions options;
    options.dialler.rekey_messages = 5;
    SessionPair pair(options);
    pair.run();
    for (std::uint8_t i = 0; i < 30; ++i) {
        ASSERT_TRUE(pair.dialler.session.push_control({i}));
        ASSERT_TRUE(pair.acceptor.session.push_bulk(bulk_piece(1, 4000, i)));
        if (i == 20) pair.acceptor.session.request_rekey();
        pair.run();
    }
    EXPECT_TRUE(pair.is_up());
    EXPECT_EQ(30U, pair.acceptor.control().size());
    EXPECT_EQ(30U, pair.dialler.bulk().size());
    EXPECT_EQ(1U, pair.dialler.session.counters().rekeys_received);
    // 2 records for the link, 30 of messages: every fifth record says that the key changes.
    EXPECT_EQ(8U, pair.acceptor.session.counters().rekeys_received);
    EXPECT_EQ(8U, pair.dialler.session.counters().rekeys_sent);
}

TEST(Session, CountsWhatItSendsAsTheOtherEndCountsWhatComes) {
    SessionPair pair;
    pair.run();
    expect_conversation(pair);
    const auto sent = pair.dialler.session.counters();
    const auto received = pair.acceptor.session.counters();
    EXPECT_EQ(sent.bytes_sent, received.bytes_received);
    EXPECT_EQ(sent.records_sent, received.records_received);
    EXPECT_EQ(1U, sent.control_sent);
    EXPECT_EQ(1U, received.control_received);
    EXPECT_EQ(1U, received.bulk_received);
    EXPECT_EQ(sent.bulk_sent, received.bulk_received);
    EXPECT_EQ(pair.dialler.sent.size(), sent.bytes_sent);
}

TEST(Session, AgreesOnTheHighestCommonProtocol) {
    PairOptions options;
    options.dialler.hello.protocol_max = 7;
    options.acceptor.hello.protocol_min = 3;
    options.acceptor.hello.protocol_max = 5;
    SessionPair pair(options);
    pair.run();
    EXPECT_EQ(5, std::get<Established>(pair.dialler.events.at(0)).protocol);
    EXPECT_EQ(5, std::get<Established>(pair.acceptor.events.at(0)).protocol);
}

TEST(Session, TellsBothEndsBothRangesWhereNoProtocolIsCommon) {
    PairOptions options;
    options.dialler.hello.protocol_min = 4;
    options.dialler.hello.protocol_max = 6;
    SessionPair pair(options);
    pair.run();
    for (const End* end : {&pair.dialler, &pair.acceptor}) {
        ASSERT_TRUE(end->session.is_over());
        EXPECT_EQ(ErrorCode::unsupported, end->session.failure().code);
        EXPECT_NE(std::string::npos, end->session.failure().why.find("4 to 6"));
        EXPECT_NE(std::string::npos, end->session.failure().why.find("1 to 1"));
        EXPECT_TRUE(end->events.empty());
    }
}

}  // namespace
}  // namespace p2p::proto
