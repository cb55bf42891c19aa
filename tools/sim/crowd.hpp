#pragma once

// Machines and wires drawn from a seed, as many as are asked for: the stage "crowd".
//
// The first nodes of a larger crowd are the nodes of a smaller one: a site, and the wire between
// two sites, are drawn from the seed and their numbers alone. What the figures should be is the
// stage file's.

#include <cstddef>

#include "tools/sim/stage.hpp"

namespace p2p::sim {

/// Fills the stage's sites, nodes and wires with `nodes` machines of its crowd.
/// @pre the stage has a crowd, nodes > 0
void draw_crowd(Stage& stage, std::size_t nodes);

}  // namespace p2p::sim
