#include "core/data/file.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/core/data/temporary_folder.hpp"

namespace p2p::core {
namespace {

TEST(ReadFile, GivesTheBytesThatWereWritten) {
    const TemporaryFolder folder;
    const Bytes bytes{0, 1, 255, 10, 13, 0};
    folder.write("a", bytes);
    folder.write("empty", {});
    EXPECT_EQ(bytes, read_file(folder.path("a"), 6).value());
    EXPECT_TRUE(read_file(folder.path("empty"), 0).value().empty());
}

TEST(ReadFile, RefusesMoreBytesThanItIsAllowed) {
    const TemporaryFolder folder;
    folder.write("a", Bytes(7));
    const auto result = read_file(folder.path("a"), 6);
    EXPECT_EQ(ErrorCode::too_large, result.error().code);
    EXPECT_NE(std::string::npos, result.error().what.find(folder.path("a")));
}

TEST(ReadFile, NamesTheAbsolutePathOfAMissingFile) {
    const auto result = read_file("no-such-file", 10);
    EXPECT_EQ(ErrorCode::not_found, result.error().code);
    EXPECT_NE(std::string::npos, result.error().what.find(" /"));
    EXPECT_NE(std::string::npos, result.error().what.find("/no-such-file"));
}

TEST(ReadFile, RefusesAFolderAndAPipeWithoutWaiting) {
    const TemporaryFolder folder;
    ASSERT_EQ(0, ::mkfifo(folder.path("pipe").c_str(), 0600));
    EXPECT_EQ(ErrorCode::unreadable, read_file(folder.path(), 10).error().code);
    EXPECT_EQ(ErrorCode::unreadable, read_file(folder.path("pipe"), 10).error().code);
}

TEST(FileKinds, AreToldApart) {
    const TemporaryFolder folder;
    folder.write("a", Bytes(1));
    EXPECT_TRUE(is_regular_file(folder.path("a")));
    EXPECT_FALSE(is_regular_file(folder.path()));
    EXPECT_FALSE(is_regular_file(folder.path("b")));
    EXPECT_TRUE(is_folder(folder.path()));
    EXPECT_FALSE(is_folder(folder.path("a")));
}

}  // namespace
}  // namespace p2p::core
