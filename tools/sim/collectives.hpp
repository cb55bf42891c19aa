#pragma once

// What collective averages would take on a stage's wires, for the baselines: latency and rate are
// counted, and nothing is moved. What a baseline does between two averages is its own business.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tools/sim/stage.hpp"

namespace p2p::sim {

/// Times of collectives on a stage, every link otherwise idle, latency and rate counted once a hop.
class Collectives {
  public:
    Collectives(const Stage& stage, std::uint64_t floats)
        : stage_(stage),
          floats_(static_cast<double>(floats) * stage.message_scale) {}

    /// A ring over all nodes, site after site: 2 (n - 1) hops of a n-th of the model.
    [[nodiscard]] double flat_ring_seconds() const {
        const auto n = static_cast<double>(stage_.nodes.size());
        if (stage_.nodes.size() < 2) return 0;
        return 2 * (n - 1) * (floats_ * 4 / n / slowest_rate() + slowest_delay());
    }

    /// Reduced inside each site in fp32, averaged over a ring of the sites, told inside again.
    [[nodiscard]] double by_site_seconds(double bits) const {
        const auto s = static_cast<double>(stage_.sites.size());
        double inside = 0;
        for (const Site& site : stage_.sites) {
            inside = std::max(
                inside,
                2 * floats_ * 4 / site.inside_bytes_per_second
                    + 2 * core::to_seconds(site.inside_round_trip));
        }
        if (stage_.sites.size() < 2) return inside;
        const double across =
            2 * (s - 1) * (floats_ * bits / 8 / s / slowest_rate() + slowest_delay());
        return inside + across;
    }

    /// A node, of a ring: MEASURES counts them whatever moved.
    [[nodiscard]] double ring_megabytes(double bits) const {
        const auto n = static_cast<double>(stage_.nodes.size());
        return 2 * (n - 1) / n * floats_ * bits / 8 / 1e6;
    }

  private:
    [[nodiscard]] double slowest_rate() const {
        double rate = std::numeric_limits<double>::infinity();
        for (const Site& site : stage_.sites) {
            rate = std::min(
                {rate,
                 site.inside_bytes_per_second,
                 stage_.sites.size() > 1 ? site.up_bytes_per_second : rate,
                 stage_.sites.size() > 1 ? site.down_bytes_per_second : rate});
        }
        return rate;
    }

    /// Of the hops between sites that a ring has to take: the best order is not searched for.
    [[nodiscard]] double slowest_delay() const {
        double delay = 0;
        for (const Between& wire : stage_.wires)
            delay = std::max(delay, core::to_seconds(wire.round_trip) / 2);
        return delay;
    }

    const Stage& stage_;
    double floats_;
};

}  // namespace p2p::sim
