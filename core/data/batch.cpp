#include "core/data/batch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

/// The pixels of one sample. @pre index < samples.count()
ByteView image_of(const Samples& samples, std::uint32_t index) {
    P2P_CHECK(index < samples.count());
    const std::size_t features = samples.images.size() / samples.count();
    return ByteView(samples.images).subspan(index * features, features);
}

void convert(
    const std::uint8_t* __restrict pixels,
    std::size_t count,
    float scale,
    float shift,
    float* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(pixels[i]) * scale + shift;
    }
}

/// Four independent lanes of multiply and rotate, eight bytes at a time each.
class BatchHash {
  public:
    void add(ByteView bytes) {
        static_assert(std::endian::native == std::endian::little);
        std::size_t at = 0;
        for (; at + 32 <= bytes.size(); at += 32) {
            for (std::size_t lane = 0; lane < 4; ++lane)
                mix(lane, word(bytes.data() + at + 8 * lane, 8));
        }
        for (std::size_t lane = 0; at < bytes.size(); at += 8, ++lane) {
            mix(lane, word(bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at)));
        }
        mix(0, bytes.size());
    }

    [[nodiscard]] std::uint64_t value() const {
        std::uint64_t sum = 0;
        for (std::uint64_t lane : lanes_) {
            lane = (lane ^ (lane >> 32U)) * multiplier;
            sum = std::rotl(sum, 17) * multiplier + (lane ^ (lane >> 29U));
        }
        return sum ^ (sum >> 32U);
    }

  private:
    static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

    static std::uint64_t word(const std::uint8_t* at, std::size_t count) {
        std::uint64_t value = 0;
        std::memcpy(&value, at, count);
        return value;
    }

    void mix(std::size_t lane, std::uint64_t value) {
        lanes_[lane] = std::rotl(lanes_[lane] ^ value, 29) * multiplier;
    }

    std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

}  // namespace

void fill_inputs(
    const Samples& samples,
    const Standardization& standardization,
    std::span<const std::uint32_t> indices,
    MutableFloatView inputs) {
    const auto scale = static_cast<float>(1 / (255 * standardization.deviation));
    const auto shift = static_cast<float>(-standardization.mean / standardization.deviation);
    std::size_t at = 0;
    for (const std::uint32_t index : indices) {
        const ByteView image = image_of(samples, index);
        P2P_CHECK(image.size() <= inputs.size() - at);
        convert(image.data(), image.size(), scale, shift, inputs.data() + at);
        at += image.size();
    }
    P2P_CHECK(at == inputs.size());
}

void fill_labels(
    const Samples& samples, std::span<const std::uint32_t> indices, MutableByteView labels) {
    P2P_CHECK(labels.size() == indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        P2P_CHECK(indices[i] < samples.count());
        labels[i] = samples.labels[indices[i]];
    }
}

std::uint64_t batch_hash(const Samples& samples, std::span<const std::uint32_t> indices) {
    BatchHash hash;
    for (const std::uint32_t index : indices) {
        hash.add(image_of(samples, index));
        hash.add({&samples.labels[index], 1});
    }
    return hash.value();
}

}  // namespace p2p::core
