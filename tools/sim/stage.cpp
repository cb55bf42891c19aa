#include "tools/sim/stage.hpp"

#include <set>

#include "tools/sim/crowd.hpp"

namespace p2p::sim {

double Stage::steps_per_second() const {
    double speeds = 0;
    for (const Place& node : nodes)
        speeds += node.speed;
    return speeds / core::to_seconds(step_time);
}

std::size_t Stage::first_nodes() const {
    std::set<std::size_t> late;
    for (const StageEvent& event : events) {
        if (event.what == Mishap::join && event.target < nodes.size()) late.insert(event.target);
    }
    return nodes.size() - late.size();
}

void resize(Stage& stage, std::size_t nodes) {
    if (stage.crowd) {
        draw_crowd(stage, nodes);
        return;
    }
    const auto given = stage.nodes;
    stage.nodes.clear();
    for (std::size_t i = 0; i < nodes; ++i)
        stage.nodes.push_back(given[i % given.size()]);
}

}  // namespace p2p::sim
