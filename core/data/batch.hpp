#pragma once

// Batches out of a set: the chosen samples as standardized floats, their labels, their hash.
//
// What the trainer calls each step, so it writes into buffers that the caller keeps.

#include <cstdint>
#include <span>

#include "core/base/bytes.hpp"
#include "core/data/dataset.hpp"

namespace p2p::core {

/// The inputs of the chosen samples, [indices.size(), features], into the caller's `inputs`.
/// @pre each index < samples.count(); inputs has exactly that size
void fill_inputs(
    const Samples& samples,
    const Standardization& standardization,
    std::span<const std::uint32_t> indices,
    MutableFloatView inputs);

/// Their labels. @pre as above; labels.size() == indices.size()
void fill_labels(
    const Samples& samples, std::span<const std::uint32_t> indices, MutableByteView labels);

/// A hash of the contents of a batch, in order: two nodes with equal hashes train on the same.
///
/// Contents and not indices, so it also finds two nodes with the same "own" data. It guards
/// against mistakes, not against anybody: 64 bits, not cryptographic.
/// @pre each index < samples.count()
[[nodiscard]] std::uint64_t batch_hash(
    const Samples& samples, std::span<const std::uint32_t> indices);

}  // namespace p2p::core
