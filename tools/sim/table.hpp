#pragma once

// Outcomes as people and programs read them: a table with a row a way of mixing, JSON, a line of
// progress. What a figure means is outcome.hpp's.

#include <optional>
#include <string>
#include <vector>

#include "proto/json_fwd.hpp"
#include "tools/sim/outcome.hpp"

namespace p2p::sim {

/// Rows that line up under their headings, two spaces apart: numbers to the right, words to the
/// left.
[[nodiscard]] std::string lined_up(const std::vector<std::vector<std::string>>& rows);

/// One row for each recipe, in the order given, the median of its seeds; `target` is an accuracy,
/// 0: none is asked for. At most 120 columns.
///
/// TIME (s), MB (a node) and KSAMP (thousands, of the mesh) until the median node has the target;
/// EFF: a free network's time to it over this one's, %. At the end: ACCURACY (%) of the least, the
/// median and the best node, test LOSS of the median one, END (s), MB-END; UTIL (%) of the node
/// that stood still most and WAIT (s) of the one that waited longest between two steps; DIST: the
/// consensus distance half-way; RHO: a swap's time over a step's.
[[nodiscard]] std::string outcome_table(const std::vector<Outcome>& outcomes, double target);

/// Each node of one outcome.
[[nodiscard]] std::string node_table(const Outcome& outcome);

/// "p2psim.outcome/1"
[[nodiscard]] proto::Json outcome_json(const Outcome& outcome);

/// What outcome_json gives, read back. @pre this program wrote it
[[nodiscard]] Outcome outcome_from_json(const proto::Json& json);

/// "  31 %  at 12.3 s  accuracy 86.9 %  distance 0.012"
[[nodiscard]] std::string progress_line(const CurvePoint& point, double progress_ratio);

/// What one model at no cost reaches, the median of its seeds, less `below`; 0 where no outcome is
/// of `free`.
[[nodiscard]] double target_of(const std::vector<Outcome>& outcomes, double below);

/// Seconds until the median of a recipe's seeds has the target; nothing where not more than half of
/// them got there.
[[nodiscard]] std::optional<double> seconds_to(
    const std::vector<Outcome>& outcomes, const std::string& recipe, double target);

inline constexpr double target_below_free = 0.005;

[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace p2p::sim
