// Pushes of one job among the rest of it: fetched and served as blobs, and what people see of them
// (core/node/job_run; who pushes what and when is core/mixing/pusher).

#include <algorithm>
#include <utility>

#include "core/node/job_run.hpp"

namespace p2p::core {

namespace {

constexpr Duration fetch_patience = std::chrono::minutes{1};

}  // namespace

void JobRun::on_push(TimePoint now, PeerId from, const Push& push, Effects& effects) {
    if (!pusher_ || !pusher_->knows(from)) {
        return desk_.send(from, PushAck{.key = push.key, .why = SwapReason::not_running}, effects);
    }
    MixingOutputs outputs;
    pusher_->on_push(now, from, push, outputs);
    lift(now, outputs, effects);
}

void JobRun::on_push_ack(TimePoint now, PeerId from, const PushAck& ack, Effects& effects) {
    if (!pusher_ || !pusher_->knows(from)) return;
    MixingOutputs outputs;
    pusher_->on_ack(now, from, ack, outputs);
    lift(now, outputs, effects);
}

/// What is held or fetched already under that name is something else, and stays what it is.
void JobRun::fetch_push(TimePoint now, const WantsBlob& wants, Effects& effects) {
    const auto is_it = [&](const auto& each) {
        return each.second.hash() == wants.hash;
    };
    const bool is_taken = desk_.blobs.contains(wants.hash)
                          || (final_fetch_ && final_fetch_->hash() == wants.hash)
                          || std::any_of(push_fetches_.begin(), push_fetches_.end(), is_it);
    if (is_taken) return on_push_fetched(now, wants.peer, false, effects);
    const auto [fetch, is_new] =
        push_fetches_.insert_or_assign(wants.peer, BlobFetch(wants.hash, wants.bytes.value));
    desk_.send(wants.peer, fetch->second.ask(now, wants.peer, fetch_patience), effects);
}

void JobRun::serve_push(const BlobServed& served, Effects& effects) {
    if (served.bytes.value == 0) return drop_blob(served.hash, effects);
    desk_.blobs[served.hash] = served.bytes.value;
}

/// True where the piece is of a push.
bool JobRun::on_push_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects) {
    const auto found = push_fetches_.find(from);
    if (found == push_fetches_.end() || found->second.hash() != chunk.hash) return false;
    BlobFetch& fetch = found->second;
    const BlobFetch::Verdict verdict = fetch.on_chunk(now, from, chunk);
    if (verdict == BlobFetch::Verdict::skip) return true;
    if (verdict != BlobFetch::Verdict::keep) {
        if (verdict == BlobFetch::Verdict::refuse) {
            desk_.offenders.emplace_back(
                from,
                Error{
                    ErrorCode::wrong_size,
                    "a piece of a push does not fit the pieces before",
                    "the peer that gave it is broken, or hostile",
                    ""});
        }
        desk_.order({}, DropBlob{.hash = chunk.hash}, effects);
        push_fetches_.erase(found);
        on_push_fetched(now, from, false, effects);
        return true;
    }
    desk_.order(
        {},
        StoreBlob{
            .job = job_,
            .hash = chunk.hash,
            .offset = chunk.offset,
            .total = chunk.total,
            .bytes = chunk.bytes},
        effects);
    if (!fetch.is_complete()) return true;
    push_fetches_.erase(found);
    on_push_fetched(now, from, true, effects);
    return true;
}

void JobRun::on_push_fetched(TimePoint now, PeerId from, bool is_here, Effects& effects) {
    MixingOutputs outputs;
    pusher_->on_fetched(now, from, is_here, outputs);
    lift(now, outputs, effects);
}

void JobRun::on_push_worked(
    TimePoint now, const EdgeKey& edge, const WorkResult& result, Effects& effects) {
    MixingOutputs outputs;
    if (const auto* encoded = std::get_if<PushEncoded>(&result)) {
        pusher_->on_encoded(now, edge.shard, *encoded, outputs);
    } else if (const auto* absorbed = std::get_if<Absorbed>(&result)) {
        pusher_->on_absorbed(now, edge.shard, *absorbed, outputs);
    } else {
        pusher_->on_work_failed(now, edge.shard, outputs);
    }
    lift(now, outputs, effects);
    begin_mixer_finishing(now, effects);
}

/// Once nothing that was pushed will move the replica any more.
void JobRun::begin_mixer_finishing(TimePoint now, Effects& effects) {
    if (!is_finish_due_ || state_ != JobState::finishing) return;
    if (pusher_ && !pusher_->is_settled()) return;
    is_finish_due_ = false;
    count_mesh(now);
    MixingOutputs outputs;
    mixer_->begin_finishing(now, outputs);
    lift(now, outputs, effects);
}

/// Who brings replicas together with this node, linked or not.
void JobRun::count_mesh(TimePoint now) {
    const auto others = members_.live_in(now, {JobState::running, JobState::finishing});
    mixer_->set_mesh_size(static_cast<std::uint32_t>(1 + others.size()));
}

// --- what people see -----------------------------------------------------------------------------

std::vector<EdgeStatus> JobRun::mixing_links() const {
    std::vector<EdgeStatus> links = mixer_->links();
    if (!pusher_) return links;
    const std::vector<EdgeStatus> pushed = pusher_->links();
    for (EdgeStatus& link : links) {
        const auto found = std::find_if(pushed.begin(), pushed.end(), [&](const EdgeStatus& each) {
            return each.peer == link.peer;
        });
        if (found == pushed.end()) continue;
        if (link.applied == 0) {
            link.distance_ratio = found->distance_ratio;
            link.swap_time = found->swap_time;
            link.codec = found->codec;
        }
        if (link.refused == 0) link.last_refusal = found->last_refusal;
        link.applied += found->applied;
        link.refused += found->refused;
        link.open += found->open;
        link.bytes_sent += found->bytes_sent;
    }
    return links;
}

double JobRun::distance_ratio() const {
    const bool pushes = pusher_ && state_ == JobState::running;
    return pushes ? pusher_->distance_ratio() : mixer_->distance_ratio();
}

double JobRun::parameter_norm() const {
    const bool pushes = pusher_ && state_ == JobState::running;
    return pushes ? pusher_->parameter_norm() : mixer_->parameter_norm();
}

}  // namespace p2p::core
