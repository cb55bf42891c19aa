#pragma once

// What one run of one way of mixing on one stage came to, as values; tables and lines for programs
// are made of them (table.hpp). Times are virtual seconds since the first step.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace p2p::sim {

/// One look at the mesh: the nodes' models on a part of the test set.
struct CurvePoint {
    double seconds = 0;
    double samples = 0;      ///< of the whole mesh
    double megabytes = 0;    ///< sent, a node, scaled as the stage says
    double loss_median = 0;  ///< over the nodes looked at
    double accuracy_median = 0;
    double distance_ratio = 0;  ///< consensus distance over the norm, mean of the nodes
};

inline constexpr std::size_t nodes_looked_at_max = 9;
inline constexpr std::size_t test_samples_a_look = 2000;

/// Every how manieth of `nodes` is looked at.
[[nodiscard]] std::size_t look_stride(std::size_t nodes);

/// The value in the middle, of an even number the upper: it is one that was there. 0 for none.
[[nodiscard]] double middle_of(std::vector<double> values);

/// The most that this process has had in memory so far.
[[nodiscard]] double memory_peak_megabytes();

struct NodeOutcome {
    double accuracy = 0;  ///< of the final model, whole test set
    double loss = 0;
    double utilization = 0;      ///< time in steps over time since the first
    double waiting_seconds = 0;  ///< between the end of a step and the next one, while it lived
    double samples = 0;
    double megabytes = 0;
    std::uint64_t swaps = 0;
};

struct Outcome {
    std::string recipe;
    std::string stage;
    std::uint64_t seed = 0;
    bool is_finished = false;  ///< the job ended on every live node
    std::string trouble;       ///< why not, or what the audit found
    double seconds = 0;        ///< until the last node was done
    double rho = 0;            ///< time to move one swap / time of one local step, typical link
    std::vector<CurvePoint> curve;
    std::vector<NodeOutcome> nodes;
    std::uint64_t digest = 0;
    std::uint64_t events = 0;
    double wall_seconds = 0;           ///< what the run took here
    double memory_peak_megabytes = 0;  ///< of the process that ran it

    /// First look at which the median node had reached `accuracy`.
    [[nodiscard]] std::optional<CurvePoint> reached(double accuracy) const;
};

}  // namespace p2p::sim
