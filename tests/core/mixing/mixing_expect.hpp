#pragma once

// What several tests of mixing ask in the same words: a recipe with rounds of four steps, and that
// a sum stands where it stood. The worlds themselves are tests/support/mix_world's.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/mixing/recipe.hpp"

namespace p2p::test {

inline core::Recipe recipe_of(
    const std::string& name, std::map<std::string, std::string> axes = {}) {
    return core::resolve_recipe(name, axes, 4).value();
}

inline void expect_same_sum(const std::vector<double>& before, const std::vector<double>& after) {
    ASSERT_EQ(before.size(), after.size());
    double largest = 0;
    for (std::size_t k = 0; k < before.size(); ++k) {
        largest = std::max(largest, std::abs(before[k] - after[k]));
    }
    EXPECT_LT(largest, 2e-3);  // float32 additions of some thousand displacements, values near 3
}

}  // namespace p2p::test
