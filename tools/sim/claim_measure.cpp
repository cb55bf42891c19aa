#include "tools/sim/claim_measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/check.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double megabytes_least = 1e-6;  // of a ratio: a byte

/// A loss of a model that has come apart tells no more than that it has.
double bounded(double loss, double loss_most) {
    return loss < loss_most ? loss : loss_most;  // as NaN is
}

/// Of the whole test set, the median over the nodes.
double final_loss(const Outcome& outcome, double loss_most) {
    std::vector<double> losses;
    losses.reserve(outcome.nodes.size());
    for (const NodeOutcome& node : outcome.nodes)
        losses.push_back(bounded(node.loss, loss_most));
    return losses.empty() ? loss_most : median_of(losses);
}

double final_accuracy(const Outcome& outcome) {
    std::vector<double> accuracies;
    accuracies.reserve(outcome.nodes.size());
    for (const NodeOutcome& node : outcome.nodes)
        accuracies.push_back(node.accuracy);
    return median_of(accuracies);
}

double along(const CurvePoint& point, Measure measure) {
    return measure == Measure::bytes ? point.megabytes : point.seconds;
}

/// Seconds or megabytes until the loss is down at the target, on the straight line between looks.
std::optional<double> until_target(const Outcome& outcome, Measure measure, double target) {
    const auto& curve = outcome.curve;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        if (!(curve[i].loss_median <= target)) continue;
        const double here = along(curve[i], measure);
        if (i == 0 || !std::isfinite(curve[i - 1].loss_median)) return here;
        const double fall = curve[i - 1].loss_median - curve[i].loss_median;
        const double share = (curve[i - 1].loss_median - target) / fall;
        const double before = along(curve[i - 1], measure);
        return before + share * (here - before);
    }
    return std::nullopt;
}

double loss_at_megabytes(const Outcome& outcome, double megabytes, double loss_most) {
    const auto& curve = outcome.curve;
    const auto after = std::find_if(curve.begin(), curve.end(), [&](const CurvePoint& point) {
        return point.megabytes > megabytes;
    });
    if (after == curve.end()) return loss_at_end(outcome, loss_most);
    const double there = bounded(after->loss_median, loss_most);
    if (after == curve.begin()) return there;
    const auto before = after - 1;
    const double share = (megabytes - before->megabytes) / (after->megabytes - before->megabytes);
    const double loss = bounded(before->loss_median, loss_most);
    return loss + share * (there - loss);
}

/// What the whole run took.
double whole(const Outcome& outcome, Measure measure) {
    return outcome.curve.empty() ? 0 : along(outcome.curve.back(), measure);
}

bool is_short(Measure measure, const Outcome& outcome, const Yardstick& yardstick) {
    if (!outcome.is_finished) return true;
    return has_target(measure) && !until_target(outcome, measure, yardstick.target_loss);
}

/// Whose differences are taken: a ratio's logarithm.
double reading(
    Measure measure, const Outcome& outcome, const Yardstick& yardstick, std::size_t pair) {
    switch (measure) {
        case Measure::loss: return final_loss(outcome, yardstick.loss_most);
        case Measure::loss_at_bytes:
            return loss_at_megabytes(outcome, yardstick.megabytes.at(pair), yardstick.loss_most);
        case Measure::accuracy: return -100 * final_accuracy(outcome);
        case Measure::time:
        case Measure::bytes: break;
    }
    const auto reached = until_target(outcome, measure, yardstick.target_loss);
    return std::log(std::max(reached.value_or(whole(outcome, measure)), megabytes_least));
}

}  // namespace

double student_t95(std::size_t degrees) {
    P2P_CHECK(degrees > 0);
    constexpr std::array<double, 20> table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                           2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                           2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    if (degrees <= table.size()) return table[degrees - 1];
    // The normal's, and two terms of the expansion in 1 / degrees (Fisher, Cornish 1960).
    constexpr double z = 1.959964;
    constexpr double first = (z * z * z + z) / 4;
    constexpr double second = (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / 96;
    const auto n = static_cast<double>(degrees);
    return z + first / n + second / (n * n);
}

std::vector<double> megabytes_of_both(
    const std::vector<Outcome>& recipe, const std::vector<Outcome>& baseline) {
    P2P_CHECK(recipe.size() == baseline.size());
    std::vector<double> megabytes;
    for (std::size_t i = 0; i < recipe.size(); ++i) {
        megabytes.push_back(
            std::min(whole(recipe[i], Measure::bytes), whole(baseline[i], Measure::bytes)));
    }
    return megabytes;
}

double score(
    Measure measure, const Outcome& outcome, const Yardstick& yardstick, std::size_t pair) {
    if (is_short(measure, outcome, yardstick)) return infinite;
    return reading(measure, outcome, yardstick, pair);
}

double loss_at_end(const Outcome& outcome, double loss_most) {
    return outcome.curve.empty() ? loss_most : bounded(outcome.curve.back().loss_median, loss_most);
}

Finding compare_runs(
    const Claim& claim,
    const std::vector<Outcome>& recipe,
    const std::vector<Outcome>& baseline,
    const Yardstick& yardstick) {
    P2P_CHECK(recipe.size() == baseline.size() && recipe.size() >= 2);
    Finding finding;
    std::vector<double> differences;
    for (std::size_t i = 0; i < recipe.size(); ++i) {
        differences.push_back(
            reading(claim.measure, recipe[i], yardstick, i)
            - reading(claim.measure, baseline[i], yardstick, i));
        if (is_short(claim.measure, recipe[i], yardstick)) ++finding.recipe_short;
        if (is_short(claim.measure, baseline[i], yardstick)) ++finding.baseline_short;
    }
    const auto n = static_cast<double>(differences.size());
    double mean = 0;
    for (const double difference : differences)
        mean += difference / n;
    double squares = 0;
    for (const double difference : differences)
        squares += (difference - mean) * (difference - mean);
    const double half = student_t95(differences.size() - 1) * std::sqrt(squares / (n - 1) / n);
    const auto shown = [&](double value) {
        return has_target(claim.measure) ? std::exp(value) : value;
    };
    finding.value = shown(mean);
    finding.low = shown(mean - half);
    finding.high = shown(mean + half);
    finding.holds = finding.recipe_short == 0 && finding.high <= claim.bound;
    return finding;
}

}  // namespace p2p::sim
