#pragma once

// An mlp that computes: the loss and the gradient of a batch, for parameters that others own.
//
// The trainer keeps the flat vector and hands it in; the learner keeps only work buffers, all
// allocated when it is built. One learner serves one thread at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/cpu.hpp"
#include "core/base/learning.hpp"
#include "core/nn/kernels.hpp"
#include "core/nn/loss.hpp"

namespace p2p::core {

/// Bytes that a learner of `spec` for batches of `batch_max` samples would allocate.
/// @pre validate(spec) is ok
[[nodiscard]] std::uint64_t learner_bytes(const ModelSpec& spec, std::size_t batch_max);

class Learner {
  public:
    /// @pre validate(spec) is ok, spec.kind is mlp, batch_max > 0, level <= best_kernel_level()
    Learner(const ModelSpec& spec, std::size_t batch_max, KernelLevel level);

    [[nodiscard]] std::size_t inputs() const { return layers_.front().in; }

    [[nodiscard]] std::size_t classes() const { return layers_.back().out; }

    [[nodiscard]] std::size_t parameters() const { return parameters_; }

    /// Overwrites `gradient` with that of the batch's mean softmax cross-entropy.
    ///
    /// `batch` is [labels.size(), inputs()], row-major. Parameters that are not finite give a
    /// loss that is not; nothing else happens to them.
    /// @pre 0 < labels.size() <= batch_max, each label < classes(), both vectors have parameters()
    BatchResult gradient(
        FloatView parameters, FloatView batch, ByteView labels, MutableFloatView gradient);

    /// Loss and correct answers of any number of samples; nothing is learned.
    /// @pre as for gradient(), but labels.size() has no upper bound
    BatchResult evaluate(FloatView parameters, FloatView batch, ByteView labels);

  private:
    struct Layer {
        std::size_t in;
        std::size_t out;
        std::size_t weight_offset;
        std::size_t bias_offset;
    };

    void forward(FloatView parameters, FloatView batch, std::size_t samples);
    void backward(
        FloatView parameters, FloatView batch, std::size_t samples, MutableFloatView gradient);
    [[nodiscard]] MutableFloatView logits(std::size_t samples);

    const NnKernels& kernels_;
    Activation activation_;
    std::size_t batch_max_;
    std::size_t parameters_ = 0;
    std::vector<Layer> layers_;
    std::vector<std::vector<float>> outputs_;    ///< of each layer, [batch_max, out]
    std::vector<std::vector<float>> gradients_;  ///< by those outputs, but the last layer's
    std::vector<float> pack_;
};

}  // namespace p2p::core
