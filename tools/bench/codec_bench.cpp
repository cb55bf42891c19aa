// How fast a core encodes, decodes, merges and hashes, beside memcpy and a STREAM triad.
//
// Everything is measured in one run, since memory bandwidth differs from hour to hour on a shared
// machine: read ratios, not numbers. Rates count the float32 bytes of the shard (a triad counts
// its output, as a merge does; memcpy counts what it copies). MEASURES.md holds the targets.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/base/limits.hpp"
#include "core/base/rng.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/edge.hpp"
#include "core/codec/form_modulo.hpp"
#include "core/codec/hash.hpp"
#include "core/codec/kernels.hpp"

namespace p2p {
namespace {

using core::Bytes;
using core::CodecId;
using core::KernelLevel;
using core::Kernels;

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
    core::Rng rng(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(rng.uniform()) - 0.5F;
    }
    return values;
}

std::size_t floats_of(const benchmark::State& state) {
    return static_cast<std::size_t>(state.range(0)) / sizeof(float);
}

void count_bytes(benchmark::State& state) {
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void copy_memory(benchmark::State& state) {
    const auto from = random_floats(floats_of(state), 1);
    std::vector<float> to(from.size());
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

/// The triad of McCalpin's STREAM: a = b + s * c, compiled as the merge is.
void stream_triad(benchmark::State& state, const Kernels& kernels) {
    const auto b = random_floats(floats_of(state), 1);
    const auto c = random_floats(floats_of(state), 2);
    std::vector<float> a(b.size());
    for (auto _ : state) {
        kernels.scaled_difference(b.data(), c.data(), 0.5F, b.size(), a.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void encode_shard(benchmark::State& state, const Kernels& kernels, CodecId codec) {
    const auto values = random_floats(floats_of(state), 1);
    Bytes encoding = core::start_encoding({.codec = codec}, values.size(), /*seed=*/1);
    for (auto _ : state) {
        core::encode_slice(kernels, values, /*first=*/0, encoding);
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void decode_shard(benchmark::State& state, const Kernels& kernels, CodecId codec) {
    auto values = random_floats(floats_of(state), 1);
    const Bytes encoding = core::encode(kernels, {.codec = codec}, values, /*seed=*/1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(core::decode(kernels, {.codec = codec}, encoding, values));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

/// A shard under modulo with a theta of a tenth of the values' range.
struct ModuloShard {
    std::vector<float> values;
    std::vector<float> rebuilt = std::vector<float>(values.size());
    core::Spreads spreads = core::Spreads(core::modulo_block_count(values.size()), 0.05F);
    Bytes encoding;

    ModuloShard(std::size_t floats, CodecId codec)
        : values(random_floats(floats, 1)),
          encoding(core::start_encoding({.codec = codec}, floats, core::modulo_seed(2))) {}
};

void encode_modulo(benchmark::State& state, const Kernels& kernels, CodecId codec) {
    ModuloShard shard(floats_of(state), codec);
    for (auto _ : state) {
        core::encode_modulo(kernels, shard.values, {shard.spreads}, shard.encoding, shard.rebuilt);
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void decode_modulo(benchmark::State& state, const Kernels& kernels, CodecId codec) {
    ModuloShard shard(floats_of(state), codec);
    core::encode_modulo(kernels, shard.values, {shard.spreads}, shard.encoding, shard.rebuilt);
    for (auto _ : state) {
        benchmark::DoNotOptimize(core::decode_modulo(
            kernels, shard.encoding, shard.values, {shard.spreads}, shard.rebuilt));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void merge(benchmark::State& state, const Kernels& kernels) {
    const auto delta = random_floats(floats_of(state), 1);
    auto values = random_floats(floats_of(state), 2);
    for (auto _ : state) {
        kernels.add(delta.data(), delta.size(), values.data());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void measure_norm(benchmark::State& state, const Kernels& kernels) {
    const auto values = random_floats(floats_of(state), 1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(kernels.sum_of_squares(values.data(), values.size()));
    }
    count_bytes(state);
}

void measure_distance(benchmark::State& state, const Kernels& kernels) {
    const auto a = random_floats(floats_of(state), 1);
    const auto b = random_floats(floats_of(state), 2);
    for (auto _ : state) {
        benchmark::DoNotOptimize(kernels.sum_of_squared_differences(a.data(), b.data(), a.size()));
    }
    count_bytes(state);
}

void look_for_nan(benchmark::State& state, const Kernels& kernels) {
    const auto values = random_floats(floats_of(state), 1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(kernels.is_finite(values.data(), values.size()));
    }
    count_bytes(state);
}

void hash_bytes(benchmark::State& state) {
    const Bytes bytes(static_cast<std::size_t>(state.range(0)), 7);
    core::Hash128 hash;
    for (auto _ : state) {
        hash = core::hash128(hash, bytes);
        benchmark::DoNotOptimize(hash);
    }
    count_bytes(state);
}

/// A whole side of a delta(q8) swap: difference, coding, rebuilding, norms, hash.
void encode_edge(benchmark::State& state, const Kernels& kernels) {
    const auto first = random_floats(floats_of(state), 1);
    const auto second = random_floats(floats_of(state), 2);
    core::EdgeCodec edge(first.size(), /*self_is_low=*/true, kernels);
    const auto keyframe = edge.encode(first, CodecId::delta_q8, /*keyframe=*/true, 1);
    if (!edge.decode(*keyframe.bytes, CodecId::delta_q8, /*keyframe=*/true)) std::abort();
    edge.commit();
    for (auto _ : state) {
        benchmark::DoNotOptimize(edge.encode(second, CodecId::delta_q8, /*keyframe=*/false, 2));
        edge.abandon();
    }
    count_bytes(state);
}

void add_level(KernelLevel level) {
    const Kernels& table = core::kernels(level);
    const std::string suffix = "/" + std::string(core::kernel_level_name(level));
    const auto add = [&](const std::string& name, auto body) {
        benchmark::RegisterBenchmark((name + suffix).c_str(), body)
            ->Arg(std::int64_t{1} << 20)
            ->Arg(std::int64_t{1} << 26);
    };
    for (const CodecId codec :
         {CodecId::bf16,
          CodecId::fp16,
          CodecId::q8,
          CodecId::q4,
          CodecId::delta_topk16,
          CodecId::delta_topk64,
          CodecId::delta_topk256}) {
        const std::string name(core::codec_name(codec));
        add("encode_" + name, [&table, codec](auto& state) { encode_shard(state, table, codec); });
        add("decode_" + name, [&table, codec](auto& state) { decode_shard(state, table, codec); });
    }
    for (const CodecId codec :
         {CodecId::modulo_1, CodecId::modulo_2, CodecId::modulo_4, CodecId::modulo_8}) {
        const std::string name(core::codec_name(codec));
        add("encode_" + name, [&table, codec](auto& state) { encode_modulo(state, table, codec); });
        add("decode_" + name, [&table, codec](auto& state) { decode_modulo(state, table, codec); });
    }
    add("triad", [&table](auto& state) { stream_triad(state, table); });
    add("merge", [&table](auto& state) { merge(state, table); });
    add("norm", [&table](auto& state) { measure_norm(state, table); });
    add("distance", [&table](auto& state) { measure_distance(state, table); });
    add("is_finite", [&table](auto& state) { look_for_nan(state, table); });
    benchmark::RegisterBenchmark(
        ("edge_encode_delta_q8" + suffix).c_str(),
        [&table](auto& state) { encode_edge(state, table); })
        ->Arg(1 << 20)
        ->Arg(core::limits::shard_bytes_max);
}

BENCHMARK(copy_memory)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(hash_bytes)->Arg(1 << 20)->Arg(1 << 26);

}  // namespace
}  // namespace p2p

int main(int argc, char** argv) {
    for (const auto level : p2p::core::kernel_levels) {
        if (level <= p2p::core::best_kernel_level()) p2p::add_level(level);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
