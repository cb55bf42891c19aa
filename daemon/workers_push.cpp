#include "daemon/workers_push.hpp"

#include "core/codec/kernels.hpp"
#include "daemon/replica_blob.hpp"

namespace p2p::daemon {

namespace {

core::Error no_trainer() {
    return {core::ErrorCode::not_found, "this node does not train that job now", "", ""};
}

}  // namespace

PushDesk::PushDesk(EdgeTools tools, BlobStore& blobs)
    : tools_(std::move(tools)),
      blobs_(blobs),
      kernels_(core::kernels(tools_.kernel_level)) {}

PushDesk::Values PushDesk::values_of(core::JobId job, core::ShardIndex shard) {
    Values& values = values_[{job, shard}];
    if (!values) values = std::make_shared<core::PushValues>(kernels_);
    return values;
}

/// `use` runs on a worker.
void PushDesk::take_snapshot(
    core::JobId job,
    core::ShardRange range,
    core::Ticket ticket,
    std::function<void(const std::vector<float>&)> use) {
    Trainer* trainer = tools_.trainer_of(job);
    if (trainer == nullptr) {
        return tools_.post([this, ticket] { tools_.answer(ticket, no_trainer()); });
    }
    trainer->snapshot(
        range, [this, post = tools_.post, ticket, use = std::move(use)](Snapshot values) {
            if (!values) {
                return post(
                    [this, ticket, error = values.error()] { tools_.answer(ticket, error); });
            }
            tools_.workers->submit([use, values = *std::move(values)] { use(values); });
        });
}

void PushDesk::add_then_answer(
    core::JobId job,
    core::ShardRange range,
    std::vector<float> displacement,
    core::Ticket ticket,
    core::WorkResult result) {
    if (displacement.empty()) return tools_.answer(ticket, std::move(result));
    Trainer* trainer = tools_.trainer_of(job);
    if (trainer == nullptr) return tools_.answer(ticket, no_trainer());
    trainer->add(
        range,
        std::make_shared<const std::vector<float>>(std::move(displacement)),
        [this, post = tools_.post, ticket, result = std::move(result)](core::Status status) {
            post([this, ticket, result, status] {
                tools_.answer(ticket, status ? result : core::WorkResult(status.error()));
            });
        });
}

void PushDesk::encode(core::Ticket ticket, const core::EncodePush& order) {
    const auto make =
        [this, post = tools_.post, ticket, order, values = values_of(order.job, order.shard)](
            const std::vector<float>& snapshot) {
            auto made = std::make_shared<core::PushValues::Made>(values->make(order, snapshot));
            core::PushEncoded encoded{
                .finite = made->finite,
                .hash = {},
                .bytes = made->bytes.size(),
                .own_norm = made->own_norm};
            if (!made->bytes.empty()) encoded.hash = hash_blob(made->bytes);
            post([this, ticket, order, made, encoded] {
                if (encoded.bytes > 0) {
                    blobs_.put(
                        encoded.hash, std::make_shared<const core::Bytes>(std::move(made->bytes)));
                }
                add_then_answer(
                    order.job, order.range, std::move(made->displacement), ticket, encoded);
            });
        };
    take_snapshot(order.job, order.range, ticket, make);
}

void PushDesk::absorb(core::Ticket ticket, const core::AbsorbPush& order) {
    const auto bytes = blobs_.whole(order.hash);
    if (!bytes) {
        return tools_.post([this, ticket] {
            tools_.answer(ticket, core::Absorbed{.why = core::SwapReason::hash});
        });
    }
    const auto take = [this,
                       post = tools_.post,
                       ticket,
                       order,
                       bytes,
                       values =
                           values_of(order.job, order.shard)](const std::vector<float>& snapshot) {
        auto taken = std::make_shared<core::PushValues::Taken>();
        if (hash_blob(*bytes) == order.hash) {
            *taken = values->take(order, *bytes, snapshot);
        } else {
            taken->measured.why = core::SwapReason::hash;
        }
        post([this, ticket, order, taken] {
            add_then_answer(
                order.job, order.range, std::move(taken->displacement), ticket, taken->measured);
        });
    };
    take_snapshot(order.job, order.range, ticket, take);
}

void PushDesk::drop_job(core::JobId job) {
    std::erase_if(values_, [job](const auto& each) { return each.first.first == job; });
}

}  // namespace p2p::daemon
