// Pushes at a machine of the world (tools/sim/workbench): made, served, taken in at once.

#include <utility>

#include "core/codec/kernels.hpp"
#include "tools/sim/workbench.hpp"

namespace p2p::sim {

namespace {

core::MutableFloatView view_of(Trainer& trainer, const core::ShardRange& range) {
    return trainer.parameters().subspan(range.offset, range.floats);
}

}  // namespace

core::PushValues& Workbench::push_values(core::JobId job, core::ShardIndex shard) {
    const auto& kernels = core::kernels(core::best_kernel_level());
    return pushes_.try_emplace({job, shard}, kernels).first->second;
}

core::WorkResult Workbench::encode_push(const core::EncodePush& order, Trainer& trainer) {
    auto made = push_values(order.job, order.shard).make(order, view_of(trainer, order.range));
    if (!made.displacement.empty()) trainer.displace(order.range.offset, made.displacement);
    core::PushEncoded encoded{
        .finite = made.finite, .hash = {}, .bytes = made.bytes.size(), .own_norm = made.own_norm};
    if (made.bytes.empty()) return encoded;
    encoded.hash = hash_of(made.bytes);
    serve(encoded.hash, std::move(made.bytes));
    return encoded;
}

core::WorkResult Workbench::absorb_push(const core::AbsorbPush& order, Trainer& trainer) {
    const auto bytes = blob(order.hash);
    if (!bytes || hash_of(*bytes) != order.hash) {
        return core::Absorbed{.why = core::SwapReason::hash};
    }
    const auto taken =
        push_values(order.job, order.shard).take(order, *bytes, view_of(trainer, order.range));
    if (!taken.displacement.empty()) trainer.displace(order.range.offset, taken.displacement);
    return taken.measured;
}

}  // namespace p2p::sim
