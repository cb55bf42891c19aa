#include "daemon/tensor_line.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "core/base/limits.hpp"
#include "proto/json.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::TensorInfo;
using proto::Json;
using proto::json_as;
using proto::json_member;

namespace {

constexpr std::uint64_t samples_a_step_max = std::uint64_t{1} << 32U;

Error malformed(const std::string& why) {
    return {ErrorCode::malformed, "a line on tensor.sock was not understood", why, ""};
}

Result<TensorInfo> read_tensor(const Json& value, std::uint64_t offset) {
    const auto name = json_member<std::string>(value, "name");
    if (!name || name->empty() || name->size() > core::limits::tensor_name_bytes_max) {
        return malformed("a tensor needs a name of at most 256 bytes");
    }
    const auto shape = value.find("shape");
    if (shape == value.end() || !shape->is_array()
        || shape->size() > core::limits::tensor_dimensions_max) {
        return malformed("tensor " + *name + " needs a shape of at most 8 dimensions");
    }
    TensorInfo info{*name, {}, offset};
    std::uint64_t floats = 1;
    for (const auto& item : *shape) {
        const auto extent = json_as<std::uint64_t>(item);
        if (!extent || *extent == 0 || *extent > core::limits::parameters_max / floats) {
            return malformed("tensor " + *name + " has a bad extent");
        }
        floats *= *extent;
        info.shape.push_back(*extent);
    }
    return info;
}

Result<std::vector<TensorInfo>> read_tensors(const Json& root) {
    const auto list = root.find("tensors");
    if (list == root.end() || !list->is_array() || list->empty()
        || list->size() > core::limits::tensors_max) {
        return malformed("attach needs tensors");
    }
    std::vector<TensorInfo> tensors;
    std::set<std::string> names;
    std::uint64_t offset = 0;
    for (const auto& item : *list) {
        auto info = read_tensor(item, offset);
        if (!info) return info.error();
        if (!names.insert(info->name).second) return malformed("two tensors are " + info->name);
        offset += info->size();
        if (offset > core::limits::parameters_max) return malformed("too many parameters");
        tensors.push_back(*std::move(info));
    }
    return tensors;
}

Result<TensorLine> read_attach(const Json& root) {
    AttachLine line;
    const auto job = json_member<std::string>(root, "job");
    if (!job || job->empty() || job->size() > core::limits::name_bytes_max) {
        return malformed("attach needs the name of a job");
    }
    line.job = *job;
    auto tensors = read_tensors(root);
    if (!tensors) return tensors.error();
    line.tensors = *std::move(tensors);
    line.set_samples = json_member<std::uint64_t>(root, "set_samples").value_or(0);
    line.keep = json_member<bool>(root, "keep").value_or(false);
    line.spec = json_member<std::string>(root, "spec");
    return TensorLine(std::move(line));
}

Result<TensorLine> read_step(const Json& root) {
    StepLine line;
    const auto samples = json_member<std::uint64_t>(root, "samples");
    if (!samples || *samples == 0 || *samples > samples_a_step_max) {
        return malformed("step needs samples, a positive number");
    }
    line.samples = *samples;
    const double loss = json_member<double>(root, "loss").value_or(0);
    line.loss = std::isfinite(loss) ? loss : 0;
    line.batch_hash = json_member<std::uint64_t>(root, "batch_hash").value_or(0);
    return TensorLine(line);
}

const char* state_name(ClientState state) {
    switch (state) {
        case ClientState::running: return "running";
        case ClientState::held: return "held";
        case ClientState::finishing: return "finishing";
        case ClientState::done: return "done";
        case ClientState::gone: return "gone";
    }
    return "gone";
}

Json ranges_json(const std::vector<core::ShardRange>& ranges) {
    Json list = Json::array();
    for (const auto& range : ranges)
        list.push_back(Json::array({range.offset, range.floats}));
    return list;
}

Json offer_json(const Offer& offer) {
    Json root;
    root["ok"] = true;
    root["state"] = state_name(offer.state);
    root["add"] = ranges_json(offer.add);
    root["take"] = ranges_json(offer.take);
    root["replace"] = offer.replace;
    root["lr_scale"] = offer.lr_scale;
    root["learning_rate"] = offer.learning_rate;
    root["progress"] = offer.progress_ratio;
    root["reason"] = offer.reason;
    return root;
}

}  // namespace

Result<TensorLine> read_tensor_line(std::string_view text) {
    const auto root = proto::parse_json(text, core::limits::tensor_line_bytes_max);
    if (!root) return root.error();
    const auto op = json_member<std::string>(*root, "op");
    if (!op) return malformed("it names no op");
    if (*op == "attach") return read_attach(*root);
    if (*op == "step") return read_step(*root);
    if (*op == "wait") return TensorLine(WaitLine{});
    if (*op == "took") return TensorLine(TookLine{});
    if (*op == "detach") return TensorLine(DetachLine{});
    return Error{
        ErrorCode::unsupported,
        "a line on tensor.sock was not understood",
        "no such op",
        "attach, step, wait, took, detach"};
}

std::string offer_line(const Offer& offer) {
    return proto::json_text(offer_json(offer)) + "\n";
}

std::string attached_line(const AttachAnswer& answer, const Offer& offer) {
    Json root = offer_json(offer);
    root["seed"] = answer.seed;
    root["peer"] = answer.peer.text();
    root["batch_size"] = answer.batch_size;
    root["steps"] = answer.steps;
    root["samples"] = answer.samples;
    return proto::json_text(root) + "\n";
}

std::string ok_line() {
    return "{\"ok\":true}\n";
}

std::string error_line(const Error& error) {
    Json root;
    root["ok"] = false;
    root["error"] = {
        {"code", core::error_name(error.code)},
        {"text", error.what},
        {"why", error.why},
        {"next", error.next}};
    return proto::json_text(root) + "\n";
}

}  // namespace p2p::daemon
