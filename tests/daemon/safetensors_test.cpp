#include "daemon/safetensors.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

using core::Bytes;
using core::ErrorCode;
using core::TensorInfo;

const std::vector<TensorInfo> layout{{"a.weight", {2, 3}, 0}, {"a.bias", {2}, 6}};
const std::vector<float> flat{1, 2, 3, 4, 5, 6, 7, 8};

Bytes written() {
    return write_safetensors(cut_tensors(layout, flat, ""), {{"format", "pt"}});
}

/// A file with this header and `data_bytes` zeros.
Bytes file_of(const std::string& header, std::size_t data_bytes) {
    Bytes file(8 + header.size() + data_bytes);
    core::store_le<std::uint64_t>(file.data(), header.size());
    std::copy(header.begin(), header.end(), file.begin() + 8);
    return file;
}

ErrorCode refusal_of(const Bytes& file) {
    const auto header = read_safetensors_header(file);
    EXPECT_FALSE(header.has_value());
    return header ? ErrorCode::in_use : header.error().code;
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
    const Bytes file = written();
    const auto header = read_safetensors_header(file);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ("pt", header->metadata.at("format"));
    EXPECT_EQ(0U, header->data_offset % 8);

    std::vector<float> again(flat.size());
    ASSERT_TRUE(gather_tensors(file, *header, layout, "", again));
    EXPECT_EQ(flat, again);
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
    const Bytes file = write_safetensors({{"x", {1}, core::FloatView(flat).first(1)}}, {});
    const std::string header = R"({"x":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
    ASSERT_EQ(8U + 56U + 4U, file.size());
    EXPECT_EQ(56U, core::load_le<std::uint64_t>(file.data()));
    EXPECT_EQ(
        header + std::string(56 - header.size(), ' '),
        core::as_text(core::ByteView(file).subspan(8, 56)));
    EXPECT_EQ((Bytes{0, 0, 0x80, 0x3f}), Bytes(file.end() - 4, file.end()));
}

TEST(Safetensors, SameTensorsGiveTheSameBytes) {
    EXPECT_EQ(written(), written());
}

TEST(Safetensors, EveryTruncationIsRefused) {
    const Bytes file = written();
    for (std::size_t length = 0; length < file.size(); ++length) {
        const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_FALSE(read_safetensors_header(cut).has_value()) << length;
    }
}

TEST(Safetensors, BytesAfterTheLastTensorAreRefused) {
    Bytes file = written();
    file.push_back(0);
    EXPECT_EQ(ErrorCode::wrong_size, refusal_of(file));
}

TEST(Safetensors, AHeaderBeyondEightMebibytesIsRefusedUnread) {
    Bytes file(8);
    core::store_le<std::uint64_t>(file.data(), 8 * 1024 * 1024 + 1);
    EXPECT_EQ(ErrorCode::too_large, refusal_of(file));
    core::store_le<std::uint64_t>(file.data(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(ErrorCode::too_large, refusal_of(file));
}

TEST(Safetensors, GapsAndOverlapsAreRefused) {
    const std::string gap = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                            R"("b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})";
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(gap, 4)));
    const std::string overlap = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})";
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(overlap, 4)));
}

TEST(Safetensors, ShapesThatOverflowOrDoNotFitAreRefused) {
    const std::string huge =
        R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})";
    EXPECT_EQ(ErrorCode::wrong_size, refusal_of(file_of(huge, 0)));
    const std::string other = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})";
    EXPECT_EQ(ErrorCode::wrong_size, refusal_of(file_of(other, 4)));
    const std::string outside = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_EQ(ErrorCode::wrong_size, refusal_of(file_of(outside, 4)));
}

TEST(Safetensors, WhatIsNoHeaderIsRefused) {
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of("[1,2]", 0)));
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of("{\"a\":", 0)));
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(R"({"a":{"dtype":"F32"}})", 0)));
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(R"({"__metadata__":{"a":1}})", 0)));
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(std::string(100000, '['), 0)));
    const std::string negative = R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})";
    EXPECT_EQ(ErrorCode::malformed, refusal_of(file_of(negative, 0)));
}

TEST(Safetensors, ATypeThatIsNotSpokenIsRefusedByName) {
    const auto header = read_safetensors_header(
        file_of(R"({"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", 2));
    ASSERT_FALSE(header.has_value());
    EXPECT_EQ(ErrorCode::unsupported, header.error().code);
    EXPECT_NE(std::string::npos, header.error().why.find("\"w\""));
}

TEST(Safetensors, TensorsOfAnotherModelAreRefusedByName) {
    const Bytes file = written();
    const auto header = read_safetensors_header(file);
    ASSERT_TRUE(header.has_value());
    std::vector<float> out(flat.size());
    const std::vector<TensorInfo> renamed{{"b.weight", {2, 3}, 0}, {"a.bias", {2}, 6}};
    EXPECT_EQ(ErrorCode::not_found, gather_tensors(file, *header, renamed, "", out).error().code);
    const std::vector<TensorInfo> reshaped{{"a.weight", {3, 2}, 0}, {"a.bias", {2}, 6}};
    EXPECT_EQ(ErrorCode::wrong_size, gather_tensors(file, *header, reshaped, "", out).error().code);
}

TEST(Safetensors, ValuesThatAreNotFiniteAreRefused) {
    std::vector<float> broken = flat;
    broken[5] = std::numeric_limits<float>::quiet_NaN();
    const Bytes file = write_safetensors(cut_tensors(layout, broken, ""), {});
    const auto header = read_safetensors_header(file);
    ASSERT_TRUE(header.has_value());
    std::vector<float> out(flat.size());
    EXPECT_EQ(ErrorCode::not_finite, gather_tensors(file, *header, layout, "", out).error().code);
}

}  // namespace
}  // namespace p2p::daemon
