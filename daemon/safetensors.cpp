#include "daemon/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "proto/json.hpp"

namespace p2p::daemon {

using core::Bytes;
using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t alignment = 8;

Error fault(ErrorCode code, const std::string& why) {
    return {code, "not a safetensors file that can be used", why, ""};
}

Error fault_of(ErrorCode code, const std::string& name, const std::string& why) {
    return fault(code, "tensor \"" + name.substr(0, 80) + "\": " + why);
}

struct DtypeName {
    Dtype dtype;
    const char* name;
    std::uint64_t bytes;
};

constexpr DtypeName dtype_names[] = {
    {Dtype::f32, "F32", 4}, {Dtype::i64, "I64", 8}, {Dtype::u8, "U8", 1}};

std::uint64_t dtype_bytes(Dtype dtype) {
    for (const auto& entry : dtype_names) {
        if (entry.dtype == dtype) return entry.bytes;
    }
    return 0;
}

std::optional<Dtype> dtype_from_json(const json& value) {
    if (!value.is_string()) return std::nullopt;
    for (const auto& entry : dtype_names) {
        if (value.get_ref<const std::string&>() == entry.name) return entry.dtype;
    }
    return std::nullopt;
}

/// An array of at most `count_max` unsigned integers.
std::optional<std::vector<std::uint64_t>> read_integers(const json& value, std::size_t count_max) {
    if (!value.is_array() || value.size() > count_max) return std::nullopt;
    std::vector<std::uint64_t> numbers;
    for (const auto& item : value) {
        if (!item.is_number_unsigned()) return std::nullopt;
        numbers.push_back(item.get<std::uint64_t>());
    }
    return numbers;
}

/// Bytes that `shape` takes; nothing beyond `bytes_max`, so that it cannot overflow.
std::optional<std::uint64_t> bytes_of(
    const std::vector<std::uint64_t>& shape, std::uint64_t element_bytes, std::uint64_t bytes_max) {
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
    std::uint64_t bytes = element_bytes;
    for (const std::uint64_t extent : shape) {
        if (extent > bytes_max / bytes) return std::nullopt;
        bytes *= extent;
    }
    return bytes;
}

Result<StoredTensor> read_tensor(
    const std::string& name, const json& value, std::uint64_t data_bytes) {
    if (name.size() > core::limits::tensor_name_bytes_max) {
        return fault_of(ErrorCode::too_large, name, "its name is too long");
    }
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype")
        || !value.contains("shape") || !value.contains("data_offsets")) {
        return fault_of(ErrorCode::malformed, name, "needs dtype, shape and data_offsets");
    }
    const auto dtype = dtype_from_json(value["dtype"]);
    if (!dtype) return fault_of(ErrorCode::unsupported, name, "dtype is none of F32, I64, U8");
    auto shape = read_integers(value["shape"], core::limits::tensor_dimensions_max);
    if (!shape) return fault_of(ErrorCode::malformed, name, "bad shape");
    const auto offsets = read_integers(value["data_offsets"], 2);
    if (!offsets || offsets->size() != 2) {
        return fault_of(ErrorCode::malformed, name, "bad data_offsets");
    }

    const std::uint64_t begin = offsets->front();
    const std::uint64_t end = offsets->back();
    if (begin > end || end > data_bytes) {
        return fault_of(ErrorCode::wrong_size, name, "its data lies outside of the file");
    }
    const auto bytes = bytes_of(*shape, dtype_bytes(*dtype), data_bytes);
    if (!bytes || *bytes != end - begin) {
        return fault_of(ErrorCode::wrong_size, name, "its shape does not fit its data");
    }
    return StoredTensor{name, *dtype, std::move(*shape), begin, end};
}

Result<Metadata> read_metadata(const json& value) {
    Metadata metadata;
    if (!value.is_object()) return fault(ErrorCode::malformed, "__metadata__ is no object");
    for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) return fault(ErrorCode::malformed, "__metadata__ holds no text");
        metadata[key] = text.get<std::string>();
    }
    return metadata;
}

/// No gap, no overlap, and the end is the file's.
Status check_cover(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes) {
    std::uint64_t at = 0;
    for (const auto& tensor : tensors) {
        if (tensor.begin != at) {
            return fault_of(ErrorCode::malformed, tensor.name, "gap or overlap before its data");
        }
        at = tensor.end;
    }
    if (at != data_bytes) return fault(ErrorCode::wrong_size, "bytes after the last tensor");
    return {};
}

Result<SafetensorsHeader> read_entries(const json& root, std::uint64_t data_bytes) {
    if (!root.is_object()) return fault(ErrorCode::malformed, "the header is no JSON object");
    if (root.size() > core::limits::tensors_max + 1) {
        return fault(ErrorCode::too_large, "too many tensors");
    }
    SafetensorsHeader header;
    for (const auto& [name, value] : root.items()) {
        if (name == "__metadata__") {
            auto metadata = read_metadata(value);
            if (!metadata) return metadata.error();
            header.metadata = *std::move(metadata);
            continue;
        }
        auto tensor = read_tensor(name, value, data_bytes);
        if (!tensor) return tensor.error();
        header.tensors.push_back(*std::move(tensor));
    }
    std::stable_sort(
        header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
    if (auto status = check_cover(header.tensors, data_bytes); !status) return status.error();
    return header;
}

}  // namespace

Bytes write_safetensors(const std::vector<TensorView>& tensors, const Metadata& metadata) {
    json root = json::object();
    if (!metadata.empty()) root["__metadata__"] = metadata;
    std::uint64_t at = 0;
    for (const auto& tensor : tensors) {
        P2P_CHECK(!root.contains(tensor.name));
        const std::uint64_t end = at + tensor.values.size_bytes();
        P2P_CHECK(bytes_of(tensor.shape, sizeof(float), end) == tensor.values.size_bytes());
        root[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
        at = end;
    }

    std::string header = root.dump(-1, ' ', false, json::error_handler_t::replace);
    header.append((alignment - (length_bytes + header.size()) % alignment) % alignment, ' ');

    Bytes file(length_bytes + header.size() + static_cast<std::size_t>(at));
    core::store_le<std::uint64_t>(file.data(), header.size());
    std::uint8_t* out = std::copy(header.begin(), header.end(), file.data() + length_bytes);
    for (const auto& tensor : tensors) {
        if (tensor.values.empty()) continue;
        std::memcpy(out, tensor.values.data(), tensor.values.size_bytes());
        out += tensor.values.size_bytes();
    }
    return file;
}

Result<SafetensorsHeader> read_safetensors_header(ByteView file) {
    if (file.size() < length_bytes) return fault(ErrorCode::malformed, "shorter than 8 bytes");
    const auto length = core::load_le<std::uint64_t>(file.data());
    if (length > core::limits::safetensors_header_bytes_max) {
        return fault(ErrorCode::too_large, "the header is longer than 8 MiB");
    }
    if (length > file.size() - length_bytes) {
        return fault(ErrorCode::malformed, "the file ends within the header");
    }

    const auto text = core::as_text(file.subspan(length_bytes, static_cast<std::size_t>(length)));
    const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
    const std::uint64_t data_offset = length_bytes + length;
    auto header = read_entries(root, file.size() - data_offset);
    if (header) header->data_offset = data_offset;
    return header;
}

void copy_values(
    ByteView file,
    const SafetensorsHeader& header,
    const StoredTensor& tensor,
    core::MutableFloatView out) {
    P2P_CHECK(tensor.dtype == Dtype::f32 && out.size_bytes() == tensor.end - tensor.begin);
    P2P_CHECK(header.data_offset + tensor.end <= file.size());
    if (out.empty()) return;
    std::memcpy(out.data(), file.data() + header.data_offset + tensor.begin, out.size_bytes());
}

std::vector<TensorView> cut_tensors(
    const std::vector<core::TensorInfo>& layout, core::FloatView flat, const std::string& prefix) {
    P2P_CHECK(flat.size() == core::parameter_count(layout));
    std::vector<TensorView> tensors;
    for (const auto& info : layout) {
        const auto size = static_cast<std::size_t>(info.size());
        tensors.push_back(
            {prefix + info.name,
             info.shape,
             flat.subspan(static_cast<std::size_t>(info.offset), size)});
    }
    return tensors;
}

Status gather_tensors(
    ByteView file,
    const SafetensorsHeader& header,
    const std::vector<core::TensorInfo>& layout,
    const std::string& prefix,
    core::MutableFloatView flat) {
    P2P_CHECK(flat.size() == core::parameter_count(layout));
    std::map<std::string, const StoredTensor*> by_name;
    for (const auto& tensor : header.tensors)
        by_name[tensor.name] = &tensor;

    for (const auto& info : layout) {
        const auto found = by_name.find(prefix + info.name);
        if (found == by_name.end()) {
            return fault_of(ErrorCode::not_found, prefix + info.name, "is missing");
        }
        const StoredTensor& tensor = *found->second;
        if (tensor.dtype != Dtype::f32) {
            return fault_of(ErrorCode::unsupported, tensor.name, "is not float32");
        }
        if (tensor.shape != info.shape) {
            return fault_of(ErrorCode::wrong_size, tensor.name, "has another shape");
        }
        const auto out = flat.subspan(
            static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size()));
        copy_values(file, header, tensor, out);
        if (!std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); })) {
            return fault_of(ErrorCode::not_finite, tensor.name, "holds NaN or infinity");
        }
    }
    return {};
}

}  // namespace p2p::daemon
