#include "proto/toml.hpp"

#include <gtest/gtest.h>

namespace p2p::proto {
namespace {

constexpr std::size_t enough = 1024;

/// The value of that name and kind; a default one, and a failed test, where there is none.
template <typename T>
T member(const TomlTable& table, std::string_view name) {
    const auto* value = table.find(name);
    EXPECT_TRUE(value != nullptr && value->get<T>() != nullptr) << name;
    return value == nullptr ? T{} : value->as<T>().value_or(T{});
}

TEST(Toml, KeepsKindsAndPlaces) {
    const auto table = parse_toml("a = true\n[b]\n  c = 3\n  d = 0.5\n  e = ['x', 'y']\n", enough);
    ASSERT_TRUE(table);
    EXPECT_TRUE(member<bool>(*table, "a"));
    const auto b = member<TomlTable>(*table, "b");
    EXPECT_EQ(3, member<std::int64_t>(b, "c"));
    EXPECT_EQ(0.5, member<double>(b, "d"));
    EXPECT_EQ("y", member<TomlArray>(b, "e").at(1).as<std::string>());
    EXPECT_EQ((TomlPlace{3, 7}), b.entries.at(0).value.place);
    EXPECT_EQ((TomlPlace{3, 3}), b.entries.at(0).place);
    EXPECT_EQ(nullptr, b.find("f"));
}

TEST(Toml, NamesKindsInWords) {
    const auto table = parse_toml("a = true\nb = 1\nc = 1.0\nd = ''\ne = []\nf = {}\n", enough);
    ASSERT_TRUE(table);
    EXPECT_EQ("a boolean", table->find("a")->kind());
    EXPECT_EQ("a whole number", table->find("b")->kind());
    EXPECT_EQ("a number", table->find("c")->kind());
    EXPECT_EQ("a string", table->find("d")->kind());
    EXPECT_EQ("an array", table->find("e")->kind());
    EXPECT_EQ("a table", table->find("f")->kind());
}

TEST(Toml, SaysWhereAFaultIs) {
    const auto table = parse_toml("a = 1\nb = = 2\n", enough);
    ASSERT_FALSE(table);
    EXPECT_EQ(core::ErrorCode::malformed, table.error().code);
    EXPECT_EQ(0U, table.error().what.find("line 2, column ")) << table.error().text();
    EXPECT_FALSE(table.error().why.empty());
}

TEST(Toml, RefusesDuplicatesDatesAndWhatIsTooLong) {
    EXPECT_FALSE(parse_toml("a = 1\na = 2\n", enough));
    EXPECT_FALSE(parse_toml("a = \"\xff\"\n", enough));
    const auto date = parse_toml("a = 1979-05-27\n", enough);
    ASSERT_FALSE(date);
    EXPECT_EQ("line 1, column 5", date.error().what);
    const auto longer = parse_toml(std::string(enough + 1, '#'), enough);
    ASSERT_FALSE(longer);
    EXPECT_EQ(core::ErrorCode::too_large, longer.error().code);
}

TEST(Toml, RefusesNestingWithoutEnd) {
    EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['), 1'000'000));
}

TEST(Toml, NamesLeavesBySectionAndCountsEmptyTables) {
    const auto table = parse_toml("z = 1\n[b]\nc = 3\n[b.d]\ne = 4\n[f]\n", enough);
    ASSERT_TRUE(table);
    std::string names;
    for (const auto& leaf : toml_leaves(*table)) {
        names += leaf.name + " ";
    }
    EXPECT_EQ("b.c b.d.e f z ", names);
}

TEST(Toml, QuotesWhatItReadsBack) {
    const std::string odd = "a\"b\\c\nd\x7f\t\xc3\xa9";
    const auto table = parse_toml("a = " + toml_quoted(odd), enough);
    ASSERT_TRUE(table);
    EXPECT_EQ(odd, member<std::string>(*table, "a"));
}

}  // namespace
}  // namespace p2p::proto
