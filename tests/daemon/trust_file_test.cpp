#include "daemon/trust_file.hpp"

#include <gtest/gtest.h>

#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {
namespace {

using core::ErrorCode;
using core::NetworkId;
using core::PeerId;
using core::Role;

PeerId id_of(std::uint8_t first_byte) {
    PeerId id;
    id.bytes[0] = first_byte;
    return id;
}

std::string entry_of(std::uint8_t first_byte, const std::string& more = "") {
    return "[[peer]]\nid = \"" + id_of(first_byte).text() + "\"\n" + more;
}

TEST(TrustFile, PeersAreReadWithTheirRoles) {
    const auto peers = read_peers(
        entry_of(
            1, "name = \"a\"\naddresses = [\"10.0.0.1:7470\"]\nroles = [\"train\", \"admin\"]\n")
            + entry_of(2),
        "peers.toml");
    ASSERT_TRUE(peers.has_value()) << peers.error().text();
    ASSERT_EQ(2U, peers->size());
    EXPECT_EQ("a", (*peers)[0].name);
    EXPECT_EQ((std::set{Role::train, Role::admin}), (*peers)[0].roles);
    EXPECT_EQ((std::set{Role::train, Role::submit}), (*peers)[1].roles);
}

TEST(TrustFile, WhatIsWrongIsToldWithItsLine) {
    for (const std::string& text :
         {entry_of(1, "nme = \"a\"\n"),
          entry_of(1, "roles = [\"king\"]\n"),
          entry_of(1, "roles = []\n"),
          entry_of(1, "addresses = [\"nowhere\"]\n"),
          entry_of(1, "name = 3\n"),
          std::string("[[peer]]\nname = \"a\"\n"),
          std::string("[[peer]]\nid = \"short\"\n"),
          std::string("peer = 1\n"),
          std::string("[peers]\n"),
          entry_of(1) + entry_of(1)}) {
        const auto peers = read_peers(text, "/etc/p2pd/peers.toml");
        ASSERT_FALSE(peers.has_value()) << text;
        EXPECT_NE(std::string::npos, peers.error().what.find("/etc/p2pd/peers.toml, line "))
            << peers.error().text();
    }
}

TEST(TrustFile, AMissingFileListsNobody) {
    const auto peers = load_peers("/nonexistent/peers.toml");
    ASSERT_TRUE(peers.has_value());
    EXPECT_TRUE(peers->empty());
}

TEST(TrustFile, AFoundedNetworkIsRememberedAndNotFoundedTwice) {
    const TempFolder temp;
    EXPECT_TRUE(settle_network(temp.path(), std::nullopt)->is_zero());
    const auto founded = found_network(temp.path(), id_of(1));
    ASSERT_TRUE(founded.has_value());
    EXPECT_EQ(*founded, *settle_network(temp.path(), std::nullopt));
    const auto again = found_network(temp.path(), id_of(1));
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(ErrorCode::conflict, again.error().code);
}

TEST(TrustFile, OneFounderNeverFoundsTheSameNetworkAgain) {
    const TempFolder a;
    const TempFolder b;
    EXPECT_NE(*found_network(a.path(), id_of(1)), *found_network(b.path(), id_of(1)));
}

TEST(TrustFile, TheConfigurationNamesANetworkOrPinsIt) {
    const TempFolder temp;
    const NetworkId named{id_of(9).bytes};
    EXPECT_EQ(named, *settle_network(temp.path(), named));
    const auto founded = found_network(temp.path(), id_of(1));
    ASSERT_TRUE(founded.has_value());
    EXPECT_EQ(*founded, *settle_network(temp.path(), *founded));
    const auto other = settle_network(temp.path(), named);
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(ErrorCode::conflict, other.error().code);
    EXPECT_NE(std::string::npos, other.error().why.find(named.text()));
    EXPECT_NE(std::string::npos, other.error().why.find(founded->text()));
}

TEST(TrustFile, ANetworkFileThatHoldsSomethingElseIsAnError) {
    const TempFolder temp;
    put_text(temp.path() / "trust/network", "hello\n");
    EXPECT_EQ(ErrorCode::malformed, read_network(temp.path()).error().code);
}

}  // namespace
}  // namespace p2p::daemon
