#include "daemon/trainer_outer.hpp"

#include <utility>
#include <vector>

namespace p2p::daemon {

namespace {

using Tell = std::function<void(core::WorkResult)>;

/// On a worker.
void tell_later(const OuterTools& tools, const Tell& tell, core::WorkResult result) {
    tools.post([tell, result = std::move(result)] { tell(result); });
}

/// On the loop thread.
void add(
    const OuterTools& tools,
    const std::shared_ptr<const std::vector<float>>& moved,
    const Tell& tell) {
    Trainer* trainer = tools.trainer();
    if (trainer == nullptr) return tell(trainer_gone());
    trainer->add(tools.all, moved, [post = tools.post, tell](const core::Status& status) {
        post([tell, status] {
            tell(
                status ? core::WorkResult(core::OuterStepped{}) : core::WorkResult(status.error()));
        });
    });
    trainer->mark_outer_step();
}

/// On a worker.
void compute(
    const core::OuterStep& order,
    const OuterTools& tools,
    const std::vector<float>& replica,
    const Tell& tell) {
    OuterState& state = *tools.state;
    if (!state) {
        state.emplace(replica);
        return tell_later(tools, tell, core::OuterStepped{});
    }
    auto moved = std::make_shared<const std::vector<float>>(state->step(replica, order.settings));
    tools.post([tools, moved, tell] { add(tools, moved, tell); });
}

}  // namespace

void step_outer(const core::OuterStep& order, OuterTools tools, Tell tell) {
    Trainer* trainer = tools.trainer();
    if (trainer == nullptr) return tools.post([tell = std::move(tell)] { tell(trainer_gone()); });
    if (order.restarts) trainer->mark_outer_step();
    const core::ShardRange all = tools.all;
    trainer->snapshot(
        all,
        [order, tools = std::move(tools), tell = std::move(tell)](
            core::Result<std::vector<float>> values) {
            if (!values) return tell_later(tools, tell, values.error());
            tools.workers->submit([order, tools, tell, replica = *std::move(values)] {
                compute(order, tools, replica, tell);
            });
        });
}

}  // namespace p2p::daemon
