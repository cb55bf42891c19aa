#pragma once

// How a gradient moves the parameters: SGD with momentum, and AdamW.
//
// The formulas are PyTorch's, so that its results can be compared: torch.optim.SGD without
// dampening or Nesterov, weight decay inside the gradient; torch.optim.AdamW with decoupled decay
// (Loshchilov and Hutter 2019, arXiv:1711.05101). State is flat, in the parameters' order, so a
// checkpoint is a few named vectors and a count. Same bits at every kernel level.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/cpu.hpp"
#include "core/base/learning.hpp"
#include "core/nn/kernels.hpp"

namespace p2p::core {

/// One vector of an optimizer's state; the view lives as long as the optimizer and may be written.
struct NamedState {
    std::string_view name;  ///< as PyTorch calls it: momentum_buffer, exp_avg, exp_avg_sq
    MutableFloatView values;
};

class Optimizer {
  public:
    /// All state starts at 0. @pre level <= best_kernel_level()
    Optimizer(const OptimizerSpec& spec, std::size_t parameters, KernelLevel level);

    /// One step down `gradient`. @pre both have the number of parameters given at first
    void step(MutableFloatView x, FloatView gradient, double learning_rate);

    /// What a checkpoint must hold besides `steps()`, in a fixed order; restored by writing.
    [[nodiscard]] std::vector<NamedState> state();

    [[nodiscard]] std::uint64_t steps() const { return steps_; }

    void restore_steps(std::uint64_t steps) { steps_ = steps; }

  private:
    void step_sgd(MutableFloatView x, FloatView gradient, double learning_rate);
    void step_adamw(MutableFloatView x, FloatView gradient, double learning_rate);

    const NnKernels& kernels_;
    OptimizerSpec spec_;
    std::size_t parameters_;
    std::uint64_t steps_ = 0;
    std::vector<float> first_;   ///< momentum_buffer (none without momentum) or exp_avg
    std::vector<float> second_;  ///< exp_avg_sq; empty for sgd
};

}  // namespace p2p::core
