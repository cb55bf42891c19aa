#include "core/nn/learner.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/tensor.hpp"
#include "core/nn/model.hpp"

namespace p2p::core {

std::uint64_t learner_bytes(const ModelSpec& spec, std::size_t batch_max) {
    std::uint64_t floats = dense_pack_floats;
    for (std::size_t i = 1; i < spec.layers.size(); ++i) {
        const bool is_last = i + 1 == spec.layers.size();
        floats += std::uint64_t{spec.layers[i]} * batch_max * (is_last ? 1 : 2);
    }
    return floats * sizeof(float);
}

Learner::Learner(const ModelSpec& spec, std::size_t batch_max, KernelLevel level)
    : kernels_(nn_kernels(level)),
      activation_(spec.activation),
      batch_max_(batch_max),
      pack_(dense_pack_floats) {
    P2P_CHECK(spec.kind == ModelKind::mlp && spec.layers.size() >= 2);
    P2P_CHECK(batch_max > 0);

    const std::vector<TensorInfo> tensors = model_tensors(spec);
    parameters_ = parameter_count(tensors);
    for (std::size_t i = 0; i + 1 < spec.layers.size(); ++i) {
        const std::size_t out = spec.layers[i + 1];
        layers_.push_back({spec.layers[i], out, tensors[2 * i].offset, tensors[2 * i + 1].offset});
        outputs_.emplace_back(batch_max * out);
        if (i + 2 < spec.layers.size()) gradients_.emplace_back(batch_max * out);
    }
}

BatchResult Learner::gradient(
    FloatView parameters, FloatView batch, ByteView labels, MutableFloatView gradient) {
    P2P_CHECK(!labels.empty() && labels.size() <= batch_max_);
    P2P_CHECK(batch.size() == labels.size() * inputs());
    P2P_CHECK(parameters.size() == parameters_ && gradient.size() == parameters_);

    forward(parameters, batch, labels.size());
    const BatchResult result = cross_entropy_backward(logits(labels.size()), labels);
    backward(parameters, batch, labels.size(), gradient);
    return result;
}

BatchResult Learner::evaluate(FloatView parameters, FloatView batch, ByteView labels) {
    P2P_CHECK(batch.size() == labels.size() * inputs());
    P2P_CHECK(parameters.size() == parameters_);

    BatchResult total;
    for (std::size_t begin = 0; begin < labels.size(); begin += batch_max_) {
        const std::size_t samples = std::min(batch_max_, labels.size() - begin);
        forward(parameters, batch.subspan(begin * inputs(), samples * inputs()), samples);
        total += cross_entropy(logits(samples), labels.subspan(begin, samples));
    }
    return total;
}

void Learner::forward(FloatView parameters, FloatView batch, std::size_t samples) {
    const float* input = batch.data();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        kernels_.dense_forward(
            {.batch = samples,
             .in = layer.in,
             .out = layer.out,
             .input = input,
             .weight = parameters.data() + layer.weight_offset,
             .bias = parameters.data() + layer.bias_offset,
             .output = outputs_[i].data(),
             .pack = pack_.data()});
        input = outputs_[i].data();
        if (i + 1 == layers_.size()) return;
        const auto activate = activation_ == Activation::relu ? kernels_.relu : kernels_.tanh;
        activate(outputs_[i].data(), samples * layer.out);
    }
}

void Learner::backward(
    FloatView parameters, FloatView batch, std::size_t samples, MutableFloatView gradient) {
    const auto differentiate =
        activation_ == Activation::relu ? kernels_.relu_backward : kernels_.tanh_backward;
    const float* output_gradient = outputs_.back().data();  // the loss has left it there
    for (std::size_t i = layers_.size(); i-- > 0;) {
        const Layer& layer = layers_[i];
        float* input_gradient = i > 0 ? gradients_[i - 1].data() : nullptr;
        kernels_.dense_backward(
            {.batch = samples,
             .in = layer.in,
             .out = layer.out,
             .input = i > 0 ? outputs_[i - 1].data() : batch.data(),
             .weight = parameters.data() + layer.weight_offset,
             .output_gradient = output_gradient,
             .weight_gradient = gradient.data() + layer.weight_offset,
             .bias_gradient = gradient.data() + layer.bias_offset,
             .input_gradient = input_gradient,
             .pack = pack_.data()});
        if (i == 0) return;
        differentiate(outputs_[i - 1].data(), input_gradient, samples * layer.in);
        output_gradient = input_gradient;
    }
}

MutableFloatView Learner::logits(std::size_t samples) {
    return MutableFloatView(outputs_.back()).first(samples * classes());
}

}  // namespace p2p::core
