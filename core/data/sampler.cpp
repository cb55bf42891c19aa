#include "core/data/sampler.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"
#include "core/data/shuffle.hpp"

namespace p2p::core {

namespace {

constexpr std::uint64_t stream_data = 0x64617461;  // "data"
constexpr std::uint64_t stream_weights = 1;
constexpr std::uint64_t stream_order = 2;
constexpr std::uint64_t stream_label = 3;

std::vector<double> counts_by_label(ByteView labels) {
    const std::uint8_t largest = *std::max_element(labels.begin(), labels.end());
    std::vector<double> counts(std::size_t{largest} + 1);
    for (const std::uint8_t label : labels) {
        counts[label] += 1;
    }
    return counts;
}

void normalize(std::vector<double>& weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) {
        weight /= sum;
    }
}

/// The labels that occur, in random order.
std::vector<std::size_t> shuffled_labels(const std::vector<double>& counts, Rng& rng) {
    std::vector<std::size_t> labels;
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] > 0) labels.push_back(label);
    }
    rng.shuffle(std::span(labels));
    return labels;
}

std::vector<double> draw_few_labels(const std::vector<double>& counts, Rng rng) {
    std::vector<double> weights(counts.size());
    const std::vector<std::size_t> labels = shuffled_labels(counts, rng);
    for (std::size_t i = 0; i < std::min(labels.size(), Sampler::labels_a_node); ++i) {
        weights[labels[i]] = 1;
    }
    return weights;
}

/// Gamma draws, which are Dirichlet ones once they are divided by their sum.
std::vector<double> draw_dirichlet(const std::vector<double>& counts, double alpha, Rng rng) {
    std::vector<double> weights(counts.size());
    double sum = 0;
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] > 0) weights[label] = rng.gamma(alpha);
        sum += weights[label];
    }
    // A tiny alpha underflows everywhere; its limit is all weight on one label.
    if (!(sum > 0)) weights[shuffled_labels(counts, rng).front()] = 1;
    return weights;
}

std::vector<double> draw_weights(
    const DataSpec& spec, const std::vector<double>& counts, std::uint64_t key) {
    const Rng rng(mix_key(key, stream_weights));
    switch (spec.split) {
        case SplitKind::by_label: return draw_few_labels(counts, rng);
        case SplitKind::dirichlet: return draw_dirichlet(counts, spec.dirichlet_alpha, rng);
        case SplitKind::iid:
        case SplitKind::own: break;
    }
    return counts;
}

}  // namespace

Sampler::Sampler(const DataSpec& spec, const SamplerKey& key, ByteView labels)
    : key_(mix_key(mix_key(key.seed, stream_data), key.peer.bytes)),
      size_(labels.size()),
      is_weighted_(spec.split == SplitKind::by_label || spec.split == SplitKind::dirichlet) {
    P2P_CHECK(!labels.empty() && labels.size() < std::numeric_limits<std::uint32_t>::max());
    P2P_CHECK(spec.split != SplitKind::dirichlet || spec.dirichlet_alpha > 0);

    weights_ = draw_weights(spec, counts_by_label(labels), key_);
    normalize(weights_);
    if (!is_weighted_) return;

    cumulative_.resize(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), cumulative_.begin());
    by_label_.resize(weights_.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        by_label_[labels[i]].push_back(static_cast<std::uint32_t>(i));
    }
}

void Sampler::batch(SampleCount cursor, std::span<std::uint32_t> indices) const {
    if (!is_weighted_) return shuffled_batch(cursor.value, indices);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        indices[i] = weighted_sample(cursor.value + i);
    }
}

void Sampler::shuffled_batch(std::uint64_t cursor, std::span<std::uint32_t> indices) const {
    while (!indices.empty()) {
        const std::uint64_t epoch = cursor / size_;
        const std::uint64_t begin = cursor % size_;
        const Permutation order(mix_key(mix_key(key_, stream_order), epoch), size_);
        const auto count = std::min<std::uint64_t>(indices.size(), size_ - begin);
        for (std::uint64_t i = 0; i < count; ++i) {
            indices[i] = static_cast<std::uint32_t>(order.at(begin + i));
        }
        indices = indices.subspan(count);
        cursor += count;
    }
}

std::uint32_t Sampler::weighted_sample(std::uint64_t cursor) const {
    const std::size_t label = draw_label(cursor);
    const std::vector<std::uint32_t>& samples = by_label_[label];
    // The cursor stands for the number of earlier draws of this label, which nobody counts: it is
    // as good, because no place of one walk through the label comes up twice.
    const std::uint64_t walk = cursor / samples.size();
    const std::uint64_t key = mix_key(mix_key(mix_key(key_, stream_order), label), walk);
    return samples[permuted(key, samples.size(), cursor % samples.size())];
}

std::size_t Sampler::draw_label(std::uint64_t cursor) const {
    const auto block = philox(key_, cursor, stream_label);
    const std::uint64_t bits = (std::uint64_t{block[0]} << 32U) | block[1];
    const double draw = static_cast<double>(bits >> 11U) * 0x1.0p-53;
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), draw);
    if (found != cumulative_.end()) return static_cast<std::size_t>(found - cumulative_.begin());

    // The sum may have been rounded to just below the draw: the last label that has any weight.
    const auto last =
        std::find_if(weights_.rbegin(), weights_.rend(), [](double weight) { return weight > 0; });
    return static_cast<std::size_t>(weights_.rend() - last) - 1;
}

}  // namespace p2p::core
