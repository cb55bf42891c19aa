#pragma once

// An outer step of one job here: asks its trainer where the replica stands, computes on a worker,
// has the trainer add the outcome. The same for native and external trainers, which know nothing
// of it. When one is due is the Node's decision; the arithmetic is core/train/outer.

#include <functional>
#include <memory>
#include <optional>

#include "core/node/work.hpp"
#include "core/train/outer.hpp"
#include "daemon/trainer.hpp"
#include "daemon/workers.hpp"

namespace p2p::daemon {

/// Used by one worker at a time, since the Node asks for one step at a time.
using OuterState = std::optional<core::OuterMomentum>;

struct OuterTools {
    std::function<Trainer*()> trainer;  ///< null: gone. Loop thread
    core::ShardRange all;               ///< the whole replica
    std::shared_ptr<OuterState> state;  ///< empty: this step only marks where the replica stands
    Workers* workers = nullptr;
    PostToLoop post;
};

/// `tell` is called on the loop thread, with OuterStepped or an error. Loop thread.
void step_outer(
    const core::OuterStep& order, OuterTools tools, std::function<void(core::WorkResult)> tell);

}  // namespace p2p::daemon
