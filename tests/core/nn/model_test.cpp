#include "core/nn/model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"

namespace p2p::core {
namespace {

ModelSpec mlp(std::vector<std::uint32_t> layers) {
    ModelSpec spec;
    spec.layers = std::move(layers);
    return spec;
}

ModelSpec external(std::vector<TensorInfo> tensors) {
    ModelSpec spec;
    spec.kind = ModelKind::external;
    spec.tensors = std::move(tensors);
    return spec;
}

TEST(ModelTensors, OfAnMlpAreNamedAndShapedAsPytorchHasThem) {
    const std::vector<TensorInfo> expected{
        {"layers.0.weight", {256, 784}, 0},
        {"layers.0.bias", {256}, 200704},
        {"layers.1.weight", {10, 256}, 200960},
        {"layers.1.bias", {10}, 203520},
    };
    EXPECT_EQ(expected, model_tensors(mlp({784, 256, 10})));
    EXPECT_EQ(203530U, parameter_count(expected));
}

TEST(ModelTensors, OfAnExternalModelAreThoseOfTheSpec) {
    const std::vector<TensorInfo> tensors{{"a", {3}, 0}, {"b", {2, 2}, 3}};
    EXPECT_EQ(tensors, model_tensors(external(tensors)));
}

TEST(ValidateModel, TakesAnMlpAndAnExternalModel) {
    EXPECT_TRUE(validate(mlp({784, 256, 128, 10})).is_ok());
    EXPECT_TRUE(validate(mlp({1, 1})).is_ok());
    EXPECT_TRUE(validate(external({{"a", {3}, 0}, {"scalar", {}, 3}, {"b", {2, 2}, 4}})).is_ok());
}

TEST(ValidateModel, RefusesFewerThanTwoWidths) {
    EXPECT_EQ(ErrorCode::invalid, validate(mlp({})).error().code);
    EXPECT_EQ(ErrorCode::invalid, validate(mlp({784})).error().code);
}

TEST(ValidateModel, RefusesAWidthOfZeroAndSaysWhich) {
    const Status status = validate(mlp({784, 0, 10}));
    EXPECT_EQ(ErrorCode::invalid, status.error().code);
    EXPECT_NE(std::string::npos, status.error().why.find("model.layers[1]"));
}

TEST(ValidateModel, RefusesMoreParametersThanTheLimitAlsoWhereTheSumWouldWrap) {
    EXPECT_EQ(ErrorCode::too_large, validate(mlp({~0U, ~0U})).error().code);
    EXPECT_EQ(ErrorCode::too_large, validate(mlp({1U << 20U, 1U << 20U, 2})).error().code);
    const TensorInfo huge{"a", {std::uint64_t{1} << 32U, std::uint64_t{1} << 32U}, 0};
    EXPECT_EQ(ErrorCode::too_large, validate(external({huge})).error().code);
    const TensorInfo full{"a", {limits::parameters_max}, 0};
    const TensorInfo more{"b", {1}, limits::parameters_max};
    EXPECT_TRUE(validate(external({full})).is_ok());
    EXPECT_EQ(ErrorCode::too_large, validate(external({full, more})).error().code);
}

TEST(ValidateModel, RefusesTooManyLayersOrTensors) {
    const std::vector<std::uint32_t> layers(limits::tensors_max, 1);
    EXPECT_EQ(ErrorCode::too_large, validate(mlp(layers)).error().code);
    const std::vector<TensorInfo> tensors(limits::tensors_max + 1);
    EXPECT_EQ(ErrorCode::too_large, validate(external(tensors)).error().code);
}

TEST(ValidateModel, RefusesExternalTensorsThatAreNoLayout) {
    const auto code = [](std::vector<TensorInfo> tensors) {
        return validate(external(std::move(tensors))).error().code;
    };
    EXPECT_EQ(ErrorCode::invalid, code({}));
    EXPECT_EQ(ErrorCode::invalid, code({{"", {3}, 0}}));
    EXPECT_EQ(ErrorCode::invalid, code({{std::string(257, 'x'), {3}, 0}}));
    EXPECT_EQ(ErrorCode::invalid, code({{"a", {3, 0}, 0}}));
    EXPECT_EQ(ErrorCode::invalid, code({{"a", {3}, 0}, {"a", {3}, 3}}));
    EXPECT_EQ(ErrorCode::invalid, code({{"a", {3}, 1}}));
    EXPECT_EQ(ErrorCode::invalid, code({{"a", {3}, 0}, {"b", {3}, 4}}));
    EXPECT_EQ(ErrorCode::too_large, code({{"a", std::vector<std::uint64_t>(9, 1), 0}}));
}

TEST(InitParameters, DependsOnTheSeedAlone) {
    const ModelSpec spec = mlp({20, 10, 5});
    std::vector<float> a(265);
    std::vector<float> b(265, 1.0F);
    std::vector<float> c(265);
    init_parameters(spec, 42, a);
    init_parameters(spec, 42, b);
    init_parameters(spec, 43, c);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
}

TEST(InitParameters, HasTheBitsThatItHadOnTheDayItWasWritten) {
    std::vector<float> values(15);
    init_parameters(mlp({4, 3}), 1, values);
    EXPECT_EQ(0x1.a5daa4p-1F, values[0]);
    EXPECT_EQ(-0x1.f2b582p-1F, values[11]);
}

double mean_square(FloatView values) {
    double sum = 0;
    for (const float value : values)
        sum += static_cast<double>(value) * static_cast<double>(value);
    return sum / static_cast<double>(values.size());
}

TEST(InitParameters, HasTheVarianceOfHeOrOfXavierAndBiasesOfZero) {
    ModelSpec spec = mlp({300, 100});
    std::vector<float> values(30100);
    const FloatView weights = FloatView(values).first(30000);
    init_parameters(spec, 3, values);
    EXPECT_NEAR(2.0 / 300, mean_square(weights), 0.03 * 2.0 / 300);
    EXPECT_EQ(0, mean_square(FloatView(values).last(100)));

    spec.init = Init::xavier;
    init_parameters(spec, 3, values);
    EXPECT_NEAR(2.0 / 400, mean_square(weights), 0.03 * 2.0 / 400);
    const double largest = *std::max_element(values.begin(), values.end());
    EXPECT_LE(largest, std::sqrt(6.0 / 400));
    EXPECT_GT(largest, 0.99 * std::sqrt(6.0 / 400));
}

}  // namespace
}  // namespace p2p::core
