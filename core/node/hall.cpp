#include "core/node/hall.hpp"

#include <algorithm>
#include <utility>

#include "core/base/deadlines.hpp"

namespace p2p::core {

namespace {

constexpr Duration final_served_for = std::chrono::minutes{2};  // others may be fetching it

}  // namespace

Node::Hall::Hall(NodeConfig config, PeerId self, Rng rng)
    : config_(std::move(config)),
      self_(self),
      rng_(rng),
      desk_(self),
      trust_(self, std::exchange(config_.allowed, {})),
      contacts_(self, rng_.split(1)),
      liveness_(
          {.ping_interval = config_.ping_interval,
           .suspect_after = config_.suspect_after,
           .failed_after = config_.failed_after}) {}

JobRun* Node::Hall::find_job(JobId job) {
    const auto found = jobs_.find(job);
    return found == jobs_.end() ? nullptr : found->second.get();
}

JobRun& Node::Hall::make_job(TimePoint now, JobId job) {
    auto& slot = jobs_[job];
    if (!slot) {
        slot =
            std::make_unique<JobRun>(now, job, config_, desk_, rng_.split(mix_key(2, job.bytes)));
    }
    return *slot;
}

PeerRecord Node::Hall::own_record() const {
    return {
        .id = self_,
        .incarnation = config_.incarnation,
        .version = 1,
        .name = config_.name,
        .site = config_.site,
        .addresses = config_.advertise,
        .release = config_.release};
}

void Node::Hall::on_started(TimePoint now, Effects& effects) {
    started_at_ = now;
    directory_.add(made_here(self_, own_record()));
    learn_addresses(now);
    for (const ResumedJob& resumed : config_.resumed) {
        make_job(now, resumed.job).on_resumed(resumed, effects);
    }
}

/// Every allowed peer is dialled at all addresses that anybody knows of it.
void Node::Hall::learn_addresses(TimePoint now) {
    for (const auto& [id, peer] : trust_.peers())
        learn_addresses_of(now, peer);
}

void Node::Hall::learn_addresses_of(TimePoint now, const AllowedPeer& peer) {
    if (config_.network.is_zero()) return;
    contacts_.add(now, peer.id, peer.addresses);
    if (const auto boot = config_.bootstrap.find(peer.id); boot != config_.bootstrap.end()) {
        contacts_.add(now, peer.id, boot->second);
    }
    if (const PeerRecord* record = directory_.find(peer.id)) {
        contacts_.add(now, peer.id, record->addresses);
    }
}

// --- links ---------------------------------------------------------------------------------------

void Node::Hall::on_connected(TimePoint now, const ConnectedPeer& peer, Effects& effects) {
    if (is_stopping_) {
        const std::string reason = "stopping";
        effects.emplace_back(Send{.to = peer.id, .message = Leave{.reason = reason}});
        effects.emplace_back(
            Disconnect{.peer = peer.id, .why = {ErrorCode::interrupted, reason, "", ""}});
        return;
    }
    if (!trust_.may_connect(peer.id)) {
        const Error why{
            ErrorCode::not_permitted,
            "peer " + peer.id.short_text() + " (" + peer.name + ") is not on the allow-list",
            "both ends must list each other in peers.toml",
            "add [[peer]] id = \"" + peer.id.text() + "\" to peers.toml and send SIGHUP"};
        effects.emplace_back(Say{PeerRefused{.peer = peer.id, .why = why}});
        effects.emplace_back(Disconnect{.peer = peer.id, .why = why});
        return;
    }
    if (desk_.is_connected(peer.id)) {
        on_disconnected(
            now, peer.id, {ErrorCode::conflict, "replaced by a newer session", "", ""}, effects);
    }
    desk_.on_connected(peer.id);
    contacts_.on_connected(peer.id);
    liveness_.on_connected(now, peer.id);
    Guest& guest = guests_[peer.id];
    guest.incarnation = peer.incarnation;
    guest.address = peer.address;
    guest.is_failed = false;
    guest.has_left = false;
    guest.note.clear();
    guest.since = now;
    effects.emplace_back(
        Say{PeerConnected{.peer = peer.id, .name = peer.name, .incarnation = peer.incarnation}});
    send_records(peer.id, effects);
    for (auto& [id, job] : jobs_)
        job->on_linked(now, peer.id, peer.incarnation, effects);
}

void Node::Hall::send_records(PeerId peer, Effects& effects) const {
    constexpr std::size_t records_a_batch =
        limits::records_bytes_max / (limits::record_bytes_max + 128);
    PeerRecords batch;
    for (const Signed<PeerRecord>& record : directory_.all()) {
        batch.records.push_back(record);
        if (batch.records.size() < records_a_batch) continue;
        desk_.send(peer, std::exchange(batch, {}), effects);
    }
    if (!batch.records.empty()) desk_.send(peer, std::move(batch), effects);
}

void Node::Hall::on_disconnected(TimePoint now, PeerId peer, const Error& why, Effects& effects) {
    const BulkLane* lane = desk_.lane(peer);
    if (lane == nullptr) return;
    Guest& guest = guests_[peer];
    guest.bulk_sent += lane->sent();
    guest.bulk_received += lane->received();
    desk_.on_disconnected(peer);
    contacts_.on_disconnected(now, peer);
    liveness_.on_disconnected(peer);
    guest.since = now;
    if (!guest.has_left) guest.note = why.text();
    effects.emplace_back(Say{PeerDisconnected{.peer = peer, .why = guest.note}});
    for (auto& [id, job] : jobs_)
        job->on_unlinked(now, peer, effects);
}

void Node::Hall::on_unreachable(TimePoint now, PeerId peer, const Error& why, Effects& effects) {
    contacts_.on_unreachable(now, peer);
    Guest& guest = guests_[peer];
    if (desk_.is_connected(peer) || guest.has_left) return;
    if (guest.note != why.text()) effects.emplace_back(Say{PeerUnreachable{peer, why}});
    guest.note = why.text();
}

void Node::Hall::on_writable(TimePoint now, PeerId peer, std::size_t bytes, Effects& effects) {
    (void)now;
    (void)effects;
    if (BulkLane* lane = desk_.lane(peer)) {
        lane->on_writable(bytes);
        desk_.wants_room.insert(peer);
    }
}

// --- work and time -------------------------------------------------------------------------------

void Node::Hall::on_worked(
    TimePoint now, Ticket ticket, const WorkResult& result, Effects& effects) {
    const auto pending = desk_.take_pending(ticket);
    if (!pending) return;
    if (JobRun* job = find_job(pending->job)) job->on_worked(now, *pending, result, effects);
}

void Node::Hall::on_saved(TimePoint now, JobId job, const Status& result, Effects& effects) {
    if (JobRun* run = find_job(job)) run->on_saved(now, result);
    answer_shutdown(effects);
}

void Node::Hall::on_wakeup(TimePoint now, Effects& effects) {
    const Liveness::Due due = liveness_.take_due(now);
    for (const auto& [peer, nonce] : due.pings)
        desk_.send(peer, Ping{.nonce = nonce}, effects);
    for (const PeerId peer : due.failed) {
        const Error why{
            ErrorCode::timed_out,
            "not heard for " + std::to_string(static_cast<int>(to_seconds(config_.failed_after)))
                + " s",
            "the process, its machine or the network between stands still",
            ""};
        effects.emplace_back(Disconnect{.peer = peer, .why = why});
        on_disconnected(now, peer, why, effects);
        guests_[peer].is_failed = true;
    }
    for (auto& [id, job] : jobs_)
        job->on_wakeup(now, effects);
    forget_finished(now, effects);
}

std::optional<TimePoint> Node::Hall::next_wakeup() const {
    std::optional<TimePoint> next = liveness_.next_wakeup();
    if (!is_stopping_) next = earlier(next, contacts_.next_wakeup());  // no dial is made any more
    for (const auto& [id, job] : jobs_)
        next = earlier(next, job->next_wakeup());
    return next;
}

void Node::Hall::tidy_up(TimePoint now, Effects& effects) {
    for (const PeerId peer : std::exchange(desk_.wants_room, {}))
        pump(peer, effects);
    for (const auto& [peer, why] : std::exchange(desk_.offenders, {})) {
        Guest& guest = guests_[peer];
        ++guest.misbehaved;
        effects.emplace_back(Say{PeerMisbehaved{.peer = peer, .why = why}});
        effects.emplace_back(Disconnect{.peer = peer, .why = why});
        on_disconnected(now, peer, why, effects);
    }
    if (is_stopping_) return;
    while (const auto dial = contacts_.next_dial(now)) {
        effects.emplace_back(Connect{.peer = dial->peer, .addresses = dial->addresses});
    }
}

/// Finished jobs beyond keep_finished go by themselves, the oldest first.
void Node::Hall::forget_finished(TimePoint now, Effects& effects) {
    std::vector<std::pair<Duration, JobId>> finished;  // by age
    for (const auto& [id, job] : jobs_) {
        if (job->state() != JobState::done && job->state() != JobState::stopped) continue;
        if (now - job->since() < final_served_for) continue;
        finished.emplace_back(now - job->since(), id);
    }
    if (finished.size() <= config_.keep_finished) return;
    std::sort(finished.rbegin(), finished.rend());
    finished.resize(finished.size() - config_.keep_finished);
    for (const auto& [age, id] : finished) {
        jobs_.at(id)->remove(now, effects);
        jobs_.erase(id);
        removed_.insert(id);
    }
}

// --- bulk ----------------------------------------------------------------------------------------

void Node::Hall::pump(PeerId peer, Effects& effects) {
    BulkLane* lane = desk_.lane(peer);
    while (lane != nullptr && lane->has_room()) {
        if (!pump_swaps(peer, *lane, effects) && !pump_blobs(peer, *lane, effects)) return;
    }
}

bool Node::Hall::pump_swaps(PeerId peer, BulkLane& lane, Effects& effects) {
    for (auto& [id, job] : jobs_) {
        if (job->mixer() == nullptr) continue;
        job->start_encodings(peer, effects);
        const auto chunk = job->mixer()->next_chunk(peer);
        if (!chunk) continue;
        lane.on_sent(chunk->piece.length);
        effects.emplace_back(SendChunk{
            .edge = chunk->edge,
            .n = chunk->n,
            .offset = chunk->piece.offset,
            .length = chunk->piece.length,
            .total = chunk->piece.total});
        return true;
    }
    return false;
}

bool Node::Hall::pump_blobs(PeerId peer, BulkLane& lane, Effects& effects) {
    if (lane.blobs.empty()) return false;
    BulkLane::OutgoingBlob& blob = lane.blobs.front();
    if (!desk_.blobs.contains(blob.hash)) {  // dropped since
        desk_.send_no_blob(peer, blob.hash, effects);
        lane.blobs.pop_front();
        return true;
    }
    const std::uint64_t left = blob.total - std::min(blob.total, blob.offset);
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(left, limits::chunk_bytes_max));
    effects.emplace_back(
        SendBlob{.to = peer, .hash = blob.hash, .offset = blob.offset, .length = length});
    lane.on_sent(length);
    blob.offset += length;
    if (blob.offset >= blob.total) lane.blobs.pop_front();
    return true;
}

void Node::Hall::count_received(PeerId from, std::size_t bytes, Effects& effects) {
    BulkLane* lane = desk_.lane(from);
    if (lane == nullptr || !lane->on_received(bytes)) return;
    desk_.send(from, SwapAck{.received = lane->received()}, effects);
}

}  // namespace p2p::core
