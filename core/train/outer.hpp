#pragma once

// The outer step: momentum on how far a replica has come since the last one.
//
// The pseudo-gradient is where the replica stood after the last outer step, less where it stands;
// what swaps have moved it counts in, so that what the mesh agrees on is carried on and what a
// replica found alone is not. When a step is due is mixing's business. Sources: Douillard et al.
// 2023 (arXiv:2311.08105), algorithm 1; Kolehmainen et al. 2025 (arXiv:2506.10911), eq. 2, whose
// pull between the outer models is in the swap itself, so that it weighs as much as the rate.

#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/learning.hpp"

namespace p2p::core {

class OuterMomentum {
  public:
    /// From where the replica stands, with no momentum.
    explicit OuterMomentum(FloatView replica);

    /// What to add to the replica, which stands at `replica` [parameters]; it is taken for added.
    [[nodiscard]] std::vector<float> step(FloatView replica, const OuterSettings& settings);

  private:
    std::vector<float> anchor_;
    std::vector<float> velocity_;
};

}  // namespace p2p::core
