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

    cut({0, expected}, shard_floats_max == 0 ? limits::shard_floats_max : shard_floats_max);
}

void Layout::cut(ShardRange range, std::uint64_t floats_max) {
    const std::uint64_t count = (range.floats + floats_max - 1) / floats_max;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t begin = range.floats / count * i + std::min(i, range.floats % count);
        const std::uint64_t size = range.floats / count + (i < range.floats % count ? 1 : 0);
        shards_.push_back({.offset = range.offset + begin, .floats = size});
    }
}

/// Parts of neighbours that belong together, the last one first, each cut by itself.
void Layout::cut_where(const SameKind& is_one_part, std::uint64_t floats_max) {
    shards_.clear();
    auto end = tensors_.rbegin();
    while (end != tensors_.rend()) {
        auto begin = end;
        std::uint64_t floats = 0;
        for (; begin != tensors_.rend() && is_one_part(*begin, *end); ++begin)
            floats += begin->size();
        cut({std::prev(begin)->offset, floats}, floats_max);
        end = begin;
    }
}

Layout Layout::by_layer(std::vector<TensorInfo> tensors, const SameKind& is_one_kind) {
    Layout layout(std::move(tensors));
    const auto layer_of = [](const TensorInfo& tensor) {
        return tensor.name.substr(0, tensor.name.rfind('.'));
    };
    layout.cut_where(
        [&](const TensorInfo& a, const TensorInfo& b) {
            return layer_of(a) == layer_of(b) && (!is_one_kind || is_one_kind(a, b));
        },
        limits::shard_floats_max);
    return layout;
}

Layout Layout::by_kind(
    std::vector<TensorInfo> tensors, const SameKind& is_one_kind, std::uint64_t floats_max) {
    Layout layout(std::move(tensors));
    layout.cut_where(is_one_kind, floats_max);
    return layout;
}

}  // namespace p2p::core
