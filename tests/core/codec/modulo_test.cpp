// modulo(b): within theta both ends rebuild the same bits and no worse than half a step; beyond it
// they find out; and between swaps they keep next to nothing.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/codec/edge.hpp"
#include "core/codec/form_modulo.hpp"
#include "core/mixing/step_size.hpp"
#include "core/mixing/theta_factor.hpp"
#include "tests/core/codec/coded_blocks.hpp"

namespace p2p::core {
namespace {

using Floats = std::vector<float>;

constexpr std::size_t size = 9001;  // two whole blocks and a short one, of odd length
constexpr std::array<CodecId, 4> codecs{
    CodecId::modulo_1, CodecId::modulo_2, CodecId::modulo_4, CodecId::modulo_8};

ThetaTerms terms_of(CodecId codec, float factor = theta_factor_min) {
    return {.bits = modulo_bits(codec), .factor = factor};
}

/// One way of a swap: low runs the best level, high the scalar one.
struct OneWay {
    CodecId codec;
    Spreads spreads;
    float factor = theta_factor_min;
    std::uint32_t phase = 12345;
    Floats sent{};   ///< what the sender says is rebuilt
    Floats found{};  ///< what the receiver rebuilds
    Bytes bytes{};

    bool send(const Floats& values, const Floats& near) {
        sent.resize(values.size());
        found.resize(values.size());
        bytes = start_encoding({codec, false}, values.size(), modulo_seed(factor));
        encode_modulo(best(), values, {spreads, phase}, bytes, sent);
        EXPECT_TRUE(check_encoding({codec, false}, bytes, values.size()));
        return decode_modulo(kernels(KernelLevel::scalar), bytes, near, {spreads, phase}, found);
    }
};

/// Values of every size in a block, and a value off from each by at most its block's theta.
struct Draw {
    Floats values = normal_floats(size, 1);
    Floats near = values;
    Spreads spreads;

    Draw(float factor, std::uint64_t seed) {
        Rng rng(seed);
        values = normal_floats(size, seed);
        near.resize(size);
        spreads.resize(modulo_block_count(size));
        for (float& spread : spreads)  // from far below the values' size to far above it
            spread = std::exp2(static_cast<float>(rng.uniform() * 18 - 11));
        for (std::size_t i = 0; i < size; ++i) {
            const float theta = factor * spreads[i / modulo_block_floats];
            near[i] = values[i] + theta * static_cast<float>(2 * rng.uniform() - 1);
        }
    }
};

TEST(Modulo, RebuildsToTheBitWithinTheta) {
    for (const CodecId codec : codecs) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const float factor = seed % 2 == 0 ? theta_factor_min : theta_factor_max;
            const Draw draw(factor, seed);
            OneWay way{.codec = codec, .spreads = draw.spreads, .factor = factor};
            ASSERT_TRUE(way.send(draw.values, draw.near)) << codec_name(codec) << ' ' << seed;
            ASSERT_EQ(way.sent, way.found);
        }
    }
}

TEST(Modulo, IsOffByAtMostHalfAStep) {
    for (const CodecId codec : codecs) {
        const Draw draw(theta_factor_min, 7);
        OneWay way{.codec = codec, .spreads = draw.spreads};
        ASSERT_TRUE(way.send(draw.values, draw.near));
        for (std::size_t i = 0; i < size; ++i) {
            const float step = modulo_step(terms_of(codec), draw.spreads[i / modulo_block_floats]);
            const float rounding = std::abs(draw.values[i]) * 0x1p-22F;
            ASSERT_LE(std::abs(way.sent[i] - draw.values[i]), step / 2 + rounding) << i;
        }
    }
}

TEST(Modulo, TellsTheMeanDistanceOfValuesFarBelowItsStep) {
    const Floats low = normal_floats(size, 1);
    Floats high = low;
    for (std::size_t i = 0; i < size; ++i)
        high[i] += 0.5F + 0.1F * low[(i + 1) % size];
    double mean = 0;
    constexpr int phases = 20;
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        OneWay one{.codec = CodecId::modulo_1, .spreads = Spreads(modulo_block_count(size), 50.0F)};
        one.phase = phase * 0x12345677U;
        OneWay other = one;
        ASSERT_TRUE(one.send(low, high) && other.send(high, low));
        for (std::size_t i = 0; i < size; ++i)
            mean += static_cast<double>(other.sent[i] - one.sent[i]) / double{size} / phases;
    }
    // 180,000 roundings to a step of 225, each 1 with probability 0.5 / 225: five standard errors.
    EXPECT_NEAR(0.5, mean, 5 * std::sqrt(0.5 * 225 / 180'000));
}

TEST(Modulo, FindsOutWhereASingleValueIsBeyondWhatItCanRebuild) {
    Rng rng(3);
    for (const CodecId codec : codecs) {
        const Draw draw(theta_factor_min, 11);
        OneWay way{.codec = codec, .spreads = draw.spreads};
        for (int draws = 0; draws < 300; ++draws) {
            Floats near = draw.values;
            const std::size_t at = rng.below(size);
            const float step = modulo_step(terms_of(codec), draw.spreads[at / modulo_block_floats]);
            const float half = static_cast<float>(1U << (modulo_bits(codec) - 1));
            const auto periods = static_cast<float>(1 + rng.uniform() * 50);
            near[at] += (rng.below(2) == 0 ? step : -step) * (half + 1) * periods;
            ASSERT_FALSE(way.send(draw.values, near)) << codec_name(codec) << ' ' << at;
        }
    }
}

TEST(Modulo, FindsOutWhereTheReplicasArePartedEverywhere) {
    for (const CodecId codec : codecs) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            OneWay way{.codec = codec, .spreads = Spreads(modulo_block_count(size), 1e-3F)};
            ASSERT_FALSE(way.send(normal_floats(size, seed), normal_floats(size, seed + 100)));
        }
    }
}

TEST(Modulo, NeverTakesAValueTooLargeForItsSteps) {
    for (const CodecId codec : codecs) {
        for (const float spread : {0.0F, 1e-12F}) {
            Floats values(size, 0.0F);
            OneWay way{.codec = codec, .spreads = Spreads(modulo_block_count(size), spread)};
            ASSERT_TRUE(way.send(values, values));
            values[5] = 1.0F;  // at both ends, so that only the size is wrong
            ASSERT_FALSE(way.send(values, values));
        }
    }
}

TEST(Modulo, TakesTheBitsThatItsNameSaysAndADigestABlock) {
    const std::size_t floats = 100 * modulo_block_floats;
    for (const CodecId codec : codecs) {
        EXPECT_EQ(
            encoding_header_bytes + 100 * 4 + floats * modulo_bits(codec) / 8,
            encoded_bytes(codec, floats, false));
    }
}

TEST(Modulo, RefusesACodePastTheLastFloatAndAFactorOutOfRange) {
    const Floats values(3, 1.0F);
    for (const CodecId codec : {CodecId::modulo_1, CodecId::modulo_2, CodecId::modulo_4}) {
        OneWay way{.codec = codec, .spreads = {1.0F}};
        ASSERT_TRUE(way.send(values, values));
        Bytes padded = way.bytes;
        padded.back() |= 0x80U;
        EXPECT_FALSE(check_encoding({codec, false}, padded, 3)) << codec_name(codec);
        for (const float factor : {0.0F, 1.9F, 17.0F, infinity, not_a_number}) {
            Bytes other = way.bytes;
            std::memcpy(other.data() + 8, &factor, sizeof factor);
            EXPECT_FALSE(check_encoding({codec, false}, other, 3)) << factor;
        }
    }
}

// Two ends over many swaps.

struct Ends {
    EdgeCodec low{size, /*self_is_low=*/true, best()};
    EdgeCodec high{size, /*self_is_low=*/false, kernels(KernelLevel::scalar)};

    /// False where theta was exceeded at either end.
    bool exchange(
        const Floats& at_low,
        const Floats& at_high,
        CodecId codec,
        bool keyframe,
        float factor,
        float factor_of_high = 0) {
        if (factor_of_high == 0) factor_of_high = factor;
        const auto from_low = low.encode(at_low, codec, keyframe, 1, factor);
        const auto from_high = high.encode(at_high, codec, keyframe, 2, factor_of_high);
        const Status one = low.decode(*from_high.bytes, codec, keyframe);
        const Status other = high.decode(*from_low.bytes, codec, keyframe);
        EXPECT_TRUE(one || is_theta_exceeded(one));
        EXPECT_TRUE(other || is_theta_exceeded(other));
        return one && other;
    }

    /// Adds what each end gets, as a swap of this weight does.
    void apply(float weight, Floats& at_low, Floats& at_high) {
        EXPECT_EQ(low.swap_hash(), high.swap_hash());
        EXPECT_EQ(low.stats().distance, high.stats().distance);
        Floats moved(size);
        low.displacement(weight, moved);
        best().add(moved.data(), size, at_low.data());
        high.displacement(weight, moved);
        best().add(moved.data(), size, at_high.data());
        low.commit();
        high.commit();
    }
};

double distance(const Floats& a, const Floats& b) {
    return std::sqrt(best().sum_of_squared_differences(a.data(), b.data(), a.size()));
}

TEST(ModuloEdge, BringsTwoReplicasNearerWithWhatItKeepsOfTheSwapsBefore) {
    for (const CodecId codec : codecs) {
        SCOPED_TRACE(codec_name(codec));
        Ends ends;
        ThetaFactor theta;
        Floats at_low = normal_floats(size, 1);
        Floats at_high = normal_floats(size, 2);
        const double first = distance(at_low, at_high);
        const float weight = 0.5F * gamma_max(codec);
        int exceeded = 0;
        for (int n = 0; n < 300; ++n) {
            const bool keyframe = !ends.low.can_continue(codec);
            if (!ends.exchange(at_low, at_high, codec, keyframe, theta.factor())) {
                ++exceeded;
                theta.on_exceeded();
                ends.low.reset();
                ends.high.reset();
                continue;
            }
            ends.apply(keyframe ? 0.1F : weight, at_low, at_high);
            theta.on_applied(theta.factor());
        }
        EXPECT_LE(exceeded, 3);
        EXPECT_LT(distance(at_low, at_high), first / 10);
    }
}

TEST(ModuloEdge, LearnsNothingWrongFromASwapBetweenTwoFactors) {
    Ends ends;
    Floats at_low = normal_floats(size, 1);
    Floats at_high = normal_floats(size, 2);
    ASSERT_TRUE(ends.exchange(at_low, at_high, CodecId::modulo_1, true, 2, 2));
    ends.apply(0.1F, at_low, at_high);
    for (int n = 0; n < 5; ++n) {
        ASSERT_TRUE(ends.exchange(at_low, at_high, CodecId::modulo_1, false, 16, 2)) << n;
        EXPECT_EQ(16.0F, ends.high.stats().remote_theta_factor);
        EXPECT_EQ(2.0F, ends.low.stats().remote_theta_factor);
        ends.apply(1.0F / 64, at_low, at_high);
    }
}

TEST(ModuloEdge, KeepsNoReferences) {
    for (const CodecId codec : codecs) {
        Ends ends;
        Floats at_low = normal_floats(size, 1);
        Floats at_high = normal_floats(size, 2);
        EXPECT_FALSE(ends.low.can_continue(codec));
        for (const bool keyframe : {true, false}) {
            ASSERT_TRUE(ends.exchange(at_low, at_high, codec, keyframe, theta_factor_min));
            ends.apply(0.1F, at_low, at_high);
            EXPECT_FALSE(ends.low.has_references());
            EXPECT_TRUE(ends.low.can_continue(codec));
            EXPECT_FALSE(ends.low.can_continue(CodecId::delta_q8));
        }
        ends.low.reset();
        EXPECT_FALSE(ends.low.can_continue(codec));
    }
}

TEST(ModuloEdge, GoesOnAfterASwapThatWasAbandoned) {
    Ends ends;
    Floats at_low = normal_floats(size, 1);
    Floats at_high = normal_floats(size, 2);
    ASSERT_TRUE(ends.exchange(at_low, at_high, CodecId::modulo_4, true, 2));
    ends.apply(0.1F, at_low, at_high);
    Floats far = at_low;
    far[4000] += 100;
    EXPECT_FALSE(ends.exchange(far, at_high, CodecId::modulo_4, false, 2));
    ends.low.abandon();
    ends.high.abandon();
    EXPECT_TRUE(ends.exchange(at_low, at_high, CodecId::modulo_4, false, 2));
    ends.apply(0.1F, at_low, at_high);
}

TEST(ModuloEdge, RefusesToRebuildBeforeItsOwnValueIsThere) {
    Ends ends;
    Floats at_low = normal_floats(size, 1);
    Floats at_high = normal_floats(size, 2);
    ASSERT_TRUE(ends.exchange(at_low, at_high, CodecId::modulo_8, true, 2));
    ends.apply(0.1F, at_low, at_high);
    const auto from_high = ends.high.encode(at_high, CodecId::modulo_8, false, 1, 2);
    const Status early = ends.low.decode(*from_high.bytes, CodecId::modulo_8, false);
    EXPECT_EQ(ErrorCode::conflict, early.error().code);
    static_cast<void>(ends.low.encode(at_low, CodecId::modulo_8, false, 1, 2));
    EXPECT_TRUE(ends.low.decode(*from_high.bytes, CodecId::modulo_8, false));
}

TEST(ModuloEdge, SendsNothingThatIsNotFinite) {
    Ends ends;
    Floats values = normal_floats(size, 1);
    ASSERT_TRUE(ends.exchange(values, values, CodecId::modulo_2, true, 2));
    ends.apply(0.1F, values, values);
    for (const float bad : {not_a_number, infinity}) {
        values[77] = bad;
        EXPECT_FALSE(ends.low.encode(values, CodecId::modulo_2, false, 1).finite);
    }
}

}  // namespace
}  // namespace p2p::core
