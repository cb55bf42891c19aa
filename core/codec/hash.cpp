#include "core/codec/hash.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace p2p::core {

namespace {

__extension__ typedef unsigned __int128 Product;

constexpr std::size_t lane_bytes = 16;
constexpr std::size_t lane_count = 4;
constexpr std::size_t stripe_bytes = lane_bytes * lane_count;

// The fractions of the square roots of the first primes: numbers without a plan.
constexpr std::array<Hash128, lane_count> lane_keys{{
    {0x6a09e667f3bcc908U, 0xbb67ae8584caa73bU},
    {0x3c6ef372fe94f82bU, 0xa54ff53a5f1d36f1U},
    {0x510e527fade682d1U, 0x9b05688c2b3e6c1fU},
    {0x1f83d9abfb41bd6bU, 0x5be0cd19137e2179U},
}};
constexpr std::uint64_t step_key = 0xcbbb9d5dc1059ed8U;
constexpr std::uint64_t end_key = 0x629a292a367cd507U;

std::uint64_t load_word(const std::uint8_t* at) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Takes two words in. The operands are added to the halves of their product, so that an operand
/// of zero loses nothing.
Hash128 absorb(Hash128 state, std::uint64_t first, std::uint64_t second) {
    const std::uint64_t x = (state.low ^ first) + step_key;
    const std::uint64_t y = state.high ^ second;
    const Product product = static_cast<Product>(x) * y;
    return {
        std::rotl(y, 29) + static_cast<std::uint64_t>(product),
        x ^ static_cast<std::uint64_t>(product >> 64U)};
}

using Lanes = std::array<Hash128, lane_count>;

void absorb_stripe(Lanes& lanes, const std::uint8_t* at) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
        const std::uint8_t* words = at + lane * lane_bytes;
        lanes[lane] = absorb(lanes[lane], load_word(words), load_word(words + 8));
    }
}

Hash128 finish(const Lanes& lanes, std::uint64_t byte_count) {
    Hash128 state = absorb(lanes[0], byte_count, end_key);
    for (std::size_t lane = 1; lane < lane_count; ++lane) {
        state = absorb(state, lanes[lane].low, lanes[lane].high);
    }
    state = absorb(state, end_key, byte_count);
    return absorb(state, end_key, end_key);
}

}  // namespace

Hash128 hash128(Hash128 seed, ByteView bytes) {
    Lanes lanes = lane_keys;
    for (Hash128& lane : lanes) {
        lane = absorb(lane, seed.low, seed.high);
    }
    ByteView rest = bytes;
    for (; rest.size() >= stripe_bytes; rest = rest.subspan(stripe_bytes)) {
        absorb_stripe(lanes, rest.data());
    }
    if (!rest.empty()) {
        std::array<std::uint8_t, stripe_bytes> padded{};  // the length tells padding from zeros
        std::memcpy(padded.data(), rest.data(), rest.size());
        absorb_stripe(lanes, padded.data());
    }
    return finish(lanes, bytes.size());
}

}  // namespace p2p::core
