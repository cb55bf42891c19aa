#pragma once

// Whom a node meets in a round of a recipe whose partners follow a schedule, and with which weight.
//
// A function of the members, the round and the job's seed, so that all who know the same members
// come to the same pairs without a word. Where they don't, a meeting is turned down, and the mean
// stays where it is all the same. When a round begins is mixer's business.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/types.hpp"
#include "core/mixing/recipe.hpp"

namespace p2p::core {

struct MemberPlace {
    PeerId id;
    std::string site;

    bool operator==(const MemberPlace&) const = default;
};

struct Meeting {
    PeerId peer;
    float weight = 0;  ///< in (0, 1)
};

/// Those of one node that begin at the same time.
using OwnPhase = std::vector<Meeting>;

/// All phases of a round, empty ones included: the others of the group count them too.
/// @pre `members` are in the order of their ids, `self` among them; the recipe is scheduled
[[nodiscard]] std::vector<OwnPhase> meetings_of(
    PeerId self,
    const PartnerSpec& partners,
    const std::vector<MemberPlace>& members,
    Round round,
    std::uint64_t seed);

/// The phases of `self` in the exact sequence of pairs over `members`, in the order given.
/// @pre `self` is among them
[[nodiscard]] std::vector<OwnPhase> exact_meetings(
    PeerId self, const std::vector<MemberPlace>& members);

}  // namespace p2p::core
