#include "core/mixing/layout.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"

namespace p2p::core {

Layout::Layout(std::vector<TensorInfo> tensors, std::uint64_t shard_floats_max)
    : tensors_(std::move(tensors)) {
    std::uint64_t expected = 0;
    for (const TensorInfo& tensor : tensors_) {
        P2P_CHECK(tensor.offset == expected);
        expected += tensor.size();
    }
    P2P_CHECK(expected > 0);

    const std::uint64_t most = shard_floats_max == 0 ? limits::shard_floats_max : shard_floats_max;
    const std::uint64_t count = (expected + most - 1) / most;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t begin = expected / count * i + std::min(i, expected % count);
        const std::uint64_t size = expected / count + (i < expected % count ? 1 : 0);
        shards_.push_back({.offset = begin, .floats = size});
    }
}

}  // namespace p2p::core
