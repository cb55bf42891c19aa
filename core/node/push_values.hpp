#pragma once

// The arithmetic of pushes on one shard of a replica: what is sent, and what taking it in moves.
//
// Doers (the daemon's workers, the simulator) bring snapshots and bytes, and add what comes out to
// the live replica between two steps. When, to whom and with which weight is core/mixing/pusher.

#include <vector>

#include "core/base/bytes.hpp"
#include "core/codec/kernel_table.hpp"
#include "core/mixing/work.hpp"

namespace p2p::core {

/// Of one shard; one thread at a time.
class PushValues {
  public:
    /// `kernels` must outlive this.
    explicit PushValues(const Kernels& kernels)
        : kernels_(&kernels) {}

    struct Made {
        Bytes bytes;                      ///< empty: nothing is to be sent
        std::vector<float> displacement;  ///< to be added to the replica; empty: nothing is
        bool finite = true;
        double own_norm = 0;  ///< L2 of the snapshot
    };

    /// @pre the snapshot is order.range of the replica
    [[nodiscard]] Made make(const EncodePush& order, FloatView snapshot);

    struct Taken {
        Absorbed measured;
        std::vector<float> displacement;  ///< as of Made
    };

    /// What bytes that do not decode or do not pass the guard bring is a reason.
    [[nodiscard]] Taken take(const AbsorbPush& order, ByteView bytes, FloatView snapshot);

  private:
    [[nodiscard]] Made make_update(const EncodePush& order, FloatView snapshot);
    void take_value(const AbsorbPush& order, FloatView snapshot, FloatView value, Taken& taken);
    [[nodiscard]] bool leads_down(FloatView snapshot, FloatView way, std::uint64_t steps) const;

    const Kernels* kernels_;
    std::vector<float> begun_;    // where the round began; of updates
    std::vector<float> untold_;   // what was not told yet; of updates
    std::vector<float> at_look_;  // where the last look left the replica; of descent
};

}  // namespace p2p::core
