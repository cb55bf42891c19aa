#include "daemon/state_dir.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {
namespace {

using core::ErrorCode;
using core::Incarnation;

TEST(StateDir, IsCreatedForItsOwnerAlone) {
    const TempFolder temp;
    const Path folder = temp.path() / "deep" / "state";
    ASSERT_TRUE(StateDir::open(folder).has_value());
    const auto modes = std::filesystem::status(folder).permissions();
    EXPECT_EQ(std::filesystem::perms::owner_all, modes);
}

TEST(StateDir, ASecondProcessIsToldWhoHoldsIt) {
    const TempFolder temp;
    const auto first = StateDir::open(temp.path());
    ASSERT_TRUE(first.has_value());
    const auto second = StateDir::open(temp.path());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(ErrorCode::in_use, second.error().code);
    EXPECT_NE(std::string::npos, second.error().why.find(std::to_string(::getpid())));
    EXPECT_FALSE(second.error().next.empty());
}

TEST(StateDir, IsFreeAgainWhenItsHolderIsGone) {
    const TempFolder temp;
    { ASSERT_TRUE(StateDir::open(temp.path()).has_value()); }
    EXPECT_TRUE(StateDir::open(temp.path()).has_value());
}

TEST(StateDir, OneThatCannotBeWrittenIsNamed) {
    const auto state = StateDir::open("/proc/p2pd-state");  // refuses root, too
    ASSERT_FALSE(state.has_value());
    EXPECT_EQ(ErrorCode::unwritable, state.error().code);
    EXPECT_NE(std::string::npos, state.error().what.find("/proc/p2pd-state"));
    EXPECT_FALSE(state.error().why.empty());
    EXPECT_FALSE(state.error().next.empty());
}

TEST(StateDir, IncarnationsRiseOverStarts) {
    const TempFolder temp;
    for (std::uint64_t start = 1; start <= 3; ++start) {
        auto state = StateDir::open(temp.path());
        ASSERT_TRUE(state.has_value());
        const auto incarnation = state->raise_incarnation();
        ASSERT_TRUE(incarnation.has_value());
        EXPECT_EQ(Incarnation{start}, *incarnation);
    }
}

TEST(StateDir, AnIncarnationThatCannotBeReadStopsTheStart) {
    const TempFolder temp;
    auto state = StateDir::open(temp.path());
    ASSERT_TRUE(state.has_value());
    for (const char* text : {"", "abc\n", "12 13\n", "-1\n"}) {
        put_text(temp.path() / "incarnation", text);
        const auto raised = state->raise_incarnation();
        ASSERT_FALSE(raised.has_value()) << text;
        EXPECT_EQ(ErrorCode::malformed, raised.error().code);
    }
}

}  // namespace
}  // namespace p2p::daemon
