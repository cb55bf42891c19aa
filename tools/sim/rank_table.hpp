#pragma once

// How near each recipe is to the best one, over many stages: what a user asks who does not know her
// mesh yet. Times are told by outcome.hpp's curves; running is rank.cpp's.

#include <optional>
#include <string>
#include <vector>

#include "proto/json_fwd.hpp"

namespace p2p::sim {

/// Seconds to the target of one stage, in the order of the recipes; nothing: it was not reached.
struct StageTimes {
    std::string stage;
    double target = 0;           ///< accuracy, a ratio
    std::optional<double> free;  ///< of one model at no cost
    std::vector<std::optional<double>> seconds;
};

/// Of one recipe over the stages on which any recipe reached the target.
struct Standing {
    std::string recipe;
    std::size_t stages = 0;         ///< counted
    std::size_t reached = 0;        ///< ... by this recipe
    std::size_t won = 0;            ///< ... before all others
    std::optional<double> median;   ///< of its time over that of the best other recipe; nothing:
    std::optional<double> worst;    ///< where it did not get there
    std::optional<double> of_free;  ///< median of a free network's time over its own
};

[[nodiscard]] std::vector<Standing> standings(
    const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages);

/// A row for each stage, then one for each recipe.
[[nodiscard]] std::string rank_table(
    const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages);

/// "p2psim.rank/1"
[[nodiscard]] proto::Json rank_json(
    const std::vector<std::string>& recipes, const std::vector<StageTimes>& stages);

}  // namespace p2p::sim
