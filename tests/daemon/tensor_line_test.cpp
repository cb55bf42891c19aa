#include "daemon/tensor_line.hpp"

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

TEST(TensorLine, EachIsReadAsWhatItSays) {
    const auto attach =
        read_tensor_line(R"({"op":"attach","job":"a",)"
                         R"("tensors":[{"name":"x","shape":[2,2]},{"name":"y","shape":[]}],)"
                         R"("set_samples":9,"spec":"s"})");
    ASSERT_TRUE(attach.has_value());
    const auto& line = std::get<AttachLine>(*attach);
    EXPECT_EQ(9U, line.set_samples);
    EXPECT_EQ(4U, line.tensors[1].offset);
    EXPECT_EQ("s", line.spec);
    EXPECT_TRUE(std::holds_alternative<WaitLine>(*read_tensor_line(R"({"op":"wait"})")));
}

TEST(TensorLine, WhatMakesNoSenseIsRefused) {
    for (const char* text :
         {"",
          "{}",
          "[]",
          "null",
          R"({"op":1})",
          R"({"op":"dance"})",
          R"({"op":"attach","job":"a","tensors":[]})",
          R"({"op":"attach","job":"","tensors":[{"name":"x","shape":[1]}]})",
          R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[0]}]})",
          R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[-1]}]})",
          R"({"op":"attach","job":"a","tensors":[{"name":"","shape":[1]}]})",
          R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[4294967296,4294967296]}]})",
          R"({"op":"attach","job":"a",)"
          R"("tensors":[{"name":"x","shape":[1]},{"name":"x","shape":[1]}]})",
          R"({"op":"attach","job":"a","tensors":[{"name":"x","shape":[1,1,1,1,1,1,1,1,1]}]})",
          R"({"op":"step"})",
          R"({"op":"step","samples":0})",
          R"({"op":"step","samples":1e30})"}) {
        EXPECT_FALSE(read_tensor_line(text).has_value()) << text;
    }
}

TEST(TensorLine, ALossThatIsNoNumberCountsAsNone) {
    for (const char* loss : {"null", "\"much\"", "true"}) {
        const auto line =
            read_tensor_line(std::string(R"({"op":"step","samples":1,"loss":)") + loss + "}");
        ASSERT_TRUE(line.has_value()) << loss;
        EXPECT_EQ(0.0, std::get<StepLine>(*line).loss);
    }
}

}  // namespace
}  // namespace p2p::daemon
