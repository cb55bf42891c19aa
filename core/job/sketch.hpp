#pragma once

// A small picture of a replica, by which others judge how far two replicas lie apart without
// moving parameters: a count-sketch (Charikar, Chen and Farach-Colton, "Finding frequent items in
// data streams", 2002), 128 cells of IEEE half precision.
//
// Each parameter is added, with a sign, to one cell; both follow from its place alone, so the
// sketches of all nodes can be compared. It says nothing of who may be believed (core/job/joining).

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace p2p::core {

struct Sketch {
    static constexpr std::size_t cells = 128;

    std::array<std::uint16_t, cells> half{};  ///< IEEE 754 binary16; never infinite, never NaN

    bool operator==(const Sketch&) const = default;
};

/// One pass over `parameters`, in flat order. A cell beyond what half precision holds, or that is
/// no number, is told as the largest.
[[nodiscard]] Sketch sketch_of(FloatView parameters);

/// An estimate of |a - b| in L2: its relative deviation is about sqrt(2 / 128), and rounding to
/// half precision adds at most about 3e-4 of the norm.
[[nodiscard]] double sketch_distance(const Sketch& a, const Sketch& b);

/// An estimate of |a| in L2, as good.
[[nodiscard]] double sketch_norm(const Sketch& sketch);

/// Whether every cell is a number; others come from no sketch_of().
[[nodiscard]] bool is_sketch(const Sketch& sketch);

}  // namespace p2p::core
