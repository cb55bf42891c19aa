#pragma once

// The safetensors format: named float32 tensors that PyTorch and others load as they are.
//
// Checkpoints, frozen states and final models are these bytes. What comes from a peer or a disk is
// bounded before it is believed: header length, then JSON, then shapes, then offsets, which must
// cover the data without gap or overlap (WIRE.md, Limits). The format: 8 bytes length of the
// header (little-endian), the header in JSON, the data.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/tensor.hpp"

namespace p2p::daemon {

enum class Dtype : std::uint8_t { f32, i64, u8 };

struct StoredTensor {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0;  ///< first byte, from the start of the data
    std::uint64_t end = 0;    ///< one past the last
};

struct SafetensorsHeader {
    std::map<std::string, std::string> metadata;
    std::vector<StoredTensor> tensors;  ///< in the order of their data
    std::uint64_t data_offset = 0;      ///< of the data, from the start of the file
};

/// What is to be written; `values` must live until it is.
struct TensorView {
    std::string name;
    std::vector<std::uint64_t> shape;
    core::FloatView values;
};

using Metadata = std::map<std::string, std::string>;

/// The same tensors and metadata always give the same bytes; data in the order of `tensors`.
/// @pre names differ, shapes fit their values
[[nodiscard]] core::Bytes write_safetensors(
    const std::vector<TensorView>& tensors, const Metadata& metadata);

/// Everything about the tensors of a whole file but their values. Errors: malformed, too_large,
/// wrong_size, unsupported (another dtype); they name the tensor.
[[nodiscard]] core::Result<SafetensorsHeader> read_safetensors_header(core::ByteView file);

/// The float32 values of `tensor`, copied. @pre `header` was read from `file`, dtype f32,
/// `out` has the tensor's number of values
void copy_values(
    core::ByteView file,
    const SafetensorsHeader& header,
    const StoredTensor& tensor,
    core::MutableFloatView out);

/// `flat`, cut into the tensors that `layout` names; `prefix` goes before each name.
/// @pre flat has parameter_count(layout) floats
[[nodiscard]] std::vector<TensorView> cut_tensors(
    const std::vector<core::TensorInfo>& layout, core::FloatView flat, const std::string& prefix);

/// Puts all tensors named `prefix` + name of `layout` into `flat`. Errors: not_found (a tensor is
/// missing), wrong_size (shape), unsupported (dtype), not_finite. `flat` is then undefined.
core::Status gather_tensors(
    core::ByteView file,
    const SafetensorsHeader& header,
    const std::vector<core::TensorInfo>& layout,
    const std::string& prefix,
    core::MutableFloatView flat);

}  // namespace p2p::daemon
