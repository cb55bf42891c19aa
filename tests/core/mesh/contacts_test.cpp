#include "core/mesh/contacts.hpp"

#include <gtest/gtest.h>

#include "core/mesh/directory.hpp"
#include "core/mesh/liveness.hpp"
#include "core/mesh/trust.hpp"
#include "tests/support/peers.hpp"

namespace p2p::core {
namespace {

using test::at;
using test::peer;

TEST(Contacts, LetTheLowerIdDialFirst) {
    Contacts low(peer(1), Rng(1));
    Contacts high(peer(9), Rng(1));
    low.add(at(0), peer(5), {"10.0.0.5:7470"});
    high.add(at(0), peer(5), {"10.0.0.5:7470"});
    EXPECT_TRUE(low.next_dial(at(0)));
    EXPECT_FALSE(high.next_dial(at(0.5)));
    EXPECT_TRUE(high.next_dial(at(1)));
}

TEST(Contacts, PauseLongerAfterEachFailureButNeverForGood) {
    Contacts contacts(peer(1), Rng(1));
    contacts.add(at(0), peer(5), {"10.0.0.5:7470"});
    double now = 0;
    double pause = 0;
    for (int i = 0; i < 12; ++i) {
        ASSERT_TRUE(contacts.next_dial(at(now)));
        EXPECT_FALSE(contacts.next_dial(at(now)));  // it is being dialled
        contacts.on_unreachable(at(now), peer(5));
        const double next = to_seconds(*contacts.next_wakeup() - TimePoint{});
        if (i < 5) {
            EXPECT_GT(next - now, 1.3 * pause);
        }
        pause = next - now;
        EXPECT_LE(pause, 36.0);
        now = next;
    }
}

TEST(Contacts, NeverDialWhoIsConnectedOrHasNoAddress) {
    Contacts contacts(peer(1), Rng(1));
    contacts.add(at(0), peer(5), {"10.0.0.5:7470"});
    contacts.add(at(0), peer(6), {});
    contacts.add(at(0), peer(1), {"10.0.0.1:7470"});  // itself
    contacts.on_connected(peer(5));
    EXPECT_FALSE(contacts.next_dial(at(100)));
    EXPECT_FALSE(contacts.next_wakeup());
    contacts.on_disconnected(at(100), peer(5));
    EXPECT_TRUE(contacts.next_dial(at(102)));
}

TEST(Contacts, KeepTheNewestAddressesAndAFewOfThem) {
    Contacts contacts(peer(1), Rng(1));
    for (int i = 0; i < 20; ++i) {
        contacts.add(at(0), peer(5), {"10.0.0.5:" + std::to_string(i + 1)});
    }
    const auto addresses = contacts.addresses(peer(5));
    EXPECT_EQ(limits::addresses_a_peer_max, addresses.size());
    EXPECT_EQ("10.0.0.5:20", addresses.front());
}

TEST(Liveness, PingsWhenDueAndFindsTheRoundTrip) {
    Liveness liveness({});
    liveness.on_connected(at(0), peer(2));
    const auto due = liveness.take_due(at(0));
    ASSERT_EQ(1U, due.pings.size());
    EXPECT_TRUE(liveness.take_due(at(0.5)).pings.empty());
    liveness.on_pong(at(0.08), peer(2), due.pings[0].second + 1);  // an answer to nothing
    EXPECT_FALSE(liveness.round_trip(peer(2)));
    liveness.on_pong(at(0.08), peer(2), due.pings[0].second);
    EXPECT_NEAR(0.08, to_seconds(*liveness.round_trip(peer(2))), 1e-6);
}

TEST(Liveness, SuspectsTheSilentAndFailsItLater) {
    Liveness liveness({});
    liveness.on_connected(at(0), peer(2));
    EXPECT_FALSE(liveness.is_suspect(at(2), peer(2)));
    EXPECT_TRUE(liveness.is_suspect(at(2.5), peer(2)));
    liveness.on_heard(at(3), peer(2));
    EXPECT_FALSE(liveness.is_suspect(at(4), peer(2)));
    EXPECT_TRUE(liveness.take_due(at(17)).failed.empty());
    EXPECT_EQ(1U, liveness.take_due(at(18)).failed.size());
}

TEST(Directory, KeepsTheNewestRecordAndOnlyThePeersOwn) {
    Directory directory;
    PeerRecord record;
    record.id = peer(2);
    record.incarnation = Incarnation{3};
    record.version = 2;
    EXPECT_TRUE(directory.add(made_here(peer(2), record)));
    EXPECT_FALSE(directory.add(made_here(peer(2), record)));
    EXPECT_FALSE(directory.add(made_here(peer(7), record)));  // of somebody else
    record.version = 1;
    EXPECT_FALSE(directory.add(made_here(peer(2), record)));
    record.incarnation = Incarnation{4};
    EXPECT_TRUE(directory.add(made_here(peer(2), record)));
    ASSERT_EQ(1U, directory.all().size());
    EXPECT_EQ(Incarnation{4}, directory.all().front().value.incarnation);
}

TEST(Trust, LetsInWhoIsListedAndNobodyElse) {
    const Trust trust(
        peer(1), {{.id = peer(2), .name = "b", .addresses = {}, .roles = {Role::train}}});
    EXPECT_TRUE(trust.may_connect(peer(2)));
    EXPECT_FALSE(trust.may_connect(peer(3)));
    EXPECT_TRUE(trust.has_role(peer(2), Role::train));
    EXPECT_FALSE(trust.has_role(peer(2), Role::submit));
    EXPECT_TRUE(trust.has_role(peer(1), Role::admin));  // this node itself
}

}  // namespace
}  // namespace p2p::core
