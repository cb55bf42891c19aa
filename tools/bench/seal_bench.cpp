// How fast bulk is sealed and opened, beside the raw ciphers of both libraries.
//
// Everything is measured in one run, on CPU time, since a shared machine is slower in some hours:
// read the ratios at the end. The session's path is what a link does with a chunk: push, seal into
// the buffer that is written to the socket; and feed what was read, open, give out. Target
// (MEASURES): at least 0.95 of the fastest raw cipher at 64 KiB.

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "proto/evp.hpp"
#include "proto/session.hpp"
#include "tests/support/session_pair.hpp"

namespace p2p {
namespace {

using core::Bytes;
using core::ByteView;

constexpr std::size_t batch = 16;  ///< records made outside the clock for `session_open`
constexpr std::size_t read_bytes = 256 * core::kib;  ///< what a link's buffer takes at once

std::size_t size_of(const benchmark::State& state) {
    return static_cast<std::size_t>(state.range(0));
}

void count_bytes(benchmark::State& state, std::size_t pieces = 1) {
    state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<long>(pieces));
}

/// Two buffers half a page apart modulo 4 KiB: at the same place in their pages, loads would wait
/// for stores to the other one, and the raw ciphers would look slower than they are.
class Buffers {
  public:
    explicit Buffers(std::size_t plain_bytes)
        : plain_bytes_(plain_bytes),
          memory_(2 * (plain_bytes + 2 * page)) {}

    [[nodiscard]] core::MutableByteView plain() { return {memory_.data(), plain_bytes_}; }

    [[nodiscard]] core::MutableByteView sealed() {
        const std::size_t pages = (plain_bytes_ + page - 1) / page;
        return {memory_.data() + pages * page + page / 2, plain_bytes_ + proto::aead_tag_bytes};
    }

  private:
    static constexpr std::size_t page = 4096;
    std::size_t plain_bytes_;
    Bytes memory_;
};

void sodium_seal(benchmark::State& state) {
    const proto::SecretKey key = tests::seed(1);
    Buffers buffers(size_of(state));
    std::uint64_t nonce = 0;
    for (auto _ : state) {
        proto::sodium_seal(key, nonce++, {}, buffers.plain(), buffers.sealed());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void evp_seal(benchmark::State& state) {
    proto::EvpSealer sealer(tests::seed(1));
    Buffers buffers(size_of(state));
    const ByteView pieces[] = {buffers.plain()};
    std::uint64_t nonce = 0;
    for (auto _ : state) {
        sealer.seal(nonce++, pieces, buffers.sealed());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void sodium_open(benchmark::State& state) {
    const proto::SecretKey key = tests::seed(1);
    Buffers buffers(size_of(state));
    proto::sodium_seal(key, 0, {}, buffers.plain(), buffers.sealed());
    for (auto _ : state) {
        P2P_CHECK(proto::sodium_open(key, 0, {}, buffers.sealed(), buffers.plain()));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void evp_open(benchmark::State& state) {
    const proto::SecretKey key = tests::seed(1);
    proto::EvpOpener opener(key);
    Buffers buffers(size_of(state));
    proto::sodium_seal(key, 0, {}, buffers.plain(), buffers.sealed());
    for (auto _ : state) {
        P2P_CHECK(opener.open(0, buffers.sealed(), buffers.plain()));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

/// A chunk as the node sends it: a slice of one buffer, behind a small header.
proto::BulkPiece piece_of(const std::shared_ptr<const Bytes>& body) {
    return {.stream = 1, .header = Bytes(24, 1), .body = body, .offset = 0, .length = body->size()};
}

void session_seal(benchmark::State& state) {
    tests::SessionPair pair;
    pair.run();
    const auto body = std::make_shared<const Bytes>(size_of(state), 3);
    Bytes out(128 * core::kib);
    for (auto _ : state) {
        P2P_CHECK(pair.dialler.session.push_bulk(piece_of(body)));
        P2P_CHECK(pair.dialler.session.take_output(core::MutableByteView(out)) > body->size());
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

/// The stream is fed as a link reads it: in pieces of a buffer, cut anywhere.
void session_open(benchmark::State& state) {
    tests::SessionPair pair;
    pair.run();
    const auto body = std::make_shared<const Bytes>(size_of(state), 3);
    Bytes stream(batch * proto::output_bytes_min);
    for (auto _ : state) {
        state.PauseTiming();
        std::size_t sealed = 0;
        for (std::size_t i = 0; i < batch; ++i) {
            P2P_CHECK(pair.dialler.session.push_bulk(piece_of(body)));
            sealed +=
                pair.dialler.session.take_output(core::MutableByteView(stream).subspan(sealed));
        }
        state.ResumeTiming();
        for (ByteView rest(stream.data(), sealed); !rest.empty();) {
            const ByteView piece = rest.first(std::min(rest.size(), read_bytes));
            rest = rest.subspan(piece.size());
            P2P_CHECK(pair.acceptor.session.feed(piece));
            while (auto event = pair.acceptor.session.next_event()) {
                benchmark::DoNotOptimize(event);
            }
        }
    }
    count_bytes(state, batch);
}

/// 65,000 is a whole chunk, the piece that a node sends.
constexpr int chunk = static_cast<int>(core::limits::chunk_bytes_max);

BENCHMARK(sodium_seal)->RangeMultiplier(2)->Range(64, 1024)->Arg(4096)->Arg(chunk);
BENCHMARK(evp_seal)->RangeMultiplier(2)->Range(64, 1024)->Arg(4096)->Arg(chunk);
BENCHMARK(session_seal)->Arg(4096)->Arg(chunk);
BENCHMARK(sodium_open)->RangeMultiplier(2)->Range(64, 1024)->Arg(4096)->Arg(chunk);
BENCHMARK(evp_open)->RangeMultiplier(2)->Range(64, 1024)->Arg(4096)->Arg(chunk);
BENCHMARK(session_open)->Arg(4096)->Arg(chunk);

/// The console's table, and the best rate of each benchmark over its repetitions.
class RatioReporter : public benchmark::ConsoleReporter {
  public:
    void ReportRuns(const std::vector<Run>& runs) override {
        ConsoleReporter::ReportRuns(runs);
        for (const Run& run : runs) {
            const auto rate = run.counters.find("bytes_per_second");
            if (run.run_type != Run::RT_Iteration || rate == run.counters.end()) continue;
            double& best = best_[run.run_name.function_name + "/" + run.run_name.args];
            best = std::max(best, rate->second.value);
        }
    }

    void print_ratios() const {
        for (const char* verb : {"seal", "open"}) {
            for (const std::string& size : {std::string("4096"), std::to_string(chunk)}) {
                const double raw = std::max(rate("sodium_", verb, size), rate("evp_", verb, size));
                const double session = rate("session_", verb, size);
                if (raw <= 0 || session <= 0) continue;
                std::printf(
                    "session_%s of %s bytes: %.2f GB/s, %.3f of the fastest raw cipher\n",
                    verb,
                    size.c_str(),
                    session / 1e9,
                    session / raw);
            }
        }
    }

  private:
    [[nodiscard]] double rate(
        const std::string& kind, const std::string& verb, const std::string& size) const {
        const auto found = best_.find(kind + verb + "/" + size);
        return found == best_.end() ? 0 : found->second;
    }

    std::map<std::string, double> best_;
};

}  // namespace
}  // namespace p2p

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    p2p::RatioReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    reporter.print_ratios();
    return 0;
}
