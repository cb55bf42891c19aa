#pragma once

// A few parameters that walk down a hill of their own under a local rule: the rule, an optimizer
// and gradients that are a function of where they are taken. No data and no network are needed.

#include <algorithm>
#include <utility>
#include <vector>

#include "core/train/local_rule.hpp"

namespace p2p::core {

/// One of each kind but plain.
inline std::vector<LocalSpec> each_rule() {
    return {
        {Local::compensate, 0.5, 0},
        {Local::anchor, 0.2, 0.5},
        {Local::quasi_global, 0.9, 0},
        {Local::global_hint, 0.5, 0},
        {Local::predict, 0, 0}};
}

class RuleWalk {
  public:
    RuleWalk(const LocalSpec& local, std::vector<float> begin, double momentum = 0)
        : x(std::move(begin)),
          rule(local, x.size(), /*draw_key=*/17),
          optimizer(
              {.kind = OptimizerKind::sgd, .momentum = momentum}, x.size(), KernelLevel::scalar) {}

    /// As a replica does, with `slope * x + offset` for the gradient.
    void step(double lr, float slope, float offset) {
        const StepCount now{steps++};
        if (rule.is_pull(now)) {
            ++pulls;
            return rule.pull(x, lr);
        }
        const FloatView at = rule.before_gradient(x, optimizer, lr);
        gradient_at.assign(at.begin(), at.end());
        std::vector<float> gradient(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            gradient[i] = slope * gradient_at[i] + offset;
        optimizer.step(x, gradient, rule.gradient_rate(lr));
        rule.after_step(gradient, lr);
    }

    /// As a replica does.
    void displace(std::size_t offset, const std::vector<float>& d) {
        const auto part = MutableFloatView(x).subspan(offset, d.size());
        std::transform(part.begin(), part.end(), d.begin(), part.begin(), std::plus<>());
        rule.on_displaced(part, offset, d);
    }

    std::vector<float> x;
    LocalRule rule;
    Optimizer optimizer;
    std::vector<float> gradient_at;  ///< where the newest gradient was taken
    std::uint64_t steps = 0;
    std::uint64_t pulls = 0;
};

}  // namespace p2p::core
