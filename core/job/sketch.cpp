#include "core/job/sketch.hpp"

#include <cmath>

namespace p2p::core {

namespace {

constexpr double half_max = 65504;
constexpr std::uint16_t half_exponent = 0x7c00;

/// The finalizer of SplitMix64 (Vigna; Steele, Lea and Flood 2014). Of all nodes: never change it.
std::uint64_t scattered(std::uint64_t place) {
    std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31U);
}

/// To the nearest, ties to even; beyond the largest half, and for what is no number: the largest.
std::uint16_t to_half(double value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
    const double size = std::abs(value);
    if (!(size < half_max)) return sign | 0x7bffU;
    int exponent = -13;  // below 2^-14: subnormal, in steps of 2^-24
    if (size >= 0x1p-14) (void)std::frexp(size, &exponent);  // size = [0.5, 1) * 2^exponent
    const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 11 - exponent)));
    // 1024 to 2048 steps where it is normal: their carry into the exponent is the right one.
    const auto biased = static_cast<std::uint32_t>(exponent + 13) << 10U;
    return static_cast<std::uint16_t>(sign | (biased + steps));
}

double from_half(std::uint16_t half) {
    const int exponent = (half & half_exponent) >> 10U;
    const int fraction = half & 0x3ff;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    return (half & 0x8000U) != 0 ? -size : size;
}

}  // namespace

Sketch sketch_of(FloatView parameters) {
    std::array<double, Sketch::cells> sums{};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::uint64_t drawn = scattered(i);
        const double value = parameters[i];
        sums[drawn % Sketch::cells] += (drawn >> 32U & 1U) != 0 ? value : -value;
    }
    Sketch sketch;
    for (std::size_t cell = 0; cell < Sketch::cells; ++cell)
        sketch.half[cell] = to_half(sums[cell]);
    return sketch;
}

double sketch_distance(const Sketch& a, const Sketch& b) {
    double squares = 0;
    for (std::size_t cell = 0; cell < Sketch::cells; ++cell) {
        const double difference = from_half(a.half[cell]) - from_half(b.half[cell]);
        squares += difference * difference;
    }
    return std::sqrt(squares);
}

double sketch_norm(const Sketch& sketch) {
    return sketch_distance(sketch, Sketch{});
}

bool is_sketch(const Sketch& sketch) {
    for (const std::uint16_t half : sketch.half) {
        if ((half & half_exponent) == half_exponent) return false;
    }
    return true;
}

}  // namespace p2p::core
