#include "proto/spec_keys.hpp"

#include <gtest/gtest.h>

namespace p2p::proto {
namespace {

SpecValue some_value(SpecForm form) {
    switch (form) {
        case SpecForm::count:
        case SpecForm::duration: return std::uint64_t{7};
        case SpecForm::real: return 0.25;
        case SpecForm::text:
        case SpecForm::texts: return std::string("x");
        case SpecForm::counts: return std::vector<std::uint64_t>{4, 2};
        case SpecForm::tensors: return std::vector<core::TensorInfo>{{"a", {3}, 0}};
    }
    return {};
}

TEST(SpecKeys, FindsEachOfThem) {
    for (const auto& key : spec_keys()) {
        EXPECT_EQ(&key, find_spec_key(key.name));
        EXPECT_FALSE(key.takes.empty());
    }
    EXPECT_EQ(nullptr, find_spec_key("train.epoch"));
    EXPECT_EQ(nullptr, find_spec_key(""));
    EXPECT_EQ(nullptr, find_spec_key("zzz"));
}

TEST(SpecKeys, LeaveASpecAloneOrPutTheirValueIn) {
    for (const auto& key : spec_keys()) {
        core::JobSpec spec;
        SpecValue value = some_value(key.form);
        const bool is_set = key.set(spec, value);
        const bool is_text = key.form == SpecForm::text;
        EXPECT_TRUE(is_set || is_text) << key.name;
        const bool only_checks =
            key.name == "model.dtype" || key.name == "train.loss" || key.name == "schema";
        EXPECT_TRUE(only_checks || !is_set || core::JobSpec{} != spec) << key.name;
    }
}

TEST(SpecKeys, BringSplitsIntoOneForm) {
    core::JobSpec spec;
    SpecValue value = std::string("dirichlet(0.30)");
    ASSERT_TRUE(find_spec_key("data.split")->set(spec, value));
    EXPECT_EQ(SpecValue{std::string("dirichlet(0.3)")}, value);
    EXPECT_EQ(core::SplitKind::dirichlet, spec.data.split);
    EXPECT_EQ(0.3, spec.data.dirichlet_alpha);
}

TEST(SpecKeys, RefuseSplitsThatAreNone) {
    for (const auto* text :
         {"",
          "IID",
          "dirichlet",
          "dirichlet()",
          "dirichlet(x)",
          "dirichlet(1",
          "dirichlet(1)x",
          "dirichlet( 1)",
          "dirichlet(inf)",
          "dirichlet(nan)",
          "dirichlet(1e999)"}) {
        core::JobSpec spec;
        SpecValue value = std::string(text);
        EXPECT_FALSE(find_spec_key("data.split")->set(spec, value)) << text;
    }
}

TEST(SpecKeys, LayTensorsOneAfterTheOther) {
    core::JobSpec spec;
    SpecValue value = std::vector<core::TensorInfo>{{"a", {2, 3}, 0}, {"s", {}, 0}, {"b", {5}, 0}};
    ASSERT_TRUE(find_spec_key("model.tensors")->set(spec, value));
    EXPECT_EQ(6U, spec.model.tensors[1].offset);
    EXPECT_EQ(7U, spec.model.tensors[2].offset);
}

TEST(SpecKeys, RefuseTensorsWhoseSizesWrapAround) {
    core::JobSpec spec;
    const std::uint64_t half = std::uint64_t{1} << 32U;
    SpecValue wide = std::vector<core::TensorInfo>{{"a", {half, half}, 0}};
    EXPECT_FALSE(find_spec_key("model.tensors")->set(spec, wide));
    SpecValue many(std::vector<core::TensorInfo>(3, {"a", {std::uint64_t{1} << 39U}, 0}));
    EXPECT_FALSE(find_spec_key("model.tensors")->set(spec, many));
    SpecValue none = std::vector<core::TensorInfo>{{"a", {0}, 0}};
    EXPECT_FALSE(find_spec_key("model.tensors")->set(spec, none));
}

}  // namespace
}  // namespace p2p::proto
