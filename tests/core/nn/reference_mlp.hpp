#pragma once

// An mlp in double, written as slowly and plainly as the formulas: what the learner is held to.
// Slow and plain on purpose: what the learner is compared with.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/learning.hpp"

namespace p2p::core {

using Doubles = std::vector<double>;

/// The logits of one sample.
inline Doubles reference_logits(const ModelSpec& spec, const Doubles& parameters, Doubles values) {
    std::size_t at = 0;
    for (std::size_t layer = 0; layer + 1 < spec.layers.size(); ++layer) {
        const std::size_t in = spec.layers[layer];
        const std::size_t out = spec.layers[layer + 1];
        Doubles next(out);
        for (std::size_t o = 0; o < out; ++o) {
            next[o] = parameters[at + out * in + o];
            for (std::size_t i = 0; i < in; ++i)
                next[o] += parameters[at + o * in + i] * values[i];
        }
        const bool is_last = layer + 2 == spec.layers.size();
        for (double& value : next) {
            if (is_last) continue;
            value = spec.activation == Activation::tanh ? std::tanh(value) : std::fmax(value, 0);
        }
        at += out * in + out;
        values = next;
    }
    return values;
}

/// Mean softmax cross-entropy of a batch [labels.size(), in].
inline double reference_loss(
    const ModelSpec& spec,
    const Doubles& parameters,
    const Doubles& batch,
    const std::vector<std::uint8_t>& labels) {
    const std::size_t in = spec.layers.front();
    double loss = 0;
    for (std::size_t sample = 0; sample < labels.size(); ++sample) {
        const auto begin = batch.begin() + static_cast<std::ptrdiff_t>(sample * in);
        const Doubles logits =
            reference_logits(spec, parameters, {begin, begin + static_cast<std::ptrdiff_t>(in)});
        double denominator = 0;
        for (const double logit : logits)
            denominator += std::exp(logit);
        loss += std::log(denominator) - logits[labels[sample]];
    }
    return loss / static_cast<double>(labels.size());
}

/// Central differences of the loss by each parameter.
inline Doubles reference_gradient(
    const ModelSpec& spec,
    Doubles parameters,
    const Doubles& batch,
    const std::vector<std::uint8_t>& labels) {
    constexpr double step = 1e-5;
    Doubles gradient;
    for (double& parameter : parameters) {
        const double middle = parameter;
        parameter = middle + step;
        const double above = reference_loss(spec, parameters, batch, labels);
        parameter = middle - step;
        const double below = reference_loss(spec, parameters, batch, labels);
        parameter = middle;
        gradient.push_back((above - below) / (2 * step));
    }
    return gradient;
}

}  // namespace p2p::core
