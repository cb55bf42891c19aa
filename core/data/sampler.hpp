#pragma once

// Which samples a node trains on: a function of (seed, PeerId) and an integer cursor alone.
//
// So joins and losses move nobody's data, and a run resumes exactly from the cursor, with no
// state. `iid` and `own` walk the whole set in an order of their own, another one each epoch.
// `by_label` and `dirichlet` draw label weights once, then a label for each sample by them, and an
// element of that label by an order of its own (JOBS: Data).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/learning.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

/// Whose samples: streams of different (seed, peer) have nothing to do with each other.
struct SamplerKey {
    std::uint64_t seed = 0;
    PeerId peer;
};

class Sampler {
  public:
    /// Labels of `by_label` that one node has, each with equal weight.
    static constexpr std::size_t labels_a_node = 2;

    /// `labels` are the train set's; they are read here only.
    /// @pre 0 < labels.size() < 2^32; dirichlet_alpha > 0 where the split is `dirichlet`
    Sampler(const DataSpec& spec, const SamplerKey& key, ByteView labels);

    /// The samples number cursor, cursor + 1, ... that this node draws, counted from its first.
    ///
    /// With `iid` and `own`, each run of size() from a multiple of size() holds every sample once.
    /// With label weights, elements of a label with m samples do not repeat between multiples of m.
    void batch(SampleCount cursor, std::span<std::uint32_t> indices) const;

    /// Samples in the set, which are one epoch.
    [[nodiscard]] std::size_t size() const { return size_; }

    /// By label, sum 1: how often this node draws it. Those of the set itself for `iid` and `own`.
    [[nodiscard]] std::span<const double> label_weights() const { return weights_; }

  private:
    void shuffled_batch(std::uint64_t cursor, std::span<std::uint32_t> indices) const;
    [[nodiscard]] std::uint32_t weighted_sample(std::uint64_t cursor) const;
    [[nodiscard]] std::size_t draw_label(std::uint64_t cursor) const;

    std::uint64_t key_;
    std::size_t size_;
    bool is_weighted_;
    std::vector<double> weights_;
    std::vector<double> cumulative_;                    ///< of weights_; empty unless weighted
    std::vector<std::vector<std::uint32_t>> by_label_;  ///< samples of each; empty unless weighted
};

}  // namespace p2p::core
