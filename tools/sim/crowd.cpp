#include "tools/sim/crowd.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"

namespace p2p::sim {

using core::Rng;

namespace {

constexpr std::uint64_t stream_sites = 1;
constexpr std::uint64_t stream_wires = 2;
constexpr double speed_least = 0.02;
constexpr double speed_most = 20;

/// Each decade as likely as the others.
double draw_rate(const Crowd& crowd, Rng& rng) {
    const double decades = std::log(crowd.bytes_per_second_most / crowd.bytes_per_second_least);
    return crowd.bytes_per_second_least * std::exp(decades * rng.uniform());
}

/// Up to `room` nodes.
void draw_site(Stage& stage, std::size_t room, Rng rng) {
    const Crowd& crowd = *stage.crowd;
    Site site;
    site.name = "s" + std::to_string(stage.sites.size() + 1);
    site.up_bytes_per_second = draw_rate(crowd, rng);
    site.down_bytes_per_second = draw_rate(crowd, rng);
    const std::size_t drawn = 1 + rng.below(2 * crowd.nodes_a_site - 1);
    for (std::size_t i = 0; i < std::min(drawn, room); ++i) {
        const double speed = std::exp(crowd.speed_spread * rng.normal());
        stage.nodes.push_back(
            {.site = stage.sites.size(), .speed = std::clamp(speed, speed_least, speed_most)});
    }
    stage.sites.push_back(site);
}

}  // namespace

void draw_crowd(Stage& stage, std::size_t nodes) {
    P2P_CHECK(stage.crowd.has_value() && nodes > 0);
    const Crowd& crowd = *stage.crowd;
    const Rng rng(crowd.seed);
    stage.sites.clear();
    stage.nodes.clear();
    const Rng of_sites = rng.split(stream_sites);
    while (stage.nodes.size() < nodes)
        draw_site(stage, nodes - stage.nodes.size(), of_sites.split(stage.sites.size()));
    const std::size_t sites = stage.sites.size();
    const Rng of_wires = rng.split(stream_wires);
    stage.wires.assign(sites * sites, {});
    for (std::size_t a = 0; a < sites; ++a) {
        stage.wires[a * sites + a] = {.round_trip = stage.sites[a].inside_round_trip};
        for (std::size_t b = 0; b < a; ++b) {
            Rng wire = of_wires.split(a << 32U | b);
            const double factor = std::exp(crowd.round_trip_spread * wire.normal());
            const Between between{
                .round_trip = core::from_seconds(core::to_seconds(crowd.round_trip) * factor)};
            stage.wires[a * sites + b] = between;
            stage.wires[b * sites + a] = between;
        }
    }
}

}  // namespace p2p::sim
