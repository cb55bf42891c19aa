#include "proto/json.hpp"

#include <gtest/gtest.h>

namespace p2p::proto {
namespace {

constexpr std::size_t enough = 1024;

TEST(Json, KeepsTheOrderOfKeys) {
    const Json value{{"schema", "p2pd.status/1"}, {"a", 1}};
    EXPECT_EQ(R"({"schema":"p2pd.status/1","a":1})", json_text(value));
    EXPECT_EQ(value, *parse_json(json_pretty_text(value), enough));
}

TEST(Json, GivesMembersOfTheKindAskedForAndNothingElse) {
    const auto value = parse_json(R"({"n":7,"big":18446744073709551615,"t":"x","b":true})", enough);
    ASSERT_TRUE(value);
    EXPECT_EQ(7U, json_member<std::uint32_t>(*value, "n"));
    EXPECT_EQ(7.0, json_member<double>(*value, "n"));
    EXPECT_EQ(true, json_member<bool>(*value, "b"));
    EXPECT_EQ("x", json_member<std::string>(*value, "t"));
    EXPECT_FALSE(json_member<std::int64_t>(*value, "big"));
    EXPECT_FALSE(json_member<std::uint32_t>(*value, "t"));
    EXPECT_FALSE(json_member<std::string>(*value, "absent"));
    EXPECT_FALSE(json_member<std::string>(Json::array(), "absent"));
}

TEST(Json, RefusesWhatIsNoJson) {
    for (const auto* text : {"", "{", "{\"a\":}", "[1,]", "nan", "1e999", "1 2", "\"\xff\""}) {
        const auto value = parse_json(text, enough);
        ASSERT_FALSE(value) << text;
        EXPECT_EQ(core::ErrorCode::malformed, value.error().code) << text;
    }
}

TEST(Json, RefusesWhatIsTooLongOrTooDeep) {
    EXPECT_FALSE(parse_json(std::string(enough + 1, ' ') + "1", enough));
    EXPECT_FALSE(parse_json(std::string(json_depth_max + 1, '['), enough));
    const std::string deepest = std::string(json_depth_max, '[') + std::string(json_depth_max, ']');
    EXPECT_TRUE(parse_json(deepest, enough));
    EXPECT_TRUE(parse_json("\"" + std::string(json_depth_max + 1, '[') + "\"", enough));
}

TEST(Json, WritesBytesThatAreNoTextWithoutThrowing) {
    EXPECT_EQ("\"\\ufffd\"", json_text(Json("\xff"), /*is_ascii=*/true));
}

}  // namespace
}  // namespace p2p::proto
