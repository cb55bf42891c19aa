#include "core/base/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

constexpr std::array<std::string_view, 4> known{
    "train.epochs", "train.batch_size", "optimizer.momentum", "schedule.base_lr"};

TEST(Nearest, CountsEachKindOfEditOnce) {
    EXPECT_EQ(0U, edit_distance("epochs", "epochs"));
    EXPECT_EQ(1U, edit_distance("epochs", "epoch"));
    EXPECT_EQ(1U, edit_distance("epochs", "xepochs"));
    EXPECT_EQ(1U, edit_distance("epochs", "epichs"));
    EXPECT_EQ(1U, edit_distance("epochs", "epocsh"));
    EXPECT_EQ(6U, edit_distance("", "epochs"));
}

TEST(Nearest, IsSymmetric) {
    EXPECT_EQ(edit_distance("kitten", "sitting"), edit_distance("sitting", "kitten"));
    EXPECT_EQ(3U, edit_distance("kitten", "sitting"));
}

TEST(Nearest, FindsTheMisspeltName) {
    EXPECT_EQ("train.epochs", nearest_name("train.epocs", known));
    EXPECT_EQ("train.batch_size", nearest_name("train.batchsize", known));
}

TEST(Nearest, FindsTheSameWordInAnotherSection) {
    EXPECT_EQ("optimizer.momentum", nearest_name("train.momentum", known));
}

TEST(Nearest, FindsNothingWhereNothingIsNear) {
    EXPECT_FALSE(nearest_name("colour", known));
    EXPECT_FALSE(nearest_name("", known));
}

TEST(Nearest, LooksAtABoundedPartOfALongName) {
    const std::string longer(1'000'000, 'x');
    EXPECT_EQ(128U, edit_distance(longer, ""));
    EXPECT_EQ(0U, edit_distance(longer, longer + "y"));
}

}  // namespace
}  // namespace p2p::core
