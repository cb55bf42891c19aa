#include "core/train/local_rule.hpp"

#include <algorithm>
#include <functional>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"

namespace p2p::core {

namespace {

constexpr std::uint64_t patience_max = 64;  // steps
constexpr double squares_kept = 0.95;       // as the mean square of DC-ASGD-a (Zheng et al. 2017)

/// Of SGD with momentum; else empty.
MutableFloatView momentum_of(Optimizer& optimizer) {
    const auto parts = optimizer.state();
    return parts.size() == 1 ? parts.front().values : MutableFloatView{};
}

}  // namespace

LocalRule::LocalRule(const LocalSpec& local, std::size_t parameters, std::uint64_t draw_key)
    : local_(local),
      parameters_(parameters),
      draw_key_(draw_key) {
    if (local.kind == Local::quasi_global) {
        momenta_.resize(parameters);
        displaced_.resize(parameters);
    }
    if (local.kind == Local::compensate) squares_.resize(parameters);
    const bool looks_ahead = local.kind == Local::predict || local.kind == Local::global_hint;
    if (looks_ahead) ahead_.resize(parameters);
}

// --- around a step -------------------------------------------------------------------------------

FloatView LocalRule::before_gradient(FloatView x, Optimizer& optimizer, double lr) {
    P2P_CHECK(x.size() == parameters_);
    if (local_.kind == Local::global_hint) return where_the_mesh_is(x);
    const bool uses_momentum = local_.kind == Local::quasi_global || local_.kind == Local::predict;
    const auto momentum = uses_momentum ? momentum_of(optimizer) : MutableFloatView{};
    if (momentum.empty()) return x;
    if (local_.kind == Local::quasi_global) {
        carry_momentum(momentum);
        return x;
    }
    const auto rate = static_cast<float>(lr);
    for (std::size_t i = 0; i < x.size(); ++i)
        ahead_[i] = x[i] - rate * momentum[i];
    return ahead_;
}

FloatView LocalRule::where_the_mesh_is(FloatView x) {
    close_span(x);
    if (hint_.empty() || span_rate_ == 0) return x;
    const auto gone = static_cast<float>(span_rate_ * local_.a);
    for (std::size_t i = 0; i < x.size(); ++i)
        ahead_[i] = x[i] - gone * hint_[i];
    return ahead_;
}

void LocalRule::carry_momentum(MutableFloatView momentum) {
    if (slow_.empty()) {
        slow_.assign(momentum.begin(), momentum.end());
        std::fill(displaced_.begin(), displaced_.end(), 0.0F);
        was_displaced_ = false;
        return;
    }
    std::transform(
        momenta_.begin(), momenta_.end(), momentum.begin(), momenta_.begin(), std::plus<>());
    ++span_steps_;
    ++gap_steps_;
    if (was_displaced_) {
        patience_ = std::clamp(gap_steps_, patience_, patience_max);
        gap_steps_ = 0;
    }
    if (was_displaced_ || span_steps_ >= patience_) fold_span();
    std::copy(slow_.begin(), slow_.end(), momentum.begin());
}

void LocalRule::fold_span() {
    double kept = 1;
    for (std::uint64_t i = 0; i < span_steps_; ++i)
        kept *= local_.a;
    const auto mu = static_cast<float>(kept);
    const auto share = static_cast<float>(1 - kept);
    const auto steps = static_cast<float>(span_steps_);
    const auto scale = static_cast<float>(span_rate_ > 0 ? 1 / span_rate_ : 0);
    for (std::size_t i = 0; i < slow_.size(); ++i) {
        const float moved = momenta_[i] / steps - scale * displaced_[i];
        slow_[i] = mu * slow_[i] + share * moved;
    }
    std::fill(momenta_.begin(), momenta_.end(), 0.0F);
    std::fill(displaced_.begin(), displaced_.end(), 0.0F);
    span_steps_ = 0;
    span_rate_ = 0;
}

void LocalRule::close_span(FloatView x) {
    const bool is_first = span_begin_.empty();
    const bool is_over = was_displaced_ && span_rate_ > 0;
    if (!is_first && !is_over) return;
    if (!is_first) {
        const auto scale = static_cast<float>(1 / span_rate_);
        hint_.resize(parameters_);
        for (std::size_t i = 0; i < x.size(); ++i)
            hint_[i] = scale * (span_begin_[i] - x[i]);
    }
    span_begin_.assign(x.begin(), x.end());
    span_rate_ = 0;
}

double LocalRule::gradient_rate(double lr) const {
    const bool is_anchored = local_.kind == Local::anchor && !anchor_.empty();
    return is_anchored ? lr / (1 - local_.a) : lr;
}

void LocalRule::after_step(FloatView gradient, double lr) {
    last_rate_ = lr;
    was_displaced_ = false;
    span_rate_ += lr;
    if (local_.kind == Local::compensate) {
        const auto kept = static_cast<float>(squares_kept);
        const auto share = static_cast<float>(1 - squares_kept);
        for (std::size_t i = 0; i < squares_.size(); ++i)
            squares_[i] = kept * squares_[i] + share * gradient[i] * gradient[i];
    }
}

// --- the anchor ----------------------------------------------------------------------------------

bool LocalRule::is_pull(StepCount step) const {
    if (local_.kind != Local::anchor || anchor_.empty()) return false;
    return Rng(mix_key(draw_key_, step.value)).uniform() < local_.a;
}

void LocalRule::pull(MutableFloatView x, double lr) const {
    const auto factor = static_cast<float>(std::min(1.0, lr * local_.b / local_.a));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] -= factor * (x[i] - anchor_[i]);
}

void LocalRule::on_outer_stepped(FloatView x) {
    if (local_.kind == Local::anchor) anchor_.assign(x.begin(), x.end());
}

// --- what is added -------------------------------------------------------------------------------

void LocalRule::on_displaced(MutableFloatView part, std::size_t offset, FloatView d) {
    P2P_CHECK(part.size() == d.size() && offset + d.size() <= parameters_);
    was_displaced_ = true;
    if (local_.kind == Local::quasi_global) {
        const auto sum = MutableFloatView(displaced_).subspan(offset, d.size());
        std::transform(sum.begin(), sum.end(), d.begin(), sum.begin(), std::plus<>());
    }
    if (local_.kind != Local::compensate || has_ended_) return;
    const auto rate = static_cast<float>(last_rate_ * local_.a);
    for (std::size_t i = 0; i < d.size(); ++i)
        part[i] -= std::min(1.0F, rate * squares_[offset + i]) * d[i];
}

void LocalRule::restart() {
    last_rate_ = 0;
    was_displaced_ = false;
    span_rate_ = 0;
    span_steps_ = 0;
    gap_steps_ = 0;
    patience_ = 1;
    slow_.clear();
    anchor_.clear();
    span_begin_.clear();
    hint_.clear();
    std::fill(momenta_.begin(), momenta_.end(), 0.0F);
    std::fill(displaced_.begin(), displaced_.end(), 0.0F);
    std::fill(squares_.begin(), squares_.end(), 0.0F);
}

std::size_t local_rule_vectors(Local kind) {
    switch (kind) {
        case Local::plain: return 0;
        case Local::quasi_global:
        case Local::global_hint: return 3;
        case Local::compensate:
        case Local::anchor:
        case Local::predict: return 1;
    }
    return 0;
}

}  // namespace p2p::core
