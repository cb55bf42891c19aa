#include "daemon/replica_blob.hpp"

#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/safetensors.hpp"
#include "proto/sodium.hpp"

namespace p2p::daemon {

using core::Bytes;
using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::TensorInfo;

namespace {

constexpr const char* optimizer_prefix = "optimizer.";
constexpr const char* optimizer_steps_key = "optimizer_steps";
constexpr std::size_t optimizer_vectors_max = 2;  // of any optimizer that this program has

/// Names of the optimizer's vectors, from tensors called optimizer.NAME.TENSOR.
Result<std::set<std::string>> optimizer_names(
    const SafetensorsHeader& header, const std::vector<TensorInfo>& layout) {
    std::set<std::string> names;
    const std::string prefix = optimizer_prefix;
    for (const auto& tensor : header.tensors) {
        if (tensor.name.rfind(prefix, 0) != 0) continue;
        const std::size_t end = tensor.name.find('.', prefix.size());
        if (end == std::string::npos) continue;
        names.insert(tensor.name.substr(prefix.size(), end - prefix.size()));
    }
    // Every tensor must be one that is asked for: nothing rides along.
    const bool is_exact = names.size() <= optimizer_vectors_max
                          && header.tensors.size() == layout.size() * (1 + names.size());
    if (is_exact) return names;
    return Error{ErrorCode::malformed, "a frozen state with tensors of no use here", "", ""};
}

}  // namespace

core::BlobHash hash_blob(ByteView bytes) {
    return core::BlobHash{proto::blake2b_256(bytes)};
}

Bytes freeze_replica(const std::vector<TensorInfo>& layout, const ReplicaState& state) {
    if (state.optimizer.empty()) return model_bytes(layout, state.parameters);
    auto tensors = cut_tensors(layout, state.parameters, "");
    for (const auto& part : state.optimizer) {
        for (auto& tensor : cut_tensors(layout, part.values, optimizer_prefix + part.name + ".")) {
            tensors.push_back(std::move(tensor));
        }
    }
    return write_safetensors(
        tensors, {{"format", "pt"}, {optimizer_steps_key, std::to_string(state.optimizer_steps)}});
}

Result<ReplicaState> thaw_replica(const std::vector<TensorInfo>& layout, ByteView bytes) {
    const auto header = read_safetensors_header(bytes);
    if (!header) return header.error();
    const auto names = optimizer_names(*header, layout);
    if (!names) return names.error();

    ReplicaState state;
    state.parameters.resize(core::parameter_count(layout));
    auto status = gather_tensors(bytes, *header, layout, "", state.parameters);
    if (!status) return status.error();
    for (const auto& name : *names) {
        OptimizerVector part{name, std::vector<float>(core::parameter_count(layout))};
        status = gather_tensors(bytes, *header, layout, optimizer_prefix + name + ".", part.values);
        if (!status) return status.error();
        state.optimizer.push_back(std::move(part));
    }
    const auto steps = header->metadata.find(optimizer_steps_key);
    if (steps != header->metadata.end()) {
        const std::string& text = steps->second;
        std::from_chars(text.data(), text.data() + text.size(), state.optimizer_steps);
    }
    return state;
}

std::uint64_t frozen_bytes_max(const std::vector<TensorInfo>& layout) {
    return (1 + optimizer_vectors_max) * core::parameter_count(layout) * sizeof(float)
           + core::limits::safetensors_header_bytes_max + 8;
}

double distance_ratio(core::FloatView own, core::FloatView theirs) {
    P2P_CHECK(own.size() == theirs.size());
    double moved = 0;
    double norm = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const double difference = double{theirs[i]} - double{own[i]};
        moved += difference * difference;
        norm += double{own[i]} * double{own[i]};
    }
    if (moved == 0) return 0;
    return std::sqrt(moved) / std::sqrt(norm);
}

}  // namespace p2p::daemon
