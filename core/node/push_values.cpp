#include "core/node/push_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/mixing/guard.hpp"

namespace p2p::core {

namespace {

double norm_of(const Kernels& kernels, FloatView values) {
    return std::sqrt(kernels.sum_of_squares(values.data(), values.size()));
}

Bytes salted(std::uint64_t salt, const Bytes& encoding) {
    Bytes bytes(push_salt_bytes + encoding.size());
    store_le(bytes.data(), salt);
    std::copy(encoding.begin(), encoding.end(), bytes.begin() + push_salt_bytes);
    return bytes;
}

}  // namespace

PushValues::Made PushValues::make(const EncodePush& order, FloatView snapshot) {
    Made made;
    made.own_norm = norm_of(*kernels_, snapshot);
    made.finite = std::isfinite(made.own_norm);
    if (order.kind == PushKind::update) {
        if (made.finite) made = make_update(order, snapshot);
        return made;
    }
    if (!made.finite) return made;
    made.bytes =
        salted(order.seed, encode(*kernels_, {.codec = order.codec}, snapshot, order.seed));
    return made;
}

/// Sarfi et al. 2025 (arXiv:2508.15706), algorithm 1, lines 6 to 12, of this replica's own update.
PushValues::Made PushValues::make_update(const EncodePush& order, FloatView snapshot) {
    Made made;
    made.own_norm = norm_of(*kernels_, snapshot);
    if (order.n == SwapNumber{} || begun_.empty()) {
        begun_.assign(snapshot.begin(), snapshot.end());
        untold_.assign(snapshot.size(), 0.0F);
        return made;
    }
    const auto feedback = static_cast<float>(order.feedback);
    for (std::size_t i = 0; i < snapshot.size(); ++i)
        untold_[i] = feedback * untold_[i] + (begun_[i] - snapshot[i]);
    const Coding coding{.codec = order.codec};
    const Bytes encoding = encode(*kernels_, coding, untold_, order.seed);
    made.bytes = salted(order.seed, encoding);
    std::vector<float> told(snapshot.size());
    made.finite = decode(*kernels_, coding, encoding, told).is_ok();
    made.displacement.resize(snapshot.size());
    const auto weight = static_cast<float>(order.weight);
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
        untold_[i] -= told[i];
        begun_[i] -= weight * told[i];
        made.displacement[i] = begun_[i] - snapshot[i];
    }
    return made;
}

PushValues::Taken PushValues::take(const AbsorbPush& order, ByteView bytes, FloatView snapshot) {
    Taken taken;
    taken.measured.own_norm = norm_of(*kernels_, snapshot);
    std::vector<float> value(snapshot.size());
    const bool has_salt = bytes.size() >= push_salt_bytes;
    const ByteView encoding = has_salt ? bytes.subspan(push_salt_bytes) : ByteView{};
    if (!decode(*kernels_, {.codec = order.codec}, encoding, value)) {
        taken.measured.why = SwapReason::malformed;
        return taken;
    }
    if (order.kind != PushKind::update) {
        take_value(order, snapshot, value, taken);
        return taken;
    }
    taken.measured.distance = norm_of(*kernels_, value);
    if (!std::isfinite(taken.measured.distance)) {
        taken.measured.why = SwapReason::not_finite;
        return taken;
    }
    const auto weight = static_cast<float>(order.weight);
    taken.displacement.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i)
        taken.displacement[i] = -weight * value[i];
    if (!begun_.empty()) {
        kernels_->add(taken.displacement.data(), value.size(), begun_.data());
    }
    taken.measured.displacement_norm = norm_of(*kernels_, taken.displacement);
    return taken;
}

void PushValues::take_value(
    const AbsorbPush& order, FloatView snapshot, FloatView value, Taken& taken) {
    Absorbed& measured = taken.measured;
    std::vector<float> way(value.size());
    std::transform(value.begin(), value.end(), snapshot.begin(), way.begin(), std::minus<>());
    measured.distance = norm_of(*kernels_, way);
    Decoded both;
    both.distance = measured.distance;
    both.own_norm = measured.own_norm;
    both.remote_norm = norm_of(*kernels_, value);
    both.finite = std::isfinite(both.remote_norm);
    measured.why = judge(order.guard, both);
    const bool looks = order.guard.descent;
    if (looks && measured.why == SwapReason::none && !leads_down(snapshot, way, order.steps)) {
        measured.why = SwapReason::ascent;
    }
    if (measured.why == SwapReason::none) {
        const auto weight = static_cast<float>(order.weight);
        for (float& each : way)
            each *= weight;
        measured.displacement_norm = norm_of(*kernels_, way);
        taken.displacement = std::move(way);
    }
    if (!looks) return;
    at_look_.assign(snapshot.begin(), snapshot.end());
    if (taken.displacement.empty()) return;
    kernels_->add(taken.displacement.data(), taken.displacement.size(), at_look_.data());
}

/// Whether a step on from here, as the local ones since the last look on average, comes nearer to
/// the value (Keuper, Pfreundt 2015, arXiv:1505.04956, eq. 4): |x + s - v| < |x - v|.
bool PushValues::leads_down(FloatView snapshot, FloatView way, std::uint64_t steps) const {
    if (at_look_.empty()) return true;
    double along = 0;
    double squares = 0;
    const auto count = static_cast<double>(steps);
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
        const double moved = static_cast<double>(snapshot[i]) - static_cast<double>(at_look_[i]);
        along += moved / count * static_cast<double>(way[i]);
        squares += moved / count * moved / count;
    }
    return 2 * along > squares;
}

}  // namespace p2p::core
