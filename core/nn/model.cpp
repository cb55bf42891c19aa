#include "core/nn/model.hpp"

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "core/base/rng.hpp"

namespace p2p::core {

namespace {

constexpr std::uint64_t init_stream = 0x696e6974;  // "init"

Error invalid(std::string why, std::string next) {
    return {ErrorCode::invalid, "the model cannot be built", std::move(why), std::move(next)};
}

Error too_large(std::string why) {
    return {
        ErrorCode::too_large,
        "the model cannot be built",
        std::move(why),
        "make the model smaller"};
}

std::string parameters_max_text() {
    return "it has more than " + std::to_string(limits::parameters_max) + " parameters";
}

Status validate_mlp(const std::vector<std::uint32_t>& layers) {
    if (layers.size() < 2) {
        return invalid(
            "model.layers has " + std::to_string(layers.size()) + " widths",
            "name at least the inputs and the outputs, e.g. layers = [784, 256, 10]");
    }
    if (2 * (layers.size() - 1) > limits::tensors_max) return too_large("it has too many layers");

    std::uint64_t total = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i] == 0) {
            return invalid(
                "model.layers[" + std::to_string(i) + "] is 0", "give each layer a width above 0");
        }
        if (i == 0) continue;
        const std::uint64_t weights = std::uint64_t{layers[i - 1]} * layers[i];
        if (weights > limits::parameters_max) return too_large(parameters_max_text());
        total += weights + layers[i];
        if (total > limits::parameters_max) return too_large(parameters_max_text());
    }
    return {};
}

/// The number of floats of `shape`, or why it is no shape.
Result<std::uint64_t> shape_size(const TensorInfo& tensor) {
    if (tensor.shape.size() > limits::tensor_dimensions_max) {
        return too_large("tensor '" + tensor.name + "' has too many dimensions");
    }
    std::uint64_t size = 1;
    for (const std::uint64_t extent : tensor.shape) {
        if (extent == 0) {
            return invalid(
                "tensor '" + tensor.name + "' has an extent of 0", "leave empty tensors out");
        }
        if (extent > limits::parameters_max / size) return too_large(parameters_max_text());
        size *= extent;
    }
    return size;
}

Status validate_external(const std::vector<TensorInfo>& tensors) {
    if (tensors.empty()) return invalid("it has no tensors", "hand over at least one tensor");
    if (tensors.size() > limits::tensors_max) return too_large("it has too many tensors");

    std::set<std::string_view> names;
    std::uint64_t end = 0;
    for (const TensorInfo& tensor : tensors) {
        if (tensor.name.empty() || tensor.name.size() > limits::tensor_name_bytes_max) {
            return invalid(
                "a tensor's name is empty or longer than "
                    + std::to_string(limits::tensor_name_bytes_max) + " bytes",
                "rename the tensor");
        }
        if (!names.insert(tensor.name).second) {
            return invalid("two tensors are called '" + tensor.name + "'", "rename one of them");
        }
        const auto size = shape_size(tensor);
        if (!size) return size.error();
        if (tensor.offset != end) {
            return invalid(
                "tensor '" + tensor.name + "' does not begin where the one before it ends",
                "lay the tensors out in order, without gaps");
        }
        if (*size > limits::parameters_max - end) return too_large(parameters_max_text());
        end += *size;
    }
    return {};
}

}  // namespace

std::vector<TensorInfo> model_tensors(const ModelSpec& spec) {
    if (spec.kind == ModelKind::external) return spec.tensors;

    std::vector<TensorInfo> tensors;
    std::uint64_t offset = 0;
    for (std::size_t layer = 0; layer + 1 < spec.layers.size(); ++layer) {
        const std::uint64_t in = spec.layers[layer];
        const std::uint64_t out = spec.layers[layer + 1];
        const std::string name = "layers." + std::to_string(layer);
        tensors.push_back({name + ".weight", {out, in}, offset});
        tensors.push_back({name + ".bias", {out}, offset + out * in});
        offset += out * in + out;
    }
    return tensors;
}

Status validate(const ModelSpec& spec) {
    return spec.kind == ModelKind::mlp ? validate_mlp(spec.layers)
                                       : validate_external(spec.tensors);
}

void init_parameters(const ModelSpec& spec, std::uint64_t seed, MutableFloatView parameters) {
    P2P_CHECK(spec.kind == ModelKind::mlp);
    const std::vector<TensorInfo> tensors = model_tensors(spec);
    P2P_CHECK(parameters.size() == parameter_count(tensors));

    const Rng root(mix_key(seed, init_stream));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorInfo& tensor = tensors[i];
        const auto values = parameters.subspan(tensor.offset, tensor.size());
        if (tensor.shape.size() == 1) {
            std::fill(values.begin(), values.end(), 0.0F);
            continue;
        }
        const auto in = static_cast<double>(tensor.shape[1]);
        const auto out = static_cast<double>(tensor.shape[0]);
        const double bound = std::sqrt(6.0 / (spec.init == Init::he ? in : in + out));
        Rng rng = root.split(i);
        for (float& value : values) {
            value = static_cast<float>(bound * (2.0 * rng.uniform() - 1.0));
        }
    }
}

std::vector<float> InitialDraw::values(std::uint64_t offset, std::uint64_t floats) const {
    std::vector<float> all(parameter_count(model_tensors(model)));
    P2P_CHECK(offset <= all.size() && floats <= all.size() - offset);
    init_parameters(model, seed, all);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(floats)};
}

}  // namespace p2p::core
