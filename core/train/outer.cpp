#include "core/train/outer.hpp"

#include "core/base/check.hpp"

namespace p2p::core {

OuterMomentum::OuterMomentum(FloatView replica)
    : anchor_(replica.begin(), replica.end()),
      velocity_(replica.size()) {}

std::vector<float> OuterMomentum::step(FloatView replica, const OuterSettings& settings) {
    P2P_CHECK(replica.size() == anchor_.size());
    const auto eta = static_cast<float>(settings.rate);
    const auto mu = static_cast<float>(settings.momentum);
    const auto share = static_cast<float>(settings.strength);
    std::vector<float> displacement(replica.size());
    for (std::size_t i = 0; i < replica.size(); ++i) {
        const float pseudo_gradient = anchor_[i] - replica[i];
        velocity_[i] = mu * velocity_[i] + pseudo_gradient;
        const float direction =
            settings.looks_ahead ? pseudo_gradient + mu * velocity_[i] : velocity_[i];
        const float next = anchor_[i] - eta * direction;
        displacement[i] = share * (next - replica[i]);
        anchor_[i] = replica[i] + displacement[i];
    }
    return displacement;
}

}  // namespace p2p::core
