#include "core/nn/loss.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/check.hpp"
#include "core/nn/elementary.hpp"

namespace p2p::core {

namespace {

std::size_t class_count(std::size_t logits, std::size_t samples) {
    P2P_CHECK(samples > 0 && logits % samples == 0);
    return logits / samples;
}

/// One row's sums, and the denominator of its softmax over logits shifted by their largest.
struct Row {
    BatchResult result;
    float largest;
    double denominator;
};

Row look_at(FloatView logits, std::uint8_t label) {
    P2P_CHECK(label < logits.size());
    const auto largest = std::max_element(logits.begin(), logits.end());
    double denominator = 0;
    for (const float logit : logits) {
        denominator += static_cast<double>(exponential(logit - *largest));
    }
    const double shifted = static_cast<double>(logits[label]) - static_cast<double>(*largest);
    const double loss = std::log(denominator) - shifted;
    const bool is_right = largest - logits.begin() == label && std::isfinite(loss);
    return {{loss, is_right ? 1U : 0U, 1}, *largest, denominator};
}

}  // namespace

BatchResult cross_entropy_backward(MutableFloatView logits, ByteView labels) {
    const std::size_t classes = class_count(logits.size(), labels.size());
    const auto samples = static_cast<double>(labels.size());

    BatchResult total;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const MutableFloatView row = logits.subspan(i * classes, classes);
        const Row seen = look_at(row, labels[i]);
        total += seen.result;
        const auto scale = static_cast<float>(1.0 / (seen.denominator * samples));
        for (float& value : row) {
            value = exponential(value - seen.largest) * scale;
        }
        row[labels[i]] -= static_cast<float>(1.0 / samples);
    }
    return total;
}

BatchResult cross_entropy(FloatView logits, ByteView labels) {
    const std::size_t classes = class_count(logits.size(), labels.size());
    BatchResult total;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        total += look_at(logits.subspan(i * classes, classes), labels[i]).result;
    }
    return total;
}

}  // namespace p2p::core
