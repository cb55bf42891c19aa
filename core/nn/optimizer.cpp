#include "core/nn/optimizer.hpp"

#include <cmath>

#include "core/base/check.hpp"

namespace p2p::core {

namespace {

/// base^exponent by squaring: std::pow differs from one libm to the next.
double power(double base, std::uint64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1U) {
        if ((exponent & 1U) != 0) result *= base;
        base *= base;
    }
    return result;
}

}  // namespace

Optimizer::Optimizer(const OptimizerSpec& spec, std::size_t parameters, KernelLevel level)
    : kernels_(nn_kernels(level)),
      spec_(spec),
      parameters_(parameters) {
    const bool is_adamw = spec.kind == OptimizerKind::adamw;
    if (is_adamw || spec.momentum != 0) first_.resize(parameters);
    if (is_adamw) second_.resize(parameters);
}

void Optimizer::step(MutableFloatView x, FloatView gradient, double learning_rate) {
    P2P_CHECK(x.size() == parameters_ && gradient.size() == parameters_);
    ++steps_;
    if (spec_.kind == OptimizerKind::sgd) {
        step_sgd(x, gradient, learning_rate);
    } else {
        step_adamw(x, gradient, learning_rate);
    }
}

std::vector<NamedState> Optimizer::state() {
    if (spec_.kind == OptimizerKind::adamw) return {{"exp_avg", first_}, {"exp_avg_sq", second_}};
    if (first_.empty()) return {};
    return {{"momentum_buffer", first_}};
}

void Optimizer::step_sgd(MutableFloatView x, FloatView gradient, double learning_rate) {
    kernels_.sgd(
        {.count = parameters_,
         .x = x.data(),
         .gradient = gradient.data(),
         .momentum_buffer = first_.empty() ? nullptr : first_.data(),
         .rate = static_cast<float>(learning_rate),
         .momentum = static_cast<float>(spec_.momentum),
         .weight_decay = static_cast<float>(spec_.weight_decay)});
}

void Optimizer::step_adamw(MutableFloatView x, FloatView gradient, double learning_rate) {
    const double correction1 = 1 - power(spec_.beta1, steps_);
    const double correction2 = 1 - power(spec_.beta2, steps_);
    kernels_.adamw(
        {.count = parameters_,
         .x = x.data(),
         .gradient = gradient.data(),
         .average = first_.data(),
         .square_average = second_.data(),
         .beta1 = static_cast<float>(spec_.beta1),
         .beta2 = static_cast<float>(spec_.beta2),
         .share1 = static_cast<float>(1 - spec_.beta1),
         .share2 = static_cast<float>(1 - spec_.beta2),
         .keep = static_cast<float>(1 - learning_rate * spec_.weight_decay),
         .rate = static_cast<float>(learning_rate / correction1),
         .root_correction = static_cast<float>(1 / std::sqrt(correction2)),
         .epsilon = static_cast<float>(spec_.epsilon)});
}

}  // namespace p2p::core
