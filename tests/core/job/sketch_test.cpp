// The sketch's estimates against the true distances, and what half precision makes of a value.

#include "core/job/sketch.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::test {
namespace {

using core::Rng;
using core::Sketch;
using core::sketch_distance;
using core::sketch_norm;
using core::sketch_of;

std::vector<float> any_replica(Rng& rng, std::size_t floats, double scale) {
    std::vector<float> values(floats);
    for (float& value : values)
        value = static_cast<float>(scale * rng.normal());
    return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        squares += std::pow(double{a[i]} - double{b[i]}, 2);
    return std::sqrt(squares);
}

TEST(Sketch, TellsTheDistanceOfTwoReplicasWithinThreeDeviations) {
    Rng rng(1);
    for (const double apart : {0.01, 0.1, 1.0}) {
        double squared_errors = 0;
        for (int round = 0; round < 40; ++round) {
            const auto a = any_replica(rng, 5000, 1);
            auto b = a;
            for (float& value : b)
                value += static_cast<float>(apart * rng.normal());
            const double true_distance = distance(a, b);
            const double told = sketch_distance(sketch_of(a), sketch_of(b));
            EXPECT_NEAR(1, told / true_distance, 0.35) << apart;
            squared_errors += std::pow(told / true_distance - 1, 2);
        }
        EXPECT_LT(std::sqrt(squared_errors / 40), 0.12) << apart;
    }
}

TEST(Sketch, OfEqualReplicasIsEqualAndItsNormIsTheirs) {
    Rng rng(2);
    const auto replica = any_replica(rng, 10'000, 0.02);
    EXPECT_EQ(sketch_of(replica), sketch_of(replica));
    const double norm = distance(replica, std::vector<float>(replica.size()));
    EXPECT_NEAR(1, sketch_norm(sketch_of(replica)) / norm, 0.35);
}

TEST(Sketch, KeepsEveryHalfExactly) {
    for (const float value :
         {0.0F,
          -0.0F,
          1.0F,
          -1.5F,
          65504.0F,
          6.103515625e-5F,
          6.0975551605224609e-5F,
          5.9604644775390625e-8F,
          0.333251953125F}) {
        const std::vector<float> one{value};
        EXPECT_EQ(std::abs(value), sketch_norm(sketch_of(one))) << value;
    }
}

TEST(Sketch, RoundsToTheNearestHalfWithTiesToEven) {
    const auto told = [](float value) {
        return sketch_norm(sketch_of(std::vector<float>{value}));
    };
    EXPECT_EQ(1.0, told(1.00048828125F));          // half a step above 1: to the even one below
    EXPECT_EQ(1.001953125, told(1.00146484375F));  // half a step below an even one
    EXPECT_EQ(2.0, told(1.9999F));                 // the carry goes into the exponent
    EXPECT_EQ(0.0, told(2.9e-8F));                 // below half of the smallest
}

TEST(Sketch, IsOfNumbersWhateverTheReplicaHolds) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float value : {infinity, -infinity, std::nanf(""), 1e30F, -1e30F, 65520.0F}) {
        const Sketch sketch = sketch_of(std::vector<float>{value});
        EXPECT_TRUE(core::is_sketch(sketch)) << value;
        EXPECT_EQ(65504.0, sketch_norm(sketch)) << value;
    }
    Sketch forged;
    forged.half[5] = 0x7c01;
    EXPECT_FALSE(core::is_sketch(forged));
}

}  // namespace
}  // namespace p2p::test
