// Forms of the few largest values of each chunk of 4096 floats: topk(16), topk(64), topk(256), for
// differences to a reference (core/codec/form), since what is left out is only told later.
//
// After CHOCO with top-k (Koloskova et al. 2019) and SparseLoCo (2025: 64 of 4096 at 2 bits). Which
// values are kept, and their codes, is the kernel's (keep_topk); here they become bits. Places take
// a fixed length, as Elias (1974) and Fano (1971) write a rising sequence: the low bits of each as
// they are, the high ones as a bitmap with a one for each place, each after as many zeros as the
// high part has grown. That is 511 bits for 64 of 4096, where the choice alone is 471.3; a
// coder that adapts would come nearer, but its length would vary and so would the swap's.
//
//   a chunk:  scale 9 bits | codes 2 bits x keep | low bits x keep | bitmap | zeros to a whole byte
//   scale     0: nothing is kept, and all other bits are 0; else the top 9 bits of a float32 from
//             its sign's neighbour on, (code + topk_scale_base) << 21
//   code      bit 0: negative; bit 1: two scales instead of one
//   places    rising; where fewer than `keep` are kept, the last one again, with code 0
//
// The last chunk of n floats keeps ceil(keep * n / 4096).

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "core/base/check.hpp"
#include "core/codec/form.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t chunk_floats = topk_chunk_floats;

/// How a chunk's bits are divided.
struct Shape {
    std::size_t floats = 0;
    std::size_t keep = 0;
    std::size_t low_bits = 0;  ///< of a place
    std::size_t map_bits = 0;  ///< of the bitmap
    std::size_t codes_at = 0;  ///< bits from the chunk's start, as the next two
    std::size_t lows_at = 0;
    std::size_t map_at = 0;
    std::size_t bytes = 0;
};

/// @pre 0 < floats <= chunk_floats
constexpr Shape shape_of(std::size_t keep_of_whole, std::size_t floats) {
    Shape shape{.floats = floats};
    shape.keep = (keep_of_whole * floats + chunk_floats - 1) / chunk_floats;
    shape.low_bits = static_cast<std::size_t>(std::bit_width(floats / shape.keep)) - 1;
    shape.map_bits = shape.keep + ((floats - 1) >> shape.low_bits);
    shape.codes_at = topk_scale_bits;
    shape.lows_at = shape.codes_at + 2 * shape.keep;
    shape.map_at = shape.lows_at + shape.low_bits * shape.keep;
    shape.bytes = (shape.map_at + shape.map_bits + 7) / 8;
    return shape;
}

// floats / keep is below twice 2^low_bits, so the high part of a place is below twice `keep`, and
// one more where the division left a rest.
constexpr std::size_t map_bits_max = 4 * topk_kept_max;

constexpr std::size_t chunk_bytes_max = shape_of(topk_kept_max, chunk_floats).bytes;
static_assert(shape_of(64, chunk_floats).bytes == 81);  // 0.158 bits a parameter

/// The bits of one chunk as they came, with room for a whole word at any of them.
class ChunkBits {
  public:
    explicit ChunkBits(ByteView chunk) { std::memcpy(bytes_.data(), chunk.data(), chunk.size()); }

    [[nodiscard]] std::uint32_t at(std::size_t bit, std::size_t count) const {
        const std::uint64_t word = load_le<std::uint64_t>(bytes_.data() + bit / 8) >> (bit % 8);
        return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << count) - 1));
    }

    [[nodiscard]] bool is_zero_from(std::size_t bit, std::size_t bytes) const {
        if (bit % 8 != 0 && bytes_[bit / 8] >> (bit % 8) != 0) return false;
        const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>((bit + 7) / 8);
        return std::all_of(
            first, bytes_.begin() + static_cast<std::ptrdiff_t>(bytes), [](std::uint8_t byte) {
                return byte == 0;
            });
    }

  private:
    std::array<std::uint8_t, chunk_bytes_max + 8> bytes_{};
};

/// Bits one after the other, through a register: to read back what was just written would wait.
class BitWriter {
  public:
    /// @pre `value` has no more than `bits` bits, at most 32
    void put(std::uint32_t value, std::size_t bits) {
        pending_ |= std::uint64_t{value} << filled_;
        filled_ += bits;
        if (filled_ < 32) return;
        store_le(bytes_.data() + at_, static_cast<std::uint32_t>(pending_));
        at_ += 4;
        pending_ >>= 32U;
        filled_ -= 32;
    }

    /// What was put, filled with zeros to whole bytes. @pre they are `bytes`
    void finish(std::uint8_t* out, std::size_t bytes) {
        store_le(bytes_.data() + at_, pending_);
        std::memcpy(out, bytes_.data(), bytes);
    }

  private:
    std::array<std::uint8_t, chunk_bytes_max + 8> bytes_;  // only what was put is ever read
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t pending_ = 0;
};

/// @pre chunk.count > 0
void put_places(const TopkChunk& chunk, const Shape& shape, BitWriter& out) {
    const std::uint32_t low_mask = (1U << shape.low_bits) - 1;
    const std::size_t unused = shape.keep - chunk.count;
    const std::uint32_t last = chunk.places[chunk.count - 1];
    for (std::size_t i = 0; i < chunk.count; ++i)
        out.put(chunk.places[i] & low_mask, shape.low_bits);
    for (std::size_t i = 0; i < unused; ++i)
        out.put(last & low_mask, shape.low_bits);

    std::array<std::uint32_t, map_bits_max / 32> map{};
    const auto mark = [&](std::size_t bit) {
        map[bit / 32] |= 1U << (bit % 32);
    };
    for (std::size_t i = 0; i < chunk.count; ++i)
        mark((chunk.places[i] >> shape.low_bits) + i);
    for (std::size_t i = chunk.count; i < shape.keep; ++i)
        mark((last >> shape.low_bits) + i);
    for (std::size_t bit = 0; bit < shape.map_bits; bit += 32)
        out.put(map[bit / 32], std::min<std::size_t>(32, shape.map_bits - bit));
}

void pack(const TopkChunk& chunk, const Shape& shape, std::uint8_t* out) {
    if (chunk.count == 0) {
        std::fill_n(out, shape.bytes, std::uint8_t{0});
        return;
    }
    BitWriter bits;
    bits.put(chunk.scale, topk_scale_bits);
    for (std::size_t i = 0; i < chunk.count; ++i)
        bits.put(chunk.codes[i], 2);
    for (std::size_t i = chunk.count; i < shape.keep; ++i)
        bits.put(0, 2);
    put_places(chunk, shape, bits);
    bits.finish(out, shape.bytes);
}

/// The places and codes in their order; false where they are not as put_places() writes them.
class Places {
  public:
    Places(const ChunkBits& bits, const Shape& shape, TopkChunk& out)
        : bits_(bits),
          shape_(shape),
          out_(out) {}

    /// The next place's one is bit `one` of the bitmap. @pre fewer than `keep` came before
    void add(std::size_t one) {
        const std::uint32_t low =
            bits_.at(shape_.lows_at + shape_.low_bits * index_, shape_.low_bits);
        const auto high = static_cast<std::uint32_t>(one - index_);
        const std::uint32_t place = high << shape_.low_bits | low;
        const std::uint32_t code = bits_.at(shape_.codes_at + 2 * index_, 2);
        const bool rises = index_ == 0 || place > last_;
        const bool repeats = index_ > 0 && place == last_ && code == 0;
        is_sound_ &= place < shape_.floats && (rises ? count_ == index_ : repeats);
        out_.places[index_] = static_cast<std::uint16_t>(place);
        out_.codes[index_] = static_cast<std::uint8_t>(code);
        count_ += rises ? 1 : 0;
        last_ = place;
        ++index_;
    }

    [[nodiscard]] bool is_full() const { return index_ == shape_.keep; }

    [[nodiscard]] bool is_sound() const { return is_sound_; }

    [[nodiscard]] std::uint32_t count() const { return count_; }

  private:
    const ChunkBits& bits_;
    const Shape& shape_;
    TopkChunk& out_;
    std::size_t index_ = 0;
    std::uint32_t count_ = 0;  // that rose
    std::uint32_t last_ = 0;
    bool is_sound_ = true;
};

/// The bits as the kernel gave them; false where pack() never writes such.
bool unpack(ByteView payload, const Shape& shape, TopkChunk& chunk) {
    const ChunkBits bits(payload);
    chunk.count = 0;
    chunk.scale = bits.at(0, topk_scale_bits);
    if (chunk.scale == 0) return bits.is_zero_from(0, shape.bytes);
    if (!bits.is_zero_from(shape.map_at + shape.map_bits, shape.bytes)) return false;

    Places places(bits, shape, chunk);
    for (std::size_t at = 0; at < shape.map_bits; at += 32) {
        const std::size_t width = std::min<std::size_t>(32, shape.map_bits - at);
        for (std::uint32_t map = bits.at(shape.map_at + at, width); map != 0; map &= map - 1) {
            if (places.is_full()) return false;
            places.add(at + static_cast<std::size_t>(std::countr_zero(map)));
        }
    }
    chunk.count = places.count();
    return places.is_full() && places.is_sound();
}

float value_of(std::uint32_t scale, std::uint32_t code) {
    const auto size = std::bit_cast<float>((scale + topk_scale_base) << 21U);
    const float level = (code & 2U) != 0 ? 2 * size : size;
    return (code & 1U) != 0 ? -level : level;
}

template <std::size_t keep>
constexpr Shape whole = shape_of(keep, chunk_floats);

template <std::size_t keep>
Shape shape_at(std::size_t first, std::size_t floats) {
    const std::size_t left = floats - first;
    return left >= chunk_floats ? whole<keep> : shape_of(keep, left);
}

template <std::size_t keep>
std::size_t topk_bytes(std::size_t floats) {
    const std::size_t rest = floats % chunk_floats;
    return floats / chunk_floats * whole<keep>.bytes + (rest > 0 ? shape_of(keep, rest).bytes : 0);
}

template <std::size_t keep>
void encode_topk(
    const Kernels& kernels, FloatView slice, const SlicePlace& place, std::uint8_t* payload) {
    TopkChunk chunk;
    for (std::size_t at = 0; at < slice.size(); at += chunk_floats) {
        const Shape shape = shape_at<keep>(place.first + at, place.floats);
        kernels.keep_topk(slice.data() + at, shape.floats, shape.keep, chunk);
        pack(chunk, shape, payload + topk_bytes<keep>(place.first + at));
    }
}

template <std::size_t keep>
Status check_topk(ByteView payload, std::size_t floats) {
    TopkChunk chunk;
    for (std::size_t first = 0; first < floats; first += chunk_floats) {
        const Shape shape = shape_at<keep>(first, floats);
        if (unpack(payload.subspan(topk_bytes<keep>(first), shape.bytes), shape, chunk)) continue;
        return refused_encoding(
            ErrorCode::malformed,
            "chunk " + std::to_string(first / chunk_floats) + " has places that do not rise");
    }
    return {};
}

template <std::size_t keep>
void decode_topk(
    const Kernels& /*kernels*/,
    const std::uint8_t* payload,
    const SlicePlace& place,
    MutableFloatView slice) {
    TopkChunk chunk;
    std::fill(slice.begin(), slice.end(), 0.0F);
    for (std::size_t at = 0; at < slice.size(); at += chunk_floats) {
        const Shape shape = shape_at<keep>(place.first + at, place.floats);
        const ByteView bytes(payload + topk_bytes<keep>(place.first + at), shape.bytes);
        P2P_CHECK(unpack(bytes, shape, chunk));
        for (std::size_t i = 0; i < chunk.count; ++i)
            slice[at + chunk.places[i]] = value_of(chunk.scale, chunk.codes[i]);
    }
}

template <std::size_t keep>
constexpr Form form_of_topk{
    .slice_unit = chunk_floats,
    .payload_bytes = topk_bytes<keep>,
    .encode = encode_topk<keep>,
    .check = check_topk<keep>,
    .decode = decode_topk<keep>};

}  // namespace

const Form topk16_form = form_of_topk<16>;
const Form topk64_form = form_of_topk<64>;
const Form topk256_form = form_of_topk<256>;

}  // namespace p2p::core
