#pragma once

// The arithmetic of learning as plain functions on raw pointers, one set for each kernel level.
//
// One source (kernels_level.cpp) is compiled once a level; this is the border that its code must
// not leak through: no std templates, no inline functions, nothing that the linker could merge
// with the copy of another level. Sizes are trusted here: the learner and the optimizer check.
// Matrices are row-major. Element-wise kernels give the same bits at every level; products do not
// (a wider level adds in another order), but are the same on all machines of one level.

#include <cstddef>

#include "core/base/cpu.hpp"

namespace p2p::core {

/// Floats that `pack` of the dense kernels must have room for; no other memory is used.
inline constexpr std::size_t dense_pack_floats = 256 * (192 + 512) + 16;

/// output[batch, out] = input[batch, in] * weight[out, in]^T + bias[out]
struct DenseForward {
    std::size_t batch;
    std::size_t in;
    std::size_t out;
    const float* input;
    const float* weight;
    const float* bias;
    float* output;
    float* pack;
};

/// weight_gradient[out, in] = output_gradient[batch, out]^T * input[batch, in], its column sums
/// for the bias, and input_gradient[batch, in] = output_gradient * weight unless that is null.
struct DenseBackward {
    std::size_t batch;
    std::size_t in;
    std::size_t out;
    const float* input;
    const float* weight;
    const float* output_gradient;
    float* weight_gradient;
    float* bias_gradient;
    float* input_gradient;
    float* pack;
};

/// g = gradient + weight_decay * x; m = momentum * m + g; x -= rate * m. No m where it is null.
struct SgdStep {
    std::size_t count;
    float* x;
    const float* gradient;
    float* momentum_buffer;
    float rate;
    float momentum;
    float weight_decay;
};

/// m and v are averages of g and g^2; x = keep * x - rate * m / (sqrt(v) * root_correction + eps).
struct AdamwStep {
    std::size_t count;
    float* x;
    const float* gradient;
    float* average;
    float* square_average;
    float beta1;
    float beta2;
    float share1;           ///< 1 - beta1, from double: in float 1 - 0.999 is off by 3e-5
    float share2;           ///< 1 - beta2
    float keep;             ///< 1 - learning rate * weight decay
    float rate;             ///< learning rate / (1 - beta1^t)
    float root_correction;  ///< 1 / sqrt(1 - beta2^t)
    float epsilon;
};

struct NnKernels {
    void (*dense_forward)(const DenseForward& call);
    void (*dense_backward)(const DenseBackward& call);
    void (*relu)(float* values, std::size_t count);
    void (*tanh)(float* values, std::size_t count);
    /// gradient *= derivative, seen from the activation's outputs.
    void (*relu_backward)(const float* outputs, float* gradient, std::size_t count);
    void (*tanh_backward)(const float* outputs, float* gradient, std::size_t count);
    void (*sgd)(const SgdStep& step);
    void (*adamw)(const AdamwStep& step);
};

/// @pre level <= best_kernel_level()
[[nodiscard]] const NnKernels& nn_kernels(KernelLevel level);

}  // namespace p2p::core
