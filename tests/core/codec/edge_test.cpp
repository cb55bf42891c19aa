// Two ends of one edge: what holds for them together.

#include "core/codec/edge.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"
#include "core/codec/kernels.hpp"

namespace p2p::core {
namespace {

using Floats = std::vector<float>;

constexpr std::size_t size = 20'011;  // more than two slices, and a short block at the end

const Kernels& best() {
    return kernels(best_kernel_level());
}

Floats normal_floats(std::uint64_t seed, std::size_t count = size) {
    Rng rng(seed);
    Floats values(count);
    for (float& value : values) {
        value = static_cast<float>(rng.normal());
    }
    return values;
}

/// Low runs the best level, high the scalar one: a mesh mixes processors.
struct Ends {
    EdgeCodec low{size, /*self_is_low=*/true, best()};
    EdgeCodec high{size, /*self_is_low=*/false, kernels(KernelLevel::scalar)};

    /// Both encode and decode; nothing is committed.
    void exchange(const Floats& at_low, const Floats& at_high, Coding coding, std::uint64_t seed) {
        const auto from_low = low.encode(at_low, coding.codec, coding.keyframe, seed);
        const auto from_high = high.encode(at_high, coding.codec, coding.keyframe, seed + 1);
        ASSERT_TRUE(from_low.finite && from_high.finite);
        ASSERT_TRUE(low.decode(*from_high.bytes, coding.codec, coding.keyframe));
        ASSERT_TRUE(high.decode(*from_low.bytes, coding.codec, coding.keyframe));
    }

    void commit() {
        low.commit();
        high.commit();
    }

    /// What low gets with weight 1 is r_high - r_low, seen from both ends.
    void expect_same_values() {
        const SwapStats at_low = low.stats();
        const SwapStats at_high = high.stats();
        EXPECT_EQ(at_low.distance, at_high.distance);
        EXPECT_EQ(at_low.own_norm, at_high.remote_norm);
        EXPECT_EQ(at_low.remote_norm, at_high.own_norm);
        EXPECT_EQ(low.swap_hash(), high.swap_hash());
        EXPECT_EQ(displacement(low, 1.0F), negated(displacement(high, 1.0F)));
    }

    static Floats displacement(const EdgeCodec& edge, float weight) {
        Floats out(size);
        edge.displacement(weight, out);
        return out;
    }

    static Floats negated(Floats values) {
        for (float& value : values)
            value = 0.0F - value;  // and not -0
        return values;
    }
};

constexpr Coding keyframe{CodecId::delta_q8, true};
constexpr Coding delta{CodecId::delta_q8, false};

TEST(Edge, RebuildsTheSameAtBothEndsUnderEveryCodec) {
    for (const CodecId codec :
         {CodecId::fp32, CodecId::bf16, CodecId::fp16, CodecId::q8, CodecId::q4}) {
        Ends ends;
        ends.exchange(normal_floats(1), normal_floats(2), {codec, false}, 3);
        ends.expect_same_values();
    }
}

TEST(Edge, RebuildsTheSameOverManySwapsAndKeyframes) {
    Ends ends;
    for (std::uint64_t n = 0; n < 12; ++n) {
        const bool starts = n == 0 || n == 7;
        ends.exchange(normal_floats(100 + n), normal_floats(200 + n), starts ? keyframe : delta, n);
        ends.expect_same_values();
        if (n == 6) {
            ends.low.reset();
            ends.high.reset();
            continue;
        }
        if (n == 3) {  // settled with nothing applied, the references stay
            ends.low.abandon();
            ends.high.abandon();
            continue;
        }
        ends.commit();
    }
}

TEST(Edge, DisplacesBothEndsByExactlyOpposites) {
    for (const float weight : {0.5F, 0.1F, 0.37501F, 0.0F, 1e-30F}) {
        Ends ends;
        ends.exchange(normal_floats(1), normal_floats(2), {CodecId::q8, false}, 3);
        const Floats at_low = Ends::displacement(ends.low, weight);
        const Floats at_high = Ends::displacement(ends.high, weight);
        for (std::size_t i = 0; i < size; ++i) {
            ASSERT_EQ(0.0F, at_low[i] + at_high[i]);
        }
    }
}

TEST(Edge, MovesBothEndsTowardsEachOther) {
    Ends ends;
    const Floats at_low(size, 1.0F);
    const Floats at_high(size, 3.0F);
    ends.exchange(at_low, at_high, {CodecId::fp32, false}, 1);
    EXPECT_EQ(Floats(size, 1.0F), Ends::displacement(ends.low, 0.5F));
    EXPECT_EQ(Floats(size, -1.0F), Ends::displacement(ends.high, 0.5F));
    EXPECT_DOUBLE_EQ(2.0 * std::sqrt(double{size}), ends.low.stats().distance);
}

TEST(Edge, ShrinksTheErrorOfTheReferenceByTheFinenessOfTheCodingEachSwap) {
    Ends ends;
    const Floats at_low = normal_floats(1);
    const Floats at_high = normal_floats(2);
    ends.exchange(at_low, at_high, keyframe, 1);
    double lost = 1.0;
    for (std::uint64_t n = 0; n < 3; ++n) {
        ends.commit();
        const auto told = ends.low.encode(at_low, delta.codec, delta.keyframe, n);
        // A uniform-ish difference loses (1/127)^2 of its energy to the rounding, or little more;
        // what remains is the difference of the next swap.
        EXPECT_GT(told.kept_ratio, 0.9995);
        lost *= 1.0 - told.kept_ratio;
        const auto from_high = ends.high.encode(at_high, delta.codec, delta.keyframe, n + 50);
        ASSERT_TRUE(ends.low.decode(*from_high.bytes, delta.codec, delta.keyframe));
        ASSERT_TRUE(ends.high.decode(*told.bytes, delta.codec, delta.keyframe));
    }
    EXPECT_LT(lost, 1e-9);
    EXPECT_GT(lost, 0.0);
}

TEST(Edge, ComesArbitrarilyNearTheTrueDistanceByDeltas) {
    Ends ends;
    const Floats at_low = normal_floats(1);
    const Floats at_high = normal_floats(2);
    const double distance =
        std::sqrt(best().sum_of_squared_differences(at_low.data(), at_high.data(), size));
    ends.exchange(at_low, at_high, keyframe, 1);
    double last_error = std::abs(ends.low.stats().distance - distance);
    for (std::uint64_t n = 0; n < 2; ++n) {
        ends.commit();
        ends.exchange(at_low, at_high, delta, n);
        const double error = std::abs(ends.low.stats().distance - distance);
        EXPECT_LT(error, last_error / 10);
        last_error = error;
    }
}

TEST(Edge, KeepsAllEnergyUnderFp32AndLessUnderCoarserCodecs) {
    const Floats values = normal_floats(1);
    const auto kept = [&](CodecId codec) {
        EdgeCodec edge(size, true, best());
        return edge.encode(values, codec, false, 1).kept_ratio;
    };
    EXPECT_EQ(1.0, kept(CodecId::fp32));
    EXPECT_LT(kept(CodecId::bf16), 1.0);
    EXPECT_GT(kept(CodecId::bf16), 0.99999);
    EXPECT_LT(kept(CodecId::q8), kept(CodecId::bf16));
    EXPECT_GT(kept(CodecId::q8), 0.999);
}

TEST(Edge, KeepsAllWhereThereIsNothingToTell) {
    Ends ends;
    const Floats zeros(size, 0.0F);
    ends.exchange(zeros, zeros, keyframe, 1);
    ends.commit();
    EXPECT_EQ(1.0, ends.low.encode(zeros, delta.codec, false, 1).kept_ratio);
}

TEST(Edge, SendsNothingThatIsNotFinite) {
    for (const auto& [codec, name] : codec_names) {
        Floats bad = normal_floats(1);
        bad[9000] = std::numeric_limits<float>::quiet_NaN();
        EdgeCodec edge(size, true, best());
        const auto result = edge.encode(bad, codec, true, 1);
        EXPECT_FALSE(result.finite) << name;
        EXPECT_EQ(nullptr, result.bytes);
        EXPECT_TRUE(edge.encode(normal_floats(1), codec, true, 1).finite);  // nothing was kept
    }
}

TEST(Edge, SendsNothingThatTheCodingMakesInfinite) {
    Floats huge(size, 1.0F);
    huge[5] = std::numeric_limits<float>::max();  // bf16 rounds it up
    EdgeCodec edge(size, true, best());
    EXPECT_FALSE(edge.encode(huge, CodecId::bf16, false, 1).finite);
    EXPECT_TRUE(edge.encode(huge, CodecId::fp32, false, 1).finite);
}

TEST(Edge, SaysWhereTheOtherEndIsNotFinite) {
    Floats bad = normal_floats(1);
    bad[77] = std::numeric_limits<float>::infinity();
    EdgeCodec edge(size, true, best());
    ASSERT_TRUE(edge.encode(normal_floats(2), CodecId::bf16, false, 1).finite);
    ASSERT_TRUE(edge.decode(encode(best(), {CodecId::bf16, false}, bad, 0), CodecId::bf16, false));
    EXPECT_FALSE(edge.stats().finite);
}

TEST(Edge, HashesApartWhenOneEndSawOtherBytes) {
    Ends ends;
    const auto from_low = ends.low.encode(normal_floats(1), CodecId::bf16, false, 1);
    const auto from_high = ends.high.encode(normal_floats(2), CodecId::bf16, false, 1);
    Bytes flipped = *from_high.bytes;
    flipped.back() ^= 1U;
    ASSERT_TRUE(ends.low.decode(flipped, CodecId::bf16, false));
    ASSERT_TRUE(ends.high.decode(*from_low.bytes, CodecId::bf16, false));
    EXPECT_NE(ends.low.swap_hash(), ends.high.swap_hash());
}

TEST(Edge, HashesApartWhenTheHistoryDiffers) {
    Ends one;
    Ends other;
    one.exchange(normal_floats(1), normal_floats(2), keyframe, 1);
    other.exchange(normal_floats(1), normal_floats(3), keyframe, 1);
    one.commit();
    other.commit();
    // The same bytes from here on: the encoding of a difference of zero to each own reference.
    const Bytes nothing = encode(best(), delta, Floats(size, 0.0F), 5);
    for (EdgeCodec* edge : {&one.low, &other.low}) {
        ASSERT_TRUE(edge->decode(nothing, delta.codec, false));
        ASSERT_TRUE(edge->encode(normal_floats(1), delta.codec, false, 5).finite);
    }
    EXPECT_NE(one.low.swap_hash(), other.low.swap_hash());
}

TEST(Edge, StartsFromFirstParametersWithAtMostTwiceTheErrorOfAKeyframeOfTwiceTheBytes) {
    const Floats first = normal_floats(7);
    Floats at_low = normal_floats(1);
    Floats at_high = normal_floats(2);
    for (std::size_t i = 0; i < size; ++i) {  // both have gone some way from there
        at_low[i] = first[i] + 0.3F * at_low[i];
        at_high[i] = first[i] + 0.3F * at_high[i];
    }
    Ends ends;
    ends.low.start_from(first);
    ends.high.start_from(first);
    ends.exchange(at_low, at_high, delta, 1);
    ends.expect_same_values();
    Ends with_keyframe;
    with_keyframe.exchange(at_low, at_high, keyframe, 1);
    const Floats exact = [&] {
        Floats apart(size);
        for (std::size_t i = 0; i < size; ++i)
            apart[i] = at_high[i] - at_low[i];
        return apart;
    }();
    const auto error = [&](const Ends& each) {
        const Floats moved = Ends::displacement(each.low, 1.0F);
        return best().sum_of_squared_differences(moved.data(), exact.data(), size);
    };
    EXPECT_LT(error(ends), 4 * error(with_keyframe));  // squares
    const std::size_t bytes = encoded_bytes(delta.codec, size, /*keyframe=*/false);
    EXPECT_LT(1.9 * static_cast<double>(bytes), encoded_bytes(delta.codec, size, true));
}

TEST(Edge, HashesApartWhereTheFirstParametersWereDrawnOtherwise) {
    Ends ends;
    ends.low.start_from(normal_floats(7));
    ends.high.start_from(normal_floats(8));
    ends.exchange(normal_floats(1), normal_floats(2), delta, 1);
    EXPECT_NE(ends.low.swap_hash(), ends.high.swap_hash());
}

TEST(Edge, StartsANewChainWithAKeyframe) {
    Ends fresh;
    Ends old;
    old.exchange(normal_floats(8), normal_floats(9), keyframe, 1);
    old.commit();
    for (Ends* ends : {&fresh, &old}) {
        ends->exchange(normal_floats(1), normal_floats(2), keyframe, 3);
    }
    EXPECT_EQ(fresh.low.swap_hash(), old.low.swap_hash());
}

TEST(Edge, ChangesNothingWhenItRefuses) {
    Ends ends;
    ends.exchange(normal_floats(1), normal_floats(2), keyframe, 1);
    ends.commit();
    const auto from_low = ends.low.encode(normal_floats(3), delta.codec, false, 2);
    const auto from_high = ends.high.encode(normal_floats(4), delta.codec, false, 2);
    Bytes bad = *from_high.bytes;
    bad[encoding_header_bytes + 3] = 0xff;  // a negative scale
    EXPECT_FALSE(ends.low.decode(bad, delta.codec, false));
    EXPECT_FALSE(ends.low.decode(ByteView(bad).first(10), delta.codec, false));
    EXPECT_FALSE(ends.low.is_complete());
    ASSERT_TRUE(ends.low.decode(*from_high.bytes, delta.codec, false));
    ASSERT_TRUE(ends.high.decode(*from_low.bytes, delta.codec, false));
    ends.expect_same_values();
}

TEST(Edge, RefusesADifferenceWithoutAReference) {
    EdgeCodec edge(size, true, best());
    const Bytes bytes = encode(best(), delta, normal_floats(1), 1);
    EXPECT_EQ(ErrorCode::conflict, edge.decode(bytes, delta.codec, false).error().code);
}

TEST(Edge, HoldsReferencesOnlyAfterACommittedDelta) {
    Ends ends;
    ends.exchange(normal_floats(1), normal_floats(2), {CodecId::q8, false}, 1);
    ends.commit();
    EXPECT_FALSE(ends.low.has_references());
    ends.exchange(normal_floats(1), normal_floats(2), keyframe, 1);
    EXPECT_FALSE(ends.low.has_references());
    ends.commit();
    EXPECT_TRUE(ends.low.has_references());
    ends.low.reset();
    EXPECT_FALSE(ends.low.has_references());
}

TEST(EdgeDeathTest, StopsWhenItsOrderOfCallsIsBroken) {
    EdgeCodec edge(8, true, best());
    const Floats values(8, 1.0F);
    EXPECT_DEATH(static_cast<void>(edge.stats()), "is_complete");
    EXPECT_DEATH(edge.commit(), "is_complete");
    EXPECT_DEATH(
        static_cast<void>(edge.encode(values, CodecId::delta_q8, false, 1)), "can_continue");
    static_cast<void>(edge.encode(values, CodecId::q8, false, 1));
    EXPECT_DEATH(static_cast<void>(edge.encode(values, CodecId::q8, false, 1)), "own_");
}

}  // namespace
}  // namespace p2p::core
