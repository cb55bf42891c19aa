// Each kind of work that a Node asks for, from the loop to a thread and back (see workshop_floor).
//
// Two shapes: ask the trainer, then compute on a worker; or compute, then hand to the trainer.

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/limits.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/memory_limit.hpp"
#include "daemon/replica_blob.hpp"
#include "daemon/trainer_layout.hpp"
#include "daemon/workshop_floor.hpp"
#include "proto/spec.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Ticket;
using core::WorkResult;

namespace {

Error not_trained() {
    return {ErrorCode::not_found, "the job is not trained here", "", ""};
}

Error not_held() {
    return {ErrorCode::not_found, "that blob is not held whole", "", ""};
}

core::SpecRead read_spec(const core::ReadSpec& order) {
    if (core::JobId{hash_blob(*order.bytes).bytes} != order.job) {
        return {Error{ErrorCode::forged, "these bytes are not that job's spec", "", ""}};
    }
    return {proto::read_spec_canonical(*order.bytes)};
}

struct Recalled {
    core::BlobHash hash;
    std::shared_ptr<const core::Bytes> bytes;
};

/// The bytes of the final model, as its author froze them: a function of the parameters alone.
Result<Recalled> recall_final(const core::RecallFinal& order, const Path& state_dir) {
    const auto run = open_run_dir(state_dir, order.spec->name, *order.spec_bytes);
    if (!run) return run.error();
    std::vector<Error> broken;
    const auto newest = newest_checkpoint(*run, broken);
    if (!newest) return newest.error();
    const auto layout = replica_layout(order.spec->model);
    auto state = read_checkpoint(*newest, layout);
    if (!state) return state.error();
    state->optimizer.clear();
    auto bytes = std::make_shared<const core::Bytes>(freeze_replica(layout, *state));
    return Recalled{hash_blob(*bytes), std::move(bytes)};
}

}  // namespace

void Workshop::Floor::work(Ticket ticket, const core::ReadSpec& order) {
    workers_.submit([this, post = post_, ticket, order] {
        auto read = read_spec(order);
        post([this, ticket, order, read = std::move(read)] {
            if (read.spec) blobs_.put(core::BlobHash{order.job.bytes}, order.bytes);
            events_.on_worked(ticket, read);
        });
    });
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::TakeRoundSnapshot& order) {
    const auto job = job_of(order.job);
    if (job) edges_.take_round_snapshot(order, core::parameter_count(job->layout));
}

void Workshop::Floor::work(Ticket ticket, const core::OuterStep& order) {
    const auto job = job_of(order.job);
    if (!job) {
        if (!order.restarts) answer_later(ticket, not_trained());
        return;
    }
    if (order.restarts || !job->outer) job->outer = std::make_shared<OuterState>();
    step_outer(
        order,
        {.trainer = [job] { return job->trainer.get(); },
         .all = {0, core::parameter_count(job->layout)},
         .state = job->outer,
         .workers = &workers_,
         .post = post_},
        [this, ticket, silent = order.restarts](const WorkResult& result) {
            if (!silent) events_.on_worked(ticket, result);
        });
}

void Workshop::Floor::work(Ticket ticket, const core::Encode& order) {
    edges_.encode(ticket, order);
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::StoreChunk& order) {
    edges_.store(order);
}

void Workshop::Floor::work(Ticket ticket, const core::Decode& order) {
    edges_.decode(ticket, order);
}

void Workshop::Floor::work(Ticket ticket, const core::Apply& order) {
    edges_.apply(ticket, order);
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::DropSwap& order) {
    edges_.drop_swap(order);
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::DropEdge& order) {
    edges_.drop_edge(order.edge);
}

void Workshop::Floor::work(Ticket ticket, const core::EncodePush& order) {
    pushes_.encode(ticket, order);
}

void Workshop::Floor::work(Ticket ticket, const core::AbsorbPush& order) {
    pushes_.absorb(ticket, order);
}

void Workshop::Floor::work(Ticket ticket, const core::Evaluate& order) {
    Trainer* trainer = trainer_of(order.job);
    if (trainer == nullptr) return answer_later(ticket, not_trained());
    trainer->evaluate([this, post = post_, ticket](Result<core::Evaluated> evaluated) {
        post([this, ticket, evaluated = std::move(evaluated)] {
            events_.on_worked(
                ticket, evaluated ? WorkResult(*evaluated) : WorkResult(evaluated.error()));
        });
    });
}

void Workshop::Floor::work(Ticket ticket, const core::TakeSketch& order) {
    const auto job = job_of(order.job);
    if (!job || !job->trainer) return answer_later(ticket, not_trained());
    // By a copy of post_: the trainer may answer when the floor is gone.
    const auto tell = [this, post = post_, ticket](WorkResult result) {
        post([this, ticket, result = std::move(result)] { events_.on_worked(ticket, result); });
    };
    job->trainer->snapshot(
        {0, core::parameter_count(job->layout)}, [this, tell](Result<std::vector<float>> values) {
            if (!values) return tell(values.error());
            workers_.submit([tell, parameters = *std::move(values)] {
                tell(core::Sketched{core::sketch_of(parameters)});
            });
        });
}

void Workshop::Floor::work(Ticket ticket, const core::Freeze& order) {
    const auto job = job_of(order.job);
    if (!job || !job->trainer) return answer_later(ticket, not_trained());
    const auto freeze = [this, post = post_, ticket, job](const ReplicaState& state) {
        auto bytes = std::make_shared<const core::Bytes>(freeze_replica(job->layout, state));
        const auto hash = hash_blob(*bytes);
        post([this, ticket, bytes, hash] {
            blobs_.put(hash, bytes);
            events_.on_worked(ticket, core::Frozen{hash, bytes->size()});
        });
    };
    job->trainer->copy_state(
        order.with_optimizer, [this, post = post_, ticket, freeze](Result<ReplicaState> state) {
            if (!state) {
                return post(
                    [this, ticket, error = state.error()] { events_.on_worked(ticket, error); });
            }
            workers_.submit([freeze, state = *std::move(state)] { freeze(state); });
        });
}

void Workshop::Floor::work(Ticket ticket, const core::RecallFinal& order) {
    disk_.submit([this, post = post_, ticket, order, folder = config_.state_dir] {
        auto recalled = recall_final(order, folder);
        post([this, ticket, recalled = std::move(recalled)] {
            if (!recalled) return events_.on_worked(ticket, recalled.error());
            blobs_.put(recalled->hash, recalled->bytes);
            events_.on_worked(ticket, core::Frozen{recalled->hash, recalled->bytes->size()});
        });
    });
}

void Workshop::Floor::work(Ticket ticket, const core::CheckBlob& order) {
    const auto job = job_of(order.job);
    if (!job || !job->trainer) return answer_later(ticket, core::BlobChecked{not_trained()});
    if (!blobs_.whole(order.hash)) return answer_later(ticket, core::BlobChecked{not_held()});
    check_thawed(ticket, job, order);
}

void Workshop::Floor::check_thawed(Ticket ticket, const JobPtr& job, const core::CheckBlob& order) {
    const auto check = [hash = order.hash, bytes = blobs_.whole(order.hash), job](
                           const ReplicaState& own) -> core::BlobChecked {
        if (hash_blob(*bytes) != hash) {
            return {Error{ErrorCode::forged, "a blob's bytes do not fit its hash", "", ""}};
        }
        const auto theirs = thaw_replica(job->layout, *bytes);
        if (!theirs) return {theirs.error()};
        return {
            distance_ratio(own.parameters, theirs->parameters),
            core::sketch_of(theirs->parameters)};
    };
    const auto tell = [this, post = post_, ticket, hash = order.hash](core::BlobChecked checked) {
        post([this, ticket, hash, checked = std::move(checked)] {
            if (checked.distance_ratio) blobs_.set_trusted(hash);
            events_.on_worked(ticket, checked);
        });
    };
    job->trainer->copy_state(false, [this, check, tell](Result<ReplicaState> own) {
        if (!own) return tell({own.error()});
        workers_.submit([check, tell, own = *std::move(own)] { tell(check(own)); });
    });
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::StoreBlob& order) {
    const auto job = job_of(order.job);
    const std::uint64_t bytes_max =
        job ? std::min(frozen_bytes_max(job->layout), memory_bytes_max())
            : core::limits::job_spec_bytes_max;
    const auto status =
        blobs_.store(order.hash, {order.offset, order.total, order.bytes}, bytes_max);
    if (!status) tell_trouble(order.job, status.error());
}

void Workshop::Floor::work(Ticket /*ticket*/, const core::DropBlob& order) {
    blobs_.drop(order.hash);
}

void Workshop::Floor::work(Ticket ticket, const core::Adopt& order) {
    const auto job = job_of(order.job);
    if (!job || !job->trainer) return answer_later(ticket, not_trained());
    const auto bytes = blobs_.trusted(order.hash);
    if (!bytes) return answer_later(ticket, not_held());

    const auto tell = [this, post = post_, ticket](Result<double> moved) {
        post([this, ticket, moved = std::move(moved)] {
            events_.on_worked(
                ticket, moved ? WorkResult(core::Adopted{*moved}) : WorkResult(moved.error()));
        });
    };
    workers_.submit([post = post_, job, bytes, tell] {
        auto thawed = thaw_replica(job->layout, *bytes);
        if (!thawed) return tell(thawed.error());
        post([job, tell, state = std::make_shared<ReplicaState>(*std::move(thawed))] {
            if (!job->trainer) return tell(not_trained());
            job->trainer->replace(std::move(*state), tell);
        });
    });
}

}  // namespace p2p::daemon
