#pragma once

// A permutation of [0, n) that is computed, not stored: any element at any time, no state.
//
// A Feistel network over the smallest power of two that holds n, walked again until it lands
// inside (cycle walking; Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). The
// round function is cheap and statistical, not cryptographic: it mixes data, it hides nothing.

#include <array>
#include <cstddef>
#include <cstdint>

namespace p2p::core {

class Permutation {
  public:
    /// @pre size > 0
    Permutation(std::uint64_t key, std::uint64_t size);

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Where `index` goes; a bijection on [0, size). @pre index < size()
    [[nodiscard]] std::uint64_t at(std::uint64_t index) const;

  private:
    static constexpr std::size_t rounds = 8;

    std::uint64_t size_;
    unsigned left_bits_;
    unsigned right_bits_;
    std::array<std::uint64_t, rounds> round_keys_{};
};

/// Permutation(key, size).at(index), for one element.
[[nodiscard]] std::uint64_t permuted(std::uint64_t key, std::uint64_t size, std::uint64_t index);

}  // namespace p2p::core
