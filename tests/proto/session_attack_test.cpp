// What somebody on the path, or a stranger, or a peer that breaks the rules can do to a session.

#include <gtest/gtest.h>

#include "proto/session.hpp"
#include "tests/support/liar.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::ErrorCode;
using tests::bulk_piece;
using tests::End;
using tests::Liar;
using tests::network;
using tests::PairOptions;
using tests::seed;
using tests::SessionPair;

TEST(SessionUnderAttack, EndsAtAFlippedBitAnywhereInTheStreamOfEitherEnd) {
    SessionPair honest;
    honest.run();
    ASSERT_TRUE(honest.dialler.session.push_control({1, 2, 3}));
    ASSERT_TRUE(honest.acceptor.session.push_control({4, 5, 6}));
    honest.run();
    for (const bool hits_dialler : {true, false}) {
        const std::size_t bytes = (hits_dialler ? honest.dialler : honest.acceptor).sent.size();
        for (std::size_t at = 0; at < bytes; ++at) {
            SessionPair pair;
            pair.change = [&](bool from_dialler, std::size_t position, std::uint8_t byte) {
                const bool is_hit = from_dialler == hits_dialler && position == at;
                return static_cast<std::uint8_t>(byte ^ (is_hit ? 1U << (at % 8) : 0U));
            };
            pair.run();
            (void)pair.dialler.session.push_control({1, 2, 3});
            (void)pair.acceptor.session.push_control({4, 5, 6});
            pair.run();
            End& victim = hits_dialler ? pair.acceptor : pair.dialler;
            // A longer length only makes it wait; what follows then does not open.
            victim.receive(Bytes(70'000, 0));
            ASSERT_TRUE(victim.session.is_over()) << at;
            EXPECT_FALSE(victim.session.failure().what.empty());
            EXPECT_TRUE(victim.control().empty()) << at;
        }
    }
}

TEST(SessionUnderAttack, EndsAtAFlippedBitInBulk) {
    core::Rng rng(31);
    for (int round = 0; round < 30; ++round) {
        SessionPair pair;
        pair.run();
        const std::size_t start = pair.dialler.sent.size();
        const std::size_t at = start + 2 + static_cast<std::size_t>(rng.below(65'026));
        pair.change = [&](bool from_dialler, std::size_t position, std::uint8_t byte) {
            const bool is_hit = from_dialler && position == at;
            return static_cast<std::uint8_t>(byte ^ (is_hit ? 0x10U : 0U));
        };
        ASSERT_TRUE(pair.dialler.session.push_bulk(bulk_piece(0, 65'000, 1)));
        pair.run();
        ASSERT_TRUE(pair.acceptor.session.is_over());
        EXPECT_EQ(ErrorCode::forged, pair.acceptor.session.failure().code);
        EXPECT_TRUE(pair.acceptor.bulk().empty());
    }
}

TEST(SessionUnderAttack, AnswersNothingToAFirstMessageThatDoesNotOpen) {
    PairOptions options;
    options.acceptor_seed = 21;  // not the one that was dialled
    SessionPair pair(options);
    pair.pass(pair.dialler, pair.acceptor);
    EXPECT_EQ(ErrorCode::forged, pair.acceptor.session.failure().code);
    EXPECT_FALSE(pair.acceptor.session.has_output());
}

TEST(SessionUnderAttack, NeverComesUpOnAReplayOfARecordedDialler) {
    SessionPair recorded;
    recorded.run();
    // The victim is the same node, with the fresh ephemeral key that each session has.
    const auto identity = Identity::from_seed(seed(20));
    End victim{Session::accept(tests::session_config("acceptor"), identity, seed(99))};
    victim.receive(recorded.dialler.sent);
    ASSERT_TRUE(victim.session.is_over());
    EXPECT_EQ(ErrorCode::forged, victim.session.failure().code);
    EXPECT_TRUE(victim.events.empty());
    EXPECT_FALSE(victim.session.remote());
}

TEST(SessionUnderAttack, EndsAtARecordThatComesTwiceOrOutOfOrder) {
    for (const bool is_swapped : {false, true}) {
        SessionPair pair;
        pair.run();
        ASSERT_TRUE(pair.dialler.session.push_control({1}));
        const Bytes first = pair.dialler.send();
        ASSERT_TRUE(pair.dialler.session.push_control({2}));
        const Bytes second = pair.dialler.send();
        pair.acceptor.receive(is_swapped ? second : first);
        pair.acceptor.receive(first);
        EXPECT_TRUE(pair.acceptor.session.is_over());
        EXPECT_EQ(is_swapped ? 0U : 1U, pair.acceptor.control().size());
    }
}

TEST(SessionUnderAttack, NamesBothNetworksAtBothEndsWhereTheyDiffer) {
    for (const bool knows_id : {true, false}) {
        PairOptions options;
        options.knows_id = knows_id;
        options.acceptor.accept_unknown_id = true;
        options.acceptor.network = network(8);
        SessionPair pair(options);
        pair.run();
        for (const End* end : {&pair.dialler, &pair.acceptor}) {
            ASSERT_TRUE(end->session.is_over());
            const auto& failure = end->session.failure();
            EXPECT_EQ(ErrorCode::wrong_network, failure.code);
            EXPECT_NE(std::string::npos, failure.why.find(network(7).text()));
            EXPECT_NE(std::string::npos, failure.why.find(network(8).text()));
            EXPECT_FALSE(end->session.remote_hello());
        }
    }
}

TEST(SessionUnderAttack, TakesNoNetworkForTheSameAsNone) {
    PairOptions options;
    options.dialler.network = {};
    options.acceptor.network = {};
    SessionPair pair(options);
    pair.run();
    EXPECT_EQ(ErrorCode::wrong_network, pair.dialler.session.failure().code);
    EXPECT_EQ(ErrorCode::wrong_network, pair.acceptor.session.failure().code);
}

TEST(SessionUnderAttack, AnswersASuiteThatItDoesNotAcceptByTheListOfThoseItDoes) {
    const auto identity = Identity::from_seed(seed(20));
    for (const bool accepts_xx : {false, true}) {
        for (const int suite : {0, 2, 3, 0x80, 0xff}) {
            if (accepts_xx && suite == 2) continue;
            auto config = tests::session_config("acceptor");
            config.accept_unknown_id = accepts_xx;
            End end{Session::accept(config, identity, seed(40))};
            end.receive(Bytes{static_cast<std::uint8_t>(suite), 1, 2, 3});
            EXPECT_EQ(ErrorCode::unsupported, end.session.failure().code);
            const Bytes list{static_cast<std::uint8_t>(accepts_xx ? 0x83 : 0x81)};
            EXPECT_EQ(list, end.send());
            EXPECT_TRUE(end.send().empty());
        }
    }
}

TEST(SessionUnderAttack, TellsTheDiallerWhichSuitesTheOtherEndAccepts) {
    PairOptions options;
    options.knows_id = false;
    SessionPair pair(options);
    pair.run();
    EXPECT_EQ(ErrorCode::unsupported, pair.dialler.session.failure().code);
    EXPECT_NE(std::string::npos, pair.dialler.session.failure().why.find("IK"));
    EXPECT_EQ(std::string::npos, pair.dialler.session.failure().why.find("XX"));
}

TEST(SessionUnderAttack, RefusesAHandshakeMessageOfAnyOtherLengthBeforeItHasCome) {
    const auto identity = Identity::from_seed(seed(20));
    for (const int length : {0, 1, 127, 129, 512, 513, 65'535}) {
        End end{Session::accept(tests::session_config("acceptor"), identity, seed(40))};
        end.receive(Bytes{
            suite_ik, static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8)});
        EXPECT_EQ(ErrorCode::wrong_size, end.session.failure().code) << length;
        EXPECT_FALSE(end.session.has_output());
    }
}

TEST(SessionUnderAttack, RefusesToDialAWeakId) {
    core::PeerId weak;
    weak.bytes[0] = 1;  // the neutral element
    const auto identity = Identity::from_seed(seed(10));
    const auto session = Session::dial(tests::session_config("x"), identity, weak, seed(1));
    EXPECT_EQ(ErrorCode::forged, session.error().code);
}

TEST(SessionUnderAttack, RefusesAHelloWithAnIdThatIsNotThatOfItsKey) {
    Liar liar;
    Hello hello = liar.hello();
    hello.id = Identity::from_seed(seed(77)).id();
    liar.say(FrameKind::hello, encode(hello));
    EXPECT_EQ(ErrorCode::forged, liar.failure());
    EXPECT_FALSE(liar.victim.session.remote());
}

TEST(SessionUnderAttack, RefusesAHelloWithAWeakId) {
    Liar liar;
    Hello hello = liar.hello();
    hello.id = {};
    liar.say(FrameKind::hello, encode(hello));
    EXPECT_EQ(ErrorCode::forged, liar.failure());
}

TEST(SessionUnderAttack, RefusesEachFrameThatComesBeforeItsTime) {
    for (const auto kind : {FrameKind::control, FrameKind::bulk}) {
        Liar liar;
        liar.say(kind, {1});
        EXPECT_EQ(ErrorCode::malformed, liar.failure());
        EXPECT_TRUE(liar.victim.events.empty());
    }
    for (const auto kind : {FrameKind::confirm, FrameKind::rekey}) {
        Liar liar;
        liar.say(kind, {});
        EXPECT_EQ(ErrorCode::malformed, liar.failure());
    }
    Liar late;
    late.say(FrameKind::hello, encode(late.hello()));
    late.say(FrameKind::control, {1});  // without a confirmation
    EXPECT_EQ(ErrorCode::malformed, late.failure());
}

TEST(SessionUnderAttack, RefusesASecondHelloOrConfirmation) {
    Liar liar;
    liar.come_up();
    liar.say(FrameKind::hello, encode(liar.hello()));
    EXPECT_EQ(ErrorCode::malformed, liar.failure());
    Liar other;
    other.come_up();
    other.say(FrameKind::confirm, {});
    EXPECT_EQ(ErrorCode::malformed, other.failure());
}

TEST(SessionUnderAttack, RefusesARekeyThatIsNotAloneInItsRecord) {
    Liar liar;
    liar.come_up();
    Bytes plain;
    append_frame(FrameKind::control, Bytes{1}, plain);
    append_frame(FrameKind::rekey, {}, plain);
    liar.say(plain);
    EXPECT_EQ(ErrorCode::malformed, liar.failure());
}

TEST(SessionUnderAttack, RefusesALargeRecordBeforeTheLinkIsUp) {
    Liar liar;
    liar.say(FrameKind::hello, Bytes(hello_bytes_max, 0));
    EXPECT_EQ(ErrorCode::wrong_size, liar.failure());
}

TEST(SessionUnderAttack, TellsAnAuthenticPeerWhichFrameItRefused) {
    Liar liar;
    liar.come_up();
    (void)liar.victim.send();
    liar.say(Bytes{9, 0, 0, 0, 1, 0, 1});  // kind 9
    EXPECT_EQ(ErrorCode::unsupported, liar.failure());
    EXPECT_FALSE(liar.victim.send().empty());
}

TEST(SessionUnderAttack, GivesOutNothingOfARecordThatIsWrongAtItsEnd) {
    Liar liar;
    liar.come_up();
    Bytes plain;
    append_frame(FrameKind::control, Bytes{1}, plain);
    plain.push_back(0);
    liar.say(plain);
    EXPECT_EQ(ErrorCode::malformed, liar.failure());
    EXPECT_TRUE(liar.victim.control().empty());
}

}  // namespace
}  // namespace p2p::proto
