#include "daemon/unix_listener.hpp"

#include <gtest/gtest.h>

#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {
namespace {

TEST(UnixListener, ANameLeftBehindIsTakenOver) {
    const TempFolder temp;
    const Path place = temp.path() / "s.sock";
    { ASSERT_TRUE(listen_unix({place, 0600, ""}).has_value()); }
    ASSERT_TRUE(std::filesystem::exists(place));
    EXPECT_TRUE(listen_unix({place, 0600, ""}).has_value());
}

TEST(UnixListener, WhatIsNoSocketIsNotRemoved) {
    const TempFolder temp;
    put_text(temp.path() / "s.sock", "precious");
    const auto listener = listen_unix({temp.path() / "s.sock", 0600, ""});
    ASSERT_FALSE(listener.has_value());
    EXPECT_EQ("precious", get_text(temp.path() / "s.sock"));
}

TEST(UnixListener, APlaceThatCannotBeIsNamed) {
    const TempFolder temp;
    EXPECT_EQ(
        core::ErrorCode::unwritable,
        listen_unix({temp.path() / "no/where.sock", 0600, ""}).error().code);
    EXPECT_EQ(
        core::ErrorCode::invalid,
        listen_unix({temp.path() / std::string(120, 'x'), 0600, ""}).error().code);
    EXPECT_EQ(
        core::ErrorCode::invalid,
        listen_unix({temp.path() / "s.sock", 0600, "no-such-group"}).error().code);
}

}  // namespace
}  // namespace p2p::daemon
