#include "core/data/shuffle.hpp"

#include <algorithm>
#include <bit>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"

namespace p2p::core {

namespace {

/// Multiply and fold, twice: each bit of the input moves about half of the low bits.
std::uint64_t scramble(std::uint64_t value) {
    value = (value ^ (value >> 31U)) * 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 29U)) * 0xd1342543de82ef95;
    return value ^ (value >> 32U);
}

std::uint64_t low_bits(unsigned count) {
    return (std::uint64_t{1} << count) - 1;
}

}  // namespace

Permutation::Permutation(std::uint64_t key, std::uint64_t size)
    : size_(size) {
    P2P_CHECK(size > 0);
    const auto bits = std::max(2U, static_cast<unsigned>(std::bit_width(size - 1)));
    left_bits_ = bits / 2;
    right_bits_ = bits - left_bits_;

    Rng rng(key);
    for (std::uint64_t& round_key : round_keys_) {
        round_key = rng.next_u64();
    }
}

std::uint64_t Permutation::at(std::uint64_t index) const {
    P2P_CHECK(index < size_);
    const std::uint64_t left_mask = low_bits(left_bits_);
    const std::uint64_t right_mask = low_bits(right_bits_);
    std::uint64_t value = index;
    do {
        std::uint64_t left = value >> right_bits_;
        std::uint64_t right = value & right_mask;
        for (std::size_t round = 0; round < rounds; round += 2) {
            left ^= scramble(right + round_keys_[round]) & left_mask;
            right ^= scramble(left + round_keys_[round + 1]) & right_mask;
        }
        value = (left << right_bits_) | right;
    } while (value >= size_);  // ends: the walk is a cycle, and it began inside
    return value;
}

std::uint64_t permuted(std::uint64_t key, std::uint64_t size, std::uint64_t index) {
    return Permutation(key, size).at(index);
}

}  // namespace p2p::core
