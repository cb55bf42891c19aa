#pragma once

// Randomness as a value with a seed, owned by whoever draws from it.
//
// Counter-based (Philox4x32-10: Salmon et al., SC 2011, "Parallel random numbers: as easy as
// 1, 2, 3"): the state is a key and a counter, so a stream is split by deriving another key and a
// run resumes from integers. Ranges, shuffles and normal draws are our own, since the standard
// library's differ from one implementation to the next.

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"

namespace p2p::core {

/// One block of Philox4x32-10: four words for (key, counter).
[[nodiscard]] std::array<std::uint32_t, 4> philox(
    std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high);

/// Mixes integers into a key; order matters. For seeds of (seed, peer, stream, step).
[[nodiscard]] std::uint64_t mix_key(std::uint64_t seed, std::uint64_t value);
[[nodiscard]] std::uint64_t mix_key(std::uint64_t seed, ByteView bytes);

class Rng {
  public:
    explicit Rng(std::uint64_t key, std::uint64_t stream = 0)
        : key_(key),
          stream_(stream) {}

    [[nodiscard]] std::uint32_t next_u32();
    [[nodiscard]] std::uint64_t next_u64();

    /// Uniform in [0, bound), without bias. @pre bound > 0
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);

    /// Uniform in [0, 1), 53 bits.
    [[nodiscard]] double uniform();

    /// Standard normal (Box-Muller, one of the pair kept).
    [[nodiscard]] double normal();

    /// Gamma(shape, 1), by Marsaglia and Tsang (2000). @pre shape > 0
    [[nodiscard]] double gamma(double shape);

    /// An independent generator; the same arguments give the same one.
    [[nodiscard]] Rng split(std::uint64_t name) const {
        return Rng(mix_key(key_, name), stream_ + 1);
    }

    template <typename T>
    void shuffle(std::span<T> items) {
        for (std::size_t i = items.size(); i > 1; --i) {
            std::swap(items[i - 1], items[below(i)]);
        }
    }

  private:
    std::uint64_t key_;
    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
    std::array<std::uint32_t, 4> block_{};
    unsigned used_ = 4;
    double spare_normal_ = 0;
    bool has_spare_ = false;
};

}  // namespace p2p::core
