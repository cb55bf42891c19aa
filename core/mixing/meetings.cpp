#include "core/mixing/meetings.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"
#include "core/mixing/averaging.hpp"
#include "core/mixing/density.hpp"

namespace p2p::core {

namespace {

using Ids = std::vector<PeerId>;

/// The phases of `self` in a sequence over `group`.
std::vector<OwnPhase> own_part(PeerId self, const Ids& group, const std::vector<Phase>& phases) {
    const auto own = std::find(group.begin(), group.end(), self);
    P2P_CHECK(own != group.end());
    const auto index = static_cast<std::size_t>(own - group.begin());
    std::vector<OwnPhase> mine(phases.size());
    for (std::size_t i = 0; i < phases.size(); ++i) {
        for (const WeightedPair& pair : phases[i]) {
            if (pair.low != index && pair.high != index) continue;
            const PeerId peer = group[pair.low == index ? pair.high : pair.low];
            mine[i].push_back({.peer = peer, .weight = static_cast<float>(pair.weight)});
        }
    }
    return mine;
}

std::vector<OwnPhase> exact_in(PeerId self, const Ids& group, std::uint32_t peers_a_phase) {
    return own_part(self, group, exact_sequence(group.size(), peers_a_phase));
}

Ids shuffled(Ids ids, Round round, std::uint64_t seed) {
    Rng rng(mix_key(seed, round.value));
    rng.shuffle(std::span<PeerId>(ids));
    return ids;
}

/// Both neighbours on the ring, by Metropolis weights; two members are one pair.
std::vector<OwnPhase> on_ring(PeerId self, const Ids& order) {
    const std::size_t n = order.size();
    Phase phase;
    for (std::size_t i = 0; i < n && n > 1; ++i) {
        if (n == 2 && i == 1) break;
        phase.push_back({.low = i, .high = (i + 1) % n, .weight = n == 2 ? 0.5 : 1.0 / 3});
    }
    return own_part(self, order, {phase});
}

/// The member whose number differs in one bit, the bits in turn: after log2 n rounds exact where n
/// is a power of two (the one-peer exponential graph of Ying et al. 2021, arXiv:2110.13363, with
/// pairs for its directed edges).
std::vector<OwnPhase> exponential(PeerId self, const Ids& order, Round round) {
    std::uint64_t bits = 0;
    while ((std::size_t{1} << bits) < order.size())
        ++bits;
    if (bits == 0) return {};
    const std::size_t hop = std::size_t{1} << (round.value % bits);
    Phase phase;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t other = i ^ hop;
        if (i < other && other < order.size())
            phase.push_back({.low = i, .high = other, .weight = 0.5});
    }
    return own_part(self, order, {phase});
}

/// The members cut into groups of nearly `size`, in this order.
Ids group_of(PeerId self, const Ids& order, std::size_t size) {
    const std::size_t count = std::max<std::size_t>(1, order.size() / size);
    const auto own = std::find(order.begin(), order.end(), self);
    const auto index = static_cast<std::size_t>(own - order.begin());
    Ids group;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i % count == index % count) group.push_back(order[i]);
    }
    return group;
}

/// Those that differ from this node in one digit of their number, the digits in turn (Ryabinin et
/// al. 2021, arXiv:2103.03239, section 3.2).
Ids grid_group(PeerId self, const Ids& order, std::size_t side, Round round) {
    std::size_t digits = 1;
    for (std::size_t covered = side; covered < order.size(); covered *= side)
        ++digits;
    std::size_t stride = 1;
    for (std::uint64_t i = 0; i < round.value % digits; ++i)
        stride *= side;
    const auto own = std::find(order.begin(), order.end(), self);
    const auto index = static_cast<std::size_t>(own - order.begin());
    const std::size_t first = index - index / stride % side * stride;
    Ids group;
    for (std::size_t digit = 0; digit < side; ++digit) {
        if (first + digit * stride < order.size()) group.push_back(order[first + digit * stride]);
    }
    return group;
}

}  // namespace

std::vector<OwnPhase> exact_meetings(PeerId self, const std::vector<MemberPlace>& members) {
    Ids ids;
    for (const MemberPlace& member : members)
        ids.push_back(member.id);
    return exact_in(self, ids, /*peers_a_phase=*/1);
}

std::vector<OwnPhase> meetings_of(
    PeerId self,
    const PartnerSpec& partners,
    const std::vector<MemberPlace>& members,
    Round round,
    std::uint64_t seed) {
    Ids ids;
    Ids site;
    const auto own = std::find_if(
        members.begin(), members.end(), [&](const auto& member) { return member.id == self; });
    P2P_CHECK(own != members.end());
    for (const MemberPlace& member : members) {
        ids.push_back(member.id);
        if (member.site == own->site) site.push_back(member.id);
    }
    const std::uint32_t k = partners.peers_a_phase;
    const std::size_t size = partners.group_size;
    switch (partners.kind) {
        case Partners::exponential: return exponential(self, ids, round);
        case Partners::ring: return on_ring(self, ids);
        case Partners::random_ring: return on_ring(self, shuffled(ids, round, seed));
        case Partners::groups:
            if (size == 0) return exact_in(self, ids, k);
            return exact_in(self, group_of(self, shuffled(ids, round, seed), size), k);
        case Partners::grid:
            return exact_in(self, size == 0 ? ids : grid_group(self, ids, size, round), k);
        case Partners::density:
            return own_part(self, ids, {sparse_graph(members, partners.eigenvalue_max)});
        case Partners::sites: return exact_in(self, site, k);
        case Partners::all: return exact_in(self, ids, k);
        case Partners::neighbours:
        case Partners::random:
        case Partners::linked: break;
    }
    P2P_CHECK(false);  // not scheduled
    return {};
}

}  // namespace p2p::core
