#pragma once

// What the flat parameter vector is made of, and how it is cut into shards.
//
// The cut is the job's, the same on every node: consecutive ranges of at most
// limits::shard_floats_max, nearly equal in size, without regard to tensors; or layer by layer.

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/tensor.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

/// Whether two neighbouring tensors may lie in one shard.
using SameKind = std::function<bool(const TensorInfo&, const TensorInfo&)>;

class Layout {
  public:
    Layout() = default;

    /// One shard a layer (tensors whose names agree up to the last dot), large ones cut as above;
    /// the last layer first, since a step has its gradient first; and no shard of tensors that are
    /// not of one kind. @pre as of Layout()
    [[nodiscard]] static Layout by_layer(
        std::vector<TensorInfo> tensors, const SameKind& is_one_kind = {});

    /// As Layout(), but no shard holds tensors that are not of one kind.
    [[nodiscard]] static Layout by_kind(
        std::vector<TensorInfo> tensors, const SameKind& is_one_kind, std::uint64_t floats_max);

    /// @pre the tensors lie in order and without gaps; at least one float in all
    explicit Layout(std::vector<TensorInfo> tensors, std::uint64_t shard_floats_max = 0);

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return tensors_; }

    [[nodiscard]] std::uint64_t floats() const { return parameter_count(tensors_); }

    [[nodiscard]] std::uint32_t shard_count() const {
        return static_cast<std::uint32_t>(shards_.size());
    }

    [[nodiscard]] bool has_shard(ShardIndex shard) const { return shard.value < shards_.size(); }

    /// @pre has_shard(shard)
    [[nodiscard]] ShardRange shard(ShardIndex shard) const { return shards_.at(shard.value); }

  private:
    void cut(ShardRange range, std::uint64_t floats_max);
    void cut_where(const SameKind& is_one_part, std::uint64_t floats_max);

    std::vector<TensorInfo> tensors_;
    std::vector<ShardRange> shards_;
};

}  // namespace p2p::core
