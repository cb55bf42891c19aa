// The command `p2psim calibrate`: what mixing's arithmetic costs a core of this machine, as the
// [costs] of a stage file.
//
// The same calls as a daemon's workers make, on a shard as large as they get; the median of some
// runs, in seconds of the core.

#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/rng.hpp"
#include "core/codec/edge.hpp"
#include "core/codec/kernels.hpp"
#include "core/node/swap_measure.hpp"
#include "tools/sim/commands.hpp"
#include "tools/sim/outcome.hpp"

namespace p2p::sim {

using core::CodecId;
using core::EdgeCodec;

namespace {

constexpr std::size_t floats = core::limits::shard_bytes_max / sizeof(float);
constexpr int runs = 7;

double seconds_of(const std::function<void()>& act) {
    const std::clock_t begun = std::clock();
    act();
    return static_cast<double>(std::clock() - begun) / static_cast<double>(CLOCKS_PER_SEC);
}

std::vector<float> walk(std::uint64_t seed) {
    core::Rng rng(seed);
    std::vector<float> values(floats);
    for (float& value : values)
        value = static_cast<float>(0.1 * (rng.uniform() - 0.5));
    return values;
}

struct Measured {
    std::vector<double> encode;
    std::vector<double> decode;
    std::vector<double> apply;
};

/// One end of a link, swap after swap; the other end stands beside it.
Measured measure() {
    const core::Kernels& kernels = core::kernels(core::best_kernel_level());
    EdgeCodec low(floats, /*self_is_low=*/true, kernels);
    EdgeCodec high(floats, /*self_is_low=*/false, kernels);
    std::vector<float> here = walk(1);
    const std::vector<float> there = walk(2);
    const std::vector<float> nothing(floats);
    low.start_from(nothing);
    high.start_from(nothing);
    std::vector<float> displacement(floats);
    Measured measured;
    for (int i = 0; i < runs; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        const core::Decode order{
            .edge = {}, .n = {}, .range = {}, .codec = CodecId::delta_q4, .keyframe = false};
        core::EncodeResult mine;
        measured.encode.push_back(
            seconds_of([&] { mine = low.encode(here, order.codec, false, seed); }));
        const auto theirs = high.encode(there, order.codec, false, seed);
        measured.decode.push_back(
            seconds_of([&] { (void)core::decode_and_measure(low, order, *theirs.bytes); }));
        (void)high.decode(*mine.bytes, order.codec, false);
        measured.apply.push_back(seconds_of([&] {
            low.displacement(0.25F, displacement);
            kernels.add(displacement.data(), floats, here.data());
            low.commit();
        }));
        high.commit();
    }
    return measured;
}

}  // namespace

int calibrate(const Options& /*options*/) {
    const Measured measured = measure();
    const auto line = [](const char* key, const std::vector<double>& seconds) {
        std::printf("%s = %.2f\n", key, middle_of(seconds) / static_cast<double>(floats) * 1e9);
    };
    std::puts("# Of a core here, under delta(q4); append it to a stage file.\n[costs]");
    line("encode_ns_a_float", measured.encode);
    line("decode_ns_a_float", measured.decode);
    line("apply_ns_a_float", measured.apply);
    return 0;
}

}  // namespace p2p::sim
