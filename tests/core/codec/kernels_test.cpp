// Every kernel level gives the bits of the scalar one, and the arithmetic is what it claims to be.

#include "core/codec/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.hpp"
#include "core/base/rng.hpp"
#include "tests/core/codec/coded_blocks.hpp"

namespace p2p::core {
namespace {

constexpr std::array<std::size_t, 10> awkward_sizes{0, 1, 15, 16, 17, 255, 256, 257, 1000, 100'003};

/// All magnitudes, both signs: any bits but those of NaN and infinity.
std::vector<float> wild_floats(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        do {
            const std::uint32_t bits = rng.next_u32();
            std::memcpy(&value, &bits, sizeof value);
        } while (!std::isfinite(value));
    }
    return values;
}

std::vector<float> special_floats(std::size_t count, std::uint64_t seed) {
    constexpr std::array<float, 12> specials{
        0.0F,
        -0.0F,
        1.0F,
        -1.0F,
        infinity,
        -infinity,
        not_a_number,
        largest_float,
        -largest_float,
        smallest_float,
        -smallest_float,
        0x1.01p-3F};
    Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        value = specials[rng.below(specials.size())];
    }
    return values;
}

/// Equal bits, or both NaN.
bool is_same(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

bool is_same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

bool is_same(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!is_same(a[i], b[i])) return false;
    }
    return true;
}

Bytes encode_bf16(const Kernels& table, const std::vector<float>& values) {
    Bytes bytes(values.size() * 2);
    table.encode_bf16(values.data(), values.size(), bytes.data());
    return bytes;
}

std::vector<float> decode_bf16(const Kernels& table, const Bytes& bytes) {
    std::vector<float> values(bytes.size() / 2);
    table.decode_bf16(bytes.data(), values.size(), values.data());
    return values;
}

Bytes encode_fp16(const Kernels& table, const std::vector<float>& values) {
    Bytes bytes(values.size() * 2);
    table.encode_fp16(values.data(), values.size(), bytes.data());
    return bytes;
}

std::vector<float> decode_fp16(const Kernels& table, const Bytes& bytes) {
    std::vector<float> values(bytes.size() / 2);
    table.decode_fp16(bytes.data(), values.size(), values.data());
    return values;
}

/// All halves in order of their bits.
Bytes every_half() {
    Bytes bytes(2 * 65'536);
    for (std::uint32_t half = 0; half < 65'536; ++half)
        store_le(bytes.data() + 2 * half, static_cast<std::uint16_t>(half));
    return bytes;
}

/// Levels above scalar that this processor runs, each with the kinds of numbers to try.
class EveryLevel : public testing::TestWithParam<KernelLevel> {
  protected:
    void SetUp() override {
        if (GetParam() > best_kernel_level()) GTEST_SKIP() << "this processor does not run it";
    }

    [[nodiscard]] const Kernels& level() const { return kernels(GetParam()); }

    [[nodiscard]] static const Kernels& scalar() { return kernels(KernelLevel::scalar); }

    template <typename Check>
    static void for_finite_inputs(const Check& check) {
        for (const std::size_t size : awkward_sizes) {
            check(normal_floats(size, size + 1), normal_floats(size, size + 2));
            check(wild_floats(size, size + 1), wild_floats(size, size + 2));
        }
    }

    template <typename Check>
    static void for_all_inputs(const Check& check) {
        for_finite_inputs(check);
        for (const std::size_t size : awkward_sizes) {
            check(special_floats(size, size + 1), special_floats(size, size + 2));
        }
    }
};

TEST_P(EveryLevel, CastsToAndFromBf16LikeScalar) {
    for_all_inputs([&](const auto& values, const auto&) {
        const Bytes bytes = encode_bf16(scalar(), values);
        ASSERT_EQ(bytes, encode_bf16(level(), values));
        ASSERT_TRUE(is_same(decode_bf16(scalar(), bytes), decode_bf16(level(), bytes)));
    });
}

TEST_P(EveryLevel, CastsToAndFromFp16LikeScalar) {
    for_all_inputs([&](const auto& values, const auto&) {
        const Bytes bytes = encode_fp16(scalar(), values);
        ASSERT_EQ(bytes, encode_fp16(level(), values));
        ASSERT_TRUE(is_same(decode_fp16(scalar(), bytes), decode_fp16(level(), bytes)));
    });
    const Bytes halves = every_half();
    ASSERT_TRUE(is_same(decode_fp16(scalar(), halves), decode_fp16(level(), halves)));
}

TEST_P(EveryLevel, CodesQ8LikeScalar) {
    for_finite_inputs([&](const auto& values, const auto&) {
        const Q8 coded = encode_q8(scalar(), values, 7);
        ASSERT_EQ(coded, encode_q8(level(), values, 7));
        ASSERT_TRUE(is_same(decode_q8(scalar(), coded), decode_q8(level(), coded)));
    });
}

TEST_P(EveryLevel, CodesQ4LikeScalar) {
    for_finite_inputs([&](const auto& values, const auto&) {
        const Q4 coded = encode_q4(scalar(), values, 7);
        ASSERT_EQ(coded, encode_q4(level(), values, 7));
        ASSERT_TRUE(is_same(
            decode_q4(scalar(), coded, values.size()), decode_q4(level(), coded, values.size())));
    });
}

TEST_P(EveryLevel, KeepsTheSameOfTopkAsScalar) {
    for_all_inputs([&](const auto& values, const auto& others) {
        const std::size_t floats = std::min(values.size(), topk_chunk_floats);
        for (const std::size_t keep : {1U, 16U, 17U, 64U, 256U}) {
            for (const auto* each : {&values, &others}) {
                TopkChunk expected{};
                TopkChunk actual{};
                scalar().keep_topk(each->data(), floats, keep, expected);
                level().keep_topk(each->data(), floats, keep, actual);
                ASSERT_EQ(0, std::memcmp(&expected, &actual, sizeof expected)) << floats;
            }
        }
    });
}

TEST_P(EveryLevel, CodesModuloLikeScalar) {
    for_finite_inputs([&](const auto& values, const auto& near) {
        const std::size_t floats = std::min(values.size(), modulo_block_floats);
        for (const std::uint32_t bits : {1U, 2U, 4U, 8U}) {
            for (const float step : {0.0F, 1e-5F, 0.3F, 1e30F}) {
                const ModuloGrid grid{.bits = bits, .step = step, .phase = 99};
                Bytes expected(floats + 8);
                Bytes actual(floats + 8);
                std::vector<float> rebuilt(floats);
                std::vector<float> again(floats);
                ASSERT_EQ(
                    scalar().encode_modulo(
                        values.data(), floats, grid, expected.data(), rebuilt.data()),
                    level().encode_modulo(
                        values.data(), floats, grid, actual.data(), again.data()));
                ASSERT_EQ(expected, actual);
                ASSERT_TRUE(is_same(rebuilt, again));
                ASSERT_EQ(
                    scalar().decode_modulo(
                        expected.data(), near.data(), floats, grid, rebuilt.data()),
                    level().decode_modulo(
                        expected.data(), near.data(), floats, grid, again.data()));
                ASSERT_TRUE(is_same(rebuilt, again));
            }
        }
    });
}

TEST_P(EveryLevel, MeasuresHowFarApartLikeScalarAndLikeTheOtherEnd) {
    for_finite_inputs([&](const auto& a, const auto& b) {
        const Apart expected = scalar().measure_apart(a.data(), b.data(), a.size());
        const Apart actual = level().measure_apart(b.data(), a.data(), a.size());
        ASSERT_TRUE(is_same(expected.sum, actual.sum));
        ASSERT_TRUE(is_same(expected.largest, actual.largest));
        ASSERT_TRUE(is_same(expected.magnitude, actual.magnitude));
    });
}

TEST_P(EveryLevel, SumsLikeScalar) {
    for_all_inputs([&](const auto& a, const auto& b) {
        ASSERT_TRUE(is_same(
            scalar().sum_of_squares(a.data(), a.size()),
            level().sum_of_squares(a.data(), a.size())));
        ASSERT_TRUE(is_same(
            scalar().sum_of_squared_differences(a.data(), b.data(), a.size()),
            level().sum_of_squared_differences(a.data(), b.data(), a.size())));
    });
}

TEST_P(EveryLevel, FindsWhatIsNotFiniteLikeScalar) {
    for_all_inputs([&](const auto& values, const auto&) {
        ASSERT_EQ(
            scalar().is_finite(values.data(), values.size()),
            level().is_finite(values.data(), values.size()));
    });
}

TEST_P(EveryLevel, MergesLikeScalar) {
    for_all_inputs([&](const auto& a, const auto& b) {
        std::vector<float> expected(a.size());
        std::vector<float> actual(a.size());
        scalar().scaled_difference(a.data(), b.data(), 0.3F, a.size(), expected.data());
        level().scaled_difference(a.data(), b.data(), 0.3F, a.size(), actual.data());
        ASSERT_TRUE(is_same(expected, actual));

        expected = actual = a;
        scalar().add(b.data(), b.size(), expected.data());
        level().add(b.data(), b.size(), actual.data());
        ASSERT_TRUE(is_same(expected, actual));

        expected = actual = a;
        scalar().subtract(b.data(), b.size(), expected.data());
        level().subtract(b.data(), b.size(), actual.data());
        ASSERT_TRUE(is_same(expected, actual));
    });
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, EveryLevel, testing::Values(KernelLevel::v2, KernelLevel::v3), [](const auto& level) {
        return std::string(kernel_level_name(level.param));
    });

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
    const std::vector<float> values{1.0F, 0x1.01p0F, 0x1.03p0F, 0x1.010002p0F, -0x1.01p0F};
    const std::vector<float> rounded{1.0F, 1.0F, 0x1.04p0F, 0x1.02p0F, -1.0F};
    EXPECT_EQ(rounded, decode_bf16(best(), encode_bf16(best(), values)));
}

TEST(Bf16, KeepsNanInfinityAndTheSignOfZero) {
    float hidden_nan = 0;  // its payload lies in the bits that are cut off
    const std::uint32_t bits = 0x7f800001U;
    std::memcpy(&hidden_nan, &bits, sizeof hidden_nan);
    const auto kept = decode_bf16(
        best(), encode_bf16(best(), {hidden_nan, not_a_number, infinity, -infinity, -0.0F}));
    EXPECT_TRUE(std::isnan(kept[0]));
    EXPECT_TRUE(std::isnan(kept[1]));
    EXPECT_EQ(infinity, kept[2]);
    EXPECT_EQ(-infinity, kept[3]);
    EXPECT_TRUE(std::signbit(kept[4]));
}

TEST(Fp16, TakesEveryHalfBackToItself) {
    const Bytes halves = every_half();
    const Bytes back = encode_fp16(best(), decode_fp16(best(), halves));
    for (std::uint32_t half = 0; half < 65'536; ++half) {
        if ((half & 0x7fffU) > 0x7c00U) continue;  // NaN: only that it stays one is promised
        ASSERT_EQ(half, load_le<std::uint16_t>(back.data() + 2 * half));
    }
}

TEST(Fp16, RoundsToTheNearestAndTiesToEven) {
    // Between each finite half and the next: the middle goes to the even one, what lies a float's
    // last place from it to the nearer one.
    const Bytes halves = every_half();
    const auto values = decode_fp16(best(), halves);
    for (std::uint16_t half = 0; half < 0x7bff; ++half) {
        const float middle = (values[half] + values[half + 1U]) / 2;
        const Bytes coded = encode_fp16(
            best(), {std::nextafter(middle, 0.0F), middle, -std::nextafter(middle, infinity)});
        ASSERT_EQ(half, load_le<std::uint16_t>(coded.data()));
        ASSERT_EQ(half + half % 2, load_le<std::uint16_t>(coded.data() + 2));
        ASSERT_EQ(0x8000 + half + 1, load_le<std::uint16_t>(coded.data() + 4));
    }
}

TEST(Fp16, SaturatesWhatIsTooLargeAndKeepsInfinityNanAndTheSignOfZero) {
    const auto kept = decode_fp16(
        best(),
        encode_fp16(
            best(),
            {65504.0F, 65520.0F, -1e6F, largest_float, infinity, -infinity, not_a_number, -0.0F}));
    EXPECT_EQ(65504.0F, kept[0]);
    EXPECT_EQ(65504.0F, kept[1]);
    EXPECT_EQ(-65504.0F, kept[2]);
    EXPECT_EQ(65504.0F, kept[3]);
    EXPECT_EQ(infinity, kept[4]);
    EXPECT_EQ(-infinity, kept[5]);
    EXPECT_TRUE(std::isnan(kept[6]));
    EXPECT_TRUE(std::signbit(kept[7]));
    EXPECT_EQ(0.0F, kept[7]);
}

TEST(IsFinite, SeesOneBadValueAnywhere) {
    for (const float bad : {not_a_number, -not_a_number, infinity, -infinity}) {
        for (const std::size_t at : {0U, 15U, 16U, 31U, 32U}) {
            std::vector<float> values(33, -largest_float);
            ASSERT_TRUE(best().is_finite(values.data(), values.size()));
            values[at] = bad;
            ASSERT_FALSE(best().is_finite(values.data(), values.size())) << bad << " at " << at;
        }
    }
}

TEST(Sums, AreThoseOfPlainArithmetic) {
    const auto a = normal_floats(1000, 1);
    const auto b = normal_floats(1000, 2);
    long double squares = 0;
    long double differences = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto difference = static_cast<long double>(a[i]) - static_cast<long double>(b[i]);
        squares += static_cast<long double>(a[i]) * static_cast<long double>(a[i]);
        differences += difference * difference;
    }
    EXPECT_NEAR(static_cast<double>(squares), best().sum_of_squares(a.data(), 1000), 1e-9);
    EXPECT_NEAR(
        static_cast<double>(differences),
        best().sum_of_squared_differences(a.data(), b.data(), 1000),
        1e-9);
}

TEST(Sums, OfDifferencesDoNotDependOnWhoIsFirst) {
    const auto a = wild_floats(10'007, 1);
    const auto b = wild_floats(10'007, 2);
    EXPECT_EQ(
        best().sum_of_squared_differences(a.data(), b.data(), a.size()),
        best().sum_of_squared_differences(b.data(), a.data(), a.size()));
}

TEST(Merge, SubtractsWhatItAdded) {
    std::vector<float> values{1.0F, 2.0F, -3.0F};
    const std::vector<float> delta{0.5F, -0.25F, 4.0F};
    best().add(delta.data(), 3, values.data());
    EXPECT_EQ((std::vector<float>{1.5F, 1.75F, 1.0F}), values);
    best().subtract(delta.data(), 3, values.data());
    EXPECT_EQ((std::vector<float>{1.0F, 2.0F, -3.0F}), values);
}

}  // namespace
}  // namespace p2p::core
