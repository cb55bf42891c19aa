// The kernels of one level: compiled with P2P_KERNEL_LEVEL, and Eigen under a name of its own.
//
// Eigen's blocked product is called below its expression templates, with block sizes and pack
// buffers of our own: no allocation a step, no look at this machine's caches (a seed replays on
// another one of the same level), and half the compile time. Everything but the last function is
// local to this file; kernels.hpp says why.

#include <cstdint>

#include <Eigen/Core>

#include "core/nn/elementary.hpp"
#include "core/nn/kernels.hpp"

namespace p2p::kernels::P2P_KERNEL_LEVEL {

namespace {

using Index = std::ptrdiff_t;

// Large enough for the width of the kernel, small enough for 32 KiB and 512 KiB of cache; between
// half and twice of these, the speed of one product changes by less than 5 %.
constexpr Index block_depth_max = 264;
constexpr Index block_rows_max = 192;
constexpr Index block_columns_max = 512;
static_assert(
    block_depth_max * (block_rows_max + block_columns_max) + 16
    == static_cast<Index>(core::dense_pack_floats));

Index signed_size(std::size_t size) {
    return static_cast<Index>(size);
}

struct Operand {
    const float* values;
    std::size_t stride;
};

struct ProductSize {
    std::size_t rows;
    std::size_t columns;
    std::size_t depth;
};

/// `extent` cut into as few equal pieces of at most `piece_max` as it takes, in whole `unit`s.
Index even_piece(std::size_t extent, Index piece_max, Index unit) {
    if (extent == 0) return unit;
    const Index pieces = (signed_size(extent) + piece_max - 1) / piece_max;
    const Index piece = (signed_size(extent) + pieces - 1) / pieces;
    return (piece + unit - 1) / unit * unit;
}

/// Block sizes for Eigen that never ask for this machine's caches.
class Blocking : public Eigen::internal::level3_blocking<float, float> {
  public:
    /// `pack` is moved up to the next 64 bytes; dense_pack_floats has room for that.
    Blocking(ProductSize size, float* pack) {
        const auto address = reinterpret_cast<std::uintptr_t>(pack);
        m_blockA = pack + ((64 - address % 64) % 64) / sizeof(float);
        m_blockB = m_blockA + block_depth_max * block_rows_max;
        m_kc = even_piece(size.depth, block_depth_max, 8);
        m_mc = even_piece(size.rows, block_rows_max, 24);
        m_nc = even_piece(size.columns, block_columns_max, 4);
    }
};

/// result[rows, columns] += left * right, all column-major unless the orders say otherwise.
template <int left_order, int right_order>
void add_product(ProductSize size, Operand left, Operand right, float* result, float* pack) {
    Blocking blocking(size, pack);
    Eigen::internal::general_matrix_matrix_product<
        Index,
        float,
        left_order,
        false,
        float,
        right_order,
        false,
        Eigen::ColMajor,
        1>::
        run(signed_size(size.rows),
            signed_size(size.columns),
            signed_size(size.depth),
            left.values,
            signed_size(left.stride),
            right.values,
            signed_size(right.stride),
            result,
            1,
            signed_size(size.rows),
            1.0F,
            blocking);
}

void fill_zero(float* values, std::size_t count) {
    __builtin_memset(values, 0, count * sizeof(float));
}

// Our row-major [a, b] is Eigen's column-major [b, a]: each product is written transposed.

void dense_forward(const core::DenseForward& call) {
    for (std::size_t row = 0; row < call.batch; ++row) {
        __builtin_memcpy(call.output + row * call.out, call.bias, call.out * sizeof(float));
    }
    add_product<Eigen::RowMajor, Eigen::ColMajor>(
        {call.out, call.batch, call.in},
        {call.weight, call.in},
        {call.input, call.in},
        call.output,
        call.pack);
}

void sum_rows(
    const float* __restrict matrix, std::size_t rows, std::size_t columns, float* __restrict sums) {
    fill_zero(sums, columns);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            sums[column] += matrix[row * columns + column];
        }
    }
}

void dense_backward(const core::DenseBackward& call) {
    sum_rows(call.output_gradient, call.batch, call.out, call.bias_gradient);
    fill_zero(call.weight_gradient, call.out * call.in);
    add_product<Eigen::ColMajor, Eigen::RowMajor>(
        {call.in, call.out, call.batch},
        {call.input, call.in},
        {call.output_gradient, call.out},
        call.weight_gradient,
        call.pack);
    if (call.input_gradient == nullptr) return;

    fill_zero(call.input_gradient, call.batch * call.in);
    add_product<Eigen::ColMajor, Eigen::ColMajor>(
        {call.in, call.batch, call.out},
        {call.weight, call.in},
        {call.output_gradient, call.out},
        call.input_gradient,
        call.pack);
}

void relu(float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = values[i] < 0.0F ? 0.0F : values[i];  // in this order NaN stays NaN
    }
}

void relu_backward(const float* __restrict outputs, float* __restrict gradient, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        gradient[i] = outputs[i] > 0.0F ? gradient[i] : 0.0F;
    }
}

void tanh_forward(float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = core::hyperbolic_tangent(values[i]);
    }
}

void tanh_backward(const float* __restrict outputs, float* __restrict gradient, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        gradient[i] *= 1.0F - outputs[i] * outputs[i];
    }
}

void sgd_plain(const core::SgdStep& step) {
    float* __restrict x = step.x;
    const float* __restrict gradient = step.gradient;
    const float rate = step.rate;
    const float weight_decay = step.weight_decay;
    for (std::size_t i = 0; i < step.count; ++i) {
        x[i] -= rate * (gradient[i] + weight_decay * x[i]);
    }
}

void sgd(const core::SgdStep& step) {
    if (step.momentum_buffer == nullptr) return sgd_plain(step);
    float* __restrict x = step.x;
    float* __restrict buffer = step.momentum_buffer;
    const float* __restrict gradient = step.gradient;
    const float rate = step.rate;
    const float momentum = step.momentum;
    const float weight_decay = step.weight_decay;
    for (std::size_t i = 0; i < step.count; ++i) {
        const float moved = momentum * buffer[i] + (gradient[i] + weight_decay * x[i]);
        buffer[i] = moved;
        x[i] -= rate * moved;
    }
}

void adamw(const core::AdamwStep& step) {
    float* __restrict x = step.x;
    float* __restrict average = step.average;
    float* __restrict square_average = step.square_average;
    const float* __restrict gradient = step.gradient;
    const core::AdamwStep s = step;
    for (std::size_t i = 0; i < s.count; ++i) {
        const float g = gradient[i];
        const float m = s.beta1 * average[i] + s.share1 * g;
        const float v = s.beta2 * square_average[i] + s.share2 * g * g;
        average[i] = m;
        square_average[i] = v;
        x[i] = s.keep * x[i] - s.rate * m / (__builtin_sqrtf(v) * s.root_correction + s.epsilon);
    }
}

constexpr core::NnKernels kernels{
    .dense_forward = dense_forward,
    .dense_backward = dense_backward,
    .relu = relu,
    .tanh = tanh_forward,
    .relu_backward = relu_backward,
    .tanh_backward = tanh_backward,
    .sgd = sgd,
    .adamw = adamw,
};

}  // namespace

const core::NnKernels& nn_kernels();

const core::NnKernels& nn_kernels() {
    return kernels;
}

}  // namespace p2p::kernels::P2P_KERNEL_LEVEL
