#include "core/job/joining.hpp"

#include <algorithm>

namespace p2p::core {

namespace {

constexpr std::size_t witnesses_enough = 2;
constexpr double distances_allowed = 3;
constexpr double rates_allowed = 2;
constexpr double rounding_ratio = 1e-3;  // of half precision, of the norm

double allowed_distance(TimePoint now, const Members::Member& witness, double donor_ratio) {
    const JobReport& report = witness.report.value;
    const double norm = sketch_norm(*report.sketch);
    // The offered state may be as old as a sketch.
    const double seconds = to_seconds(now - witness.sketched_at + sketch_interval);
    return (distances_allowed * std::max(report.distance_ratio, donor_ratio) + rounding_ratio)
               * norm
           + rates_allowed * *witness.moved_per_second * seconds;
}

}  // namespace

Witnesses judge_state(TimePoint now, PeerId donor, const Sketch& offered, const Members& members) {
    const Members::Member* giver = members.find(donor);
    const double donor_ratio =
        giver == nullptr ? 0 : std::min(giver->report.value.distance_ratio, 1.0);
    std::size_t all = 0;
    std::size_t near = 0;
    std::size_t silent = 0;
    for (const PeerId peer : members.live_in(now, {JobState::running, JobState::finishing})) {
        if (peer == donor) continue;
        const Members::Member& witness = *members.find(peer);
        ++all;
        if (!witness.report.value.sketch || !witness.moved_per_second) {
            ++silent;
            continue;
        }
        const double distance = sketch_distance(offered, *witness.report.value.sketch);
        if (distance <= allowed_distance(now, witness, donor_ratio)) ++near;
    }
    const std::size_t needed = std::min(all, witnesses_enough);
    if (near >= needed) return Witnesses::agree;
    return near + silent >= needed ? Witnesses::wait : Witnesses::differ;
}

}  // namespace p2p::core
