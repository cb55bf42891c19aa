#pragma once

// A frozen replica as bytes that peers fetch by their hash, and back.
//
// Without the optimizer these are the bytes of a final model: a function of the parameters alone,
// so every node that adopted the same model writes the same file. What a peer sent is checked
// here before any of it is used: hash, then shape, then values.

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/tensor.hpp"
#include "core/base/types.hpp"
#include "daemon/trainer.hpp"

namespace p2p::daemon {

[[nodiscard]] core::BlobHash hash_blob(core::ByteView bytes);

/// The optimizer's part is there where `state` has one.
[[nodiscard]] core::Bytes freeze_replica(
    const std::vector<core::TensorInfo>& layout, const ReplicaState& state);

/// Parameters, optimizer and its count of steps; other counts stay 0. Errors: malformed,
/// not_found or wrong_size (a tensor of `layout` that is missing or other), not_finite.
[[nodiscard]] core::Result<ReplicaState> thaw_replica(
    const std::vector<core::TensorInfo>& layout, core::ByteView bytes);

/// More bytes than that no frozen replica of `layout` has.
[[nodiscard]] std::uint64_t frozen_bytes_max(const std::vector<core::TensorInfo>& layout);

/// |theirs - own| / |own|, in L2. @pre sizes are equal
[[nodiscard]] double distance_ratio(core::FloatView own, core::FloatView theirs);

}  // namespace p2p::daemon
