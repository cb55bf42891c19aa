#pragma once

// What a local step does besides the optimizer's: the axis `local` of a recipe, as arithmetic.
//
// The replica (core/train/replica) calls it around its steps and when something is added to its
// parameters; what is added, and when a step is taken, is decided elsewhere. Its state is no part
// of a checkpoint: it begins anew after a restart and with parameters taken over from a peer. All
// is element by element in float32, so the same calls give the same bits at every kernel level.
//
// x: parameters, g: gradient, m: the optimizer's momentum, lr: learning rate, d: a displacement.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/learning.hpp"
#include "core/base/types.hpp"
#include "core/nn/optimizer.hpp"

namespace p2p::core {

class LocalRule {
  public:
    /// `draw_key` seeds the draws of `anchor`. @pre the job's optimizer suits (check_local)
    LocalRule(const LocalSpec& local, std::size_t parameters, std::uint64_t draw_key);

    /// Where the next gradient is to be taken [parameters]; valid until the next call.
    ///
    /// `predict`: x - lr * m, where the momentum alone leads in one step (Chen et al. 2018,
    /// SpecTrain, arXiv:1809.02839, the prediction for a version difference of 1; their average of
    /// gradients is times 1 - momentum, which m is not). Without momentum, x.
    /// `quasi_global`: puts m_hat in the optimizer's momentum, so that its step becomes
    /// x - lr * (beta * m_hat + g) with beta = optimizer.momentum (Lin et al. 2021,
    /// arXiv:2102.04761, algorithm 1, QG-DSGDm without Nesterov), after
    ///     m_hat <- mu * m_hat + (1 - mu) * (x_before - x_after) / lr
    /// for the step before, whose x_after includes all that was added since: computed as
    /// m - sum(d) / lr, which is exact where nothing was added. Where steps are several to a merge,
    /// as in the authors' code: once a span, with the mean over its steps, for a merge undoes all
    /// of them, and taken for the last one's it would drive m_hat to and fro, ever further. Unlike
    /// there, mu is a step's: a span of n keeps mu^n, so that m_hat is as young however seldom
    /// merges come. A span ends with a merge, or, where none comes, after as many steps as the
    /// longest one before had (64 at most; 1 before the first merge). m_hat begins as the
    /// optimizer's m.
    /// `global_hint`: x - beta * h * (sum of lr since the last merge), h = (x_begin - x_end) /
    /// sum(lr) being the movement of the last span, from one round's merges to the next one's:
    /// about where the mesh has gone meanwhile. Adapted from Xu et al. 2020 (arXiv:2012.05396,
    /// "global gradient for local update"), where the next pull replaces the local weights that the
    /// hint bends; here it bends only where gradients are taken, so that it never feeds itself.
    [[nodiscard]] FloatView before_gradient(FloatView x, Optimizer& optimizer, double lr);

    /// The rate of a gradient's step: of `anchor` lr / (1 - p), else lr.
    [[nodiscard]] double gradient_rate(double lr) const;

    /// The optimizer has taken its step down `gradient`.
    ///
    /// `compensate`: follows the mean of g * g, as 0.95 of the old and 0.05 of the new.
    void after_step(FloatView gradient, double lr);

    /// Whether the step numbered `step` is a pull instead of a gradient's: for `anchor`, with
    /// probability p by a draw from (draw_key, step) alone. Never before there is an anchor.
    [[nodiscard]] bool is_pull(StepCount step) const;

    /// x <- x - lr * strength / p * (x - anchor), the factor at most 1 (Naganuma et al. 2025,
    /// arXiv:2504.18454, the decoupled form, whose gradient steps are at lr / (1 - p)).
    void pull(MutableFloatView x, double lr) const;

    /// `d` was added at `offset`; `part` is the parameters there, with it.
    ///
    /// `compensate`: part <- part - min(1, lr * lambda * mean(g * g)) * d, which is what the newest
    /// step would have gone besides, had d come before it: to first order, with g * g for the
    /// Hessian (Zheng et al. 2017, arXiv:1609.08326; Rigazzi 2019, arXiv:1911.02516). One step's
    /// worth, however late d is. It is a step of this node's own: d itself stays what both ends of
    /// the swap add, but the mean of the replicas moves by the correction.
    void on_displaced(MutableFloatView part, std::size_t offset, FloatView d);

    /// The replica stands at `x` after an outer step, or where outer steps begin: the anchor.
    void on_outer_stepped(FloatView x);

    /// No step follows: what is added from now on is added as it is.
    void end() { has_ended_ = true; }

    /// Other parameters were put in place of the replica's.
    void restart();

  private:
    [[nodiscard]] FloatView where_the_mesh_is(FloatView x);
    void carry_momentum(MutableFloatView momentum);
    void fold_span();
    void close_span(FloatView x);

    LocalSpec local_;
    std::size_t parameters_;
    std::uint64_t draw_key_;
    bool has_ended_ = false;
    double last_rate_ = 0;          ///< of the newest gradient's step
    bool was_displaced_ = false;    ///< since that step
    double span_rate_ = 0;          ///< sum(lr) of the steps since the span began
    std::uint64_t span_steps_ = 0;  ///< quasi_global: since the span began
    std::uint64_t gap_steps_ = 0;   ///< quasi_global: since the last merge
    std::uint64_t patience_ = 1;    ///< quasi_global: steps of a span without a merge

    std::vector<float> slow_;        ///< quasi_global: m_hat; empty: begins anew
    std::vector<float> momenta_;     ///< quasi_global: sum of m of the span's steps
    std::vector<float> displaced_;   ///< quasi_global: sum of d of the span
    std::vector<float> squares_;     ///< compensate: mean of g * g
    std::vector<float> anchor_;      ///< anchor; empty: none yet
    std::vector<float> span_begin_;  ///< global_hint: x after the last round; empty: none yet
    std::vector<float> hint_;        ///< global_hint: h; empty: none yet
    std::vector<float> ahead_;       ///< predict
};

/// How many vectors of the parameters' length a rule may hold.
[[nodiscard]] std::size_t local_rule_vectors(Local kind);

}  // namespace p2p::core
