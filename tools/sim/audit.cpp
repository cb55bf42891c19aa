#include "tools/sim/audit.hpp"

#include <cstdint>
#include <vector>

#include "core/codec/hash.hpp"

namespace p2p::sim {

namespace {

constexpr std::size_t wakings_an_instant_max = 100;

/// Of the displacement as the low end adds it: the sign of each float is turned on the high end.
core::Hash128 magnitude_hash(core::FloatView displacement, bool is_low) {
    std::vector<float> values(displacement.begin(), displacement.end());
    for (float& value : values)
        value = is_low ? value + 0.0F : 0.0F - value;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    return core::hash128({}, {bytes, values.size() * sizeof(float)});
}

}  // namespace

void Audit::on_applied(
    std::size_t node,
    std::size_t peer,
    const Lives& lives,
    const core::Apply& order,
    core::FloatView displacement) {
    const Life own{node, lives.self.value};
    const Life other_end{peer, lives.peer.value};
    const Swap swap{
        order.self_is_low ? own : other_end,
        order.self_is_low ? other_end : own,
        order.edge.shard.value,
        order.n.value};
    const Half mine{
        .is_low = order.self_is_low,
        .magnitude = magnitude_hash(displacement, order.self_is_low),
        .weight = order.weight};
    const auto found = half_.find(swap);
    if (found == half_.end()) {
        half_.emplace(swap, mine);
        return;
    }
    const Half other = found->second;
    half_.erase(found);
    ++matched_;
    if (fault_) return;
    const std::string which = "swap " + std::to_string(order.n.value) + " of nodes "
                              + std::to_string(node) + " and " + std::to_string(peer);
    if (other.is_low == mine.is_low) {
        fault_ = which + " was applied twice by the same end";
    } else if (other.weight != mine.weight) {
        fault_ = which + " has two weights";
    } else if (!(other.magnitude == mine.magnitude)) {
        fault_ = which + " moved the two ends by different amounts: the mean has shifted";
    }
}

void Audit::on_woken(std::size_t node, core::TimePoint now) {
    Waking& waking = waking_[node];
    waking.times = waking.at == now ? waking.times + 1 : 0;
    waking.at = now;
    if (waking.times < wakings_an_instant_max || fault_) return;
    fault_ = "node " + std::to_string(node) + " wants to be woken over and over at "
             + std::to_string(core::to_seconds(now.time_since_epoch())) + " s";
}

void Audit::on_killed(std::size_t node) {
    std::erase_if(half_, [node](const auto& entry) {
        return std::get<0>(entry.first).first == node || std::get<1>(entry.first).first == node;
    });
}

void Audit::on_unreadable(std::size_t from, std::size_t to, const core::Error& why) {
    if (fault_) return;
    fault_ = "what n" + std::to_string(from + 1) + " said, n" + std::to_string(to + 1)
             + " could not read: " + why.text();
}

}  // namespace p2p::sim
