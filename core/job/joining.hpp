#pragma once

// Whether a state that one member offers to a node that lags is what the mesh trains: other
// members' sketches must lie near it (design: JOBS, "Joining, and coming back"). So one hostile
// donor cannot hand a joiner a model of its own.
//
// Decides on what members have told; asks and fetches nothing.

#include <cstdint>

#include "core/job/members.hpp"
#include "core/job/sketch.hpp"

namespace p2p::core {

inline constexpr Duration sketch_interval = std::chrono::seconds{5};  ///< of each member

enum class Witnesses : std::uint8_t {
    agree,   ///< two members' sketches lie near it: all of them, where fewer take part
    wait,    ///< some that could agree have not told two sketches yet
    differ,  ///< it lies too far from them
};

/// `offered` is the sketch of the state that `donor` froze lately.
///
/// Near is: within 3 times the consensus distance that either end tells, and what the witness's
/// replica has moved since its sketch, at twice the rate of its last two sketches. Nobody else
/// takes part: they agree.
[[nodiscard]] Witnesses judge_state(
    TimePoint now, PeerId donor, const Sketch& offered, const Members& members);

}  // namespace p2p::core
