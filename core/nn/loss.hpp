#pragma once

// Softmax cross-entropy: what a batch costs, and the gradient of its mean.
//
// Ten exponentials a sample are nothing beside the products, so this is compiled once and gives
// the same bits at every kernel level.

#include <cstdint>

#include "core/base/bytes.hpp"

namespace p2p::core {

/// Sums over the samples of a batch, so that batches add up; divide by `samples` to report.
struct BatchResult {
    double loss_sum = 0;        ///< nats; NaN or infinite where the model has broken down
    std::uint64_t correct = 0;  ///< samples whose label has the largest logit
    std::uint64_t samples = 0;

    BatchResult& operator+=(const BatchResult& other) {
        loss_sum += other.loss_sum;
        correct += other.correct;
        samples += other.samples;
        return *this;
    }

    [[nodiscard]] double loss() const { return loss_sum / static_cast<double>(samples); }

    [[nodiscard]] double accuracy() const {
        return static_cast<double>(correct) / static_cast<double>(samples);
    }

    bool operator==(const BatchResult&) const = default;
};

/// Logits [batch, classes] in, the gradient of the batch's mean loss by the logits out.
///
/// @pre logits.size() is a multiple of labels.size() > 0, and each label is below the quotient
[[nodiscard]] BatchResult cross_entropy_backward(MutableFloatView logits, ByteView labels);

/// The same sums, without the gradient.
[[nodiscard]] BatchResult cross_entropy(FloatView logits, ByteView labels);

}  // namespace p2p::core
