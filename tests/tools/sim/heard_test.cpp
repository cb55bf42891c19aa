// What a world need not deliver: only what the receiver is known to have, of a life that lasts.

#include "tools/sim/heard.hpp"

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::sim {
namespace {

core::PeerId peer(std::uint8_t number) {
    core::PeerId id;
    id.bytes[0] = number;
    return id;
}

core::Signed<core::PeerRecord> record(std::uint8_t author, std::uint64_t version) {
    core::PeerRecord value;
    value.id = peer(author);
    value.incarnation = core::Incarnation{1};
    value.version = version;
    return core::made_here(peer(author), value);
}

core::Message told(std::uint8_t author, std::uint64_t version) {
    core::PeerRecords records;
    records.records = {record(author, version)};
    return records;
}

const std::map<core::PeerId, std::size_t> three{{peer(1), 0}, {peer(2), 1}, {peer(3), 2}};

TEST(Heard, ANodeHasWhatItToldAndNothingNewer) {
    Heard heard(three);
    heard.on_told(/*node=*/1, told(1, 7));
    EXPECT_TRUE(heard.knows(1, told(1, 7)));
    EXPECT_TRUE(heard.knows(1, told(1, 6)));
    EXPECT_FALSE(heard.knows(1, told(1, 8)));
    EXPECT_FALSE(heard.knows(2, told(1, 7)));
}

TEST(Heard, WhatIsSaidOfItselfANodeAlwaysHears) {
    Heard heard(three);
    heard.on_told(0, told(1, 7));
    EXPECT_FALSE(heard.knows(0, told(1, 7)));
}

TEST(Heard, ANewLifeHasNothing) {
    Heard heard(three);
    heard.on_told(1, told(1, 7));
    heard.forget(1);
    EXPECT_FALSE(heard.knows(1, told(1, 7)));
}

TEST(Heard, OfSeveralRecordsOnlyTheNewsIsKept) {
    Heard heard(three);
    core::PeerRecords known;
    known.records = {record(1, 1)};
    heard.on_told(1, known);
    core::PeerRecords both;
    both.records = {record(1, 1), record(3, 1)};
    core::Message message = both;
    EXPECT_TRUE(heard.keep_news(1, message));
    ASSERT_EQ(1U, std::get<core::PeerRecords>(message).records.size());
    EXPECT_EQ(peer(3), std::get<core::PeerRecords>(message).records[0].author);
    message = known;
    EXPECT_FALSE(heard.keep_news(1, message));
}

TEST(Id, IsOrderedAsItsBytes) {
    core::Rng rng(3);
    for (int i = 0; i < 2000; ++i) {
        core::PeerId a;
        core::PeerId b;
        for (std::size_t at = 0; at < 32; ++at) {  // few values: most pairs share a beginning
            a.bytes[at] = static_cast<std::uint8_t>(255 * rng.below(2));
            b.bytes[at] =
                at < rng.below(32) ? a.bytes[at] : static_cast<std::uint8_t>(rng.below(256));
        }
        EXPECT_EQ(a.bytes <=> b.bytes, a <=> b);
        EXPECT_EQ(a.bytes == b.bytes, a == b);
    }
}

}  // namespace
}  // namespace p2p::sim
