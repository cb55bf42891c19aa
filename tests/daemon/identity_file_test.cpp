#include "daemon/identity_file.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {
namespace {

using core::ErrorCode;

ErrorCode refusal_of(const Path& file) {
    const auto identity = load_or_create_identity(file);
    EXPECT_FALSE(identity.has_value());
    if (identity) return ErrorCode::in_use;
    EXPECT_NE(std::string::npos, identity.error().what.find(file.string()));
    return identity.error().code;
}

TEST(IdentityFile, TheSameFileIsTheSameNode) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    const auto made = load_or_create_identity(file);
    ASSERT_TRUE(made.has_value());
    const auto read = load_or_create_identity(file);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(made->id(), read->id());
}

TEST(IdentityFile, TwoFilesAreTwoNodes) {
    const TempFolder temp;
    const auto a = create_identity(temp.path() / "a.key");
    const auto b = create_identity(temp.path() / "b.key");
    ASSERT_TRUE(a.has_value() && b.has_value());
    EXPECT_NE(a->id(), b->id());
}

TEST(IdentityFile, IsReadableByItsOwnerAlone) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    ASSERT_TRUE(create_identity(file).has_value());

    struct stat info {};

    ASSERT_EQ(0, ::stat(file.c_str(), &info));
    EXPECT_EQ(0600U, info.st_mode & 07777U);
    EXPECT_EQ(32, info.st_size);
}

TEST(IdentityFile, OneThatOthersMayReadIsRefusedWithTheCommandThatMendsIt) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    ASSERT_TRUE(create_identity(file).has_value());
    for (const mode_t mode : {0644U, 0640U, 0660U, 0601U}) {
        ASSERT_EQ(0, ::chmod(file.c_str(), mode));
        const auto identity = read_identity(file);
        ASSERT_FALSE(identity.has_value());
        EXPECT_EQ(ErrorCode::insecure, identity.error().code);
        EXPECT_NE(std::string::npos, identity.error().next.find("chmod 0600"));
    }
}

TEST(IdentityFile, ALinkIsRefused) {
    const TempFolder temp;
    ASSERT_TRUE(create_identity(temp.path() / "real.key").has_value());
    std::filesystem::create_symlink(temp.path() / "real.key", temp.path() / "link.key");
    EXPECT_EQ(ErrorCode::insecure, refusal_of(temp.path() / "link.key"));
}

TEST(IdentityFile, OneOfAnotherSizeIsRefusedAndKept) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    for (const std::size_t size : {0U, 31U, 33U, 4096U}) {
        put_text(file, std::string(size, 'x'));
        ::chmod(file.c_str(), 0600);
        EXPECT_EQ(ErrorCode::wrong_size, refusal_of(file));
        EXPECT_EQ(size, get_text(file).size());
    }
}

TEST(IdentityFile, OneOfZerosIsRefused) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    put_text(file, std::string(32, '\0'));
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file));
}

TEST(IdentityFile, AFolderInItsPlaceIsRefused) {
    const TempFolder temp;
    EXPECT_EQ(ErrorCode::insecure, refusal_of(temp.path()));
}

TEST(IdentityFile, ItIsNotCreatedOverAnother) {
    const TempFolder temp;
    const Path file = temp.path() / "identity.key";
    ASSERT_TRUE(create_identity(file).has_value());
    const auto again = create_identity(file);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(ErrorCode::conflict, again.error().code);
}

}  // namespace
}  // namespace p2p::daemon
