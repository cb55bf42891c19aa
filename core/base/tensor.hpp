#pragma once

// A named, shaped piece of the flat parameter vector.
// Only names and places; the floats lie with whoever owns the vector.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace p2p::core {

struct TensorInfo {
    std::string name;                  ///< as PyTorch's state_dict names it ("layers.0.weight")
    std::vector<std::uint64_t> shape;  ///< row-major; a dense layer's weight is [out, in]
    std::uint64_t offset = 0;          ///< first float in the flat vector

    [[nodiscard]] std::uint64_t size() const {
        std::uint64_t count = 1;
        for (const std::uint64_t extent : shape)
            count *= extent;
        return count;
    }

    bool operator==(const TensorInfo&) const = default;
};

/// Floats in the flat vector that `tensors` make up; they lie in order, without gaps.
[[nodiscard]] inline std::uint64_t parameter_count(const std::vector<TensorInfo>& tensors) {
    return tensors.empty() ? 0 : tensors.back().offset + tensors.back().size();
}

}  // namespace p2p::core
