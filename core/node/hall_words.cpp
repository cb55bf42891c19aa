// The hall hears: one short function for each message of a peer (core/node/hall).
//
// Routing only. Whether a record may be believed is asked of trust, what follows of the rooms.

#include <utility>

#include "core/node/hall.hpp"

namespace p2p::core {

namespace {

Error not_permitted(const char* what, const char* role) {
    return {
        ErrorCode::not_permitted,
        what,
        std::string("its author does not have the role ") + role,
        "give it the role in peers.toml on this node, if it should"};
}

}  // namespace

void Node::Hall::on_message(TimePoint now, PeerId from, const Message& message, Effects& effects) {
    if (!desk_.is_connected(from)) return;
    liveness_.on_heard(now, from);
    guests_[from].has_left = std::holds_alternative<Leave>(message);
    std::visit([&](const auto& each) { on(now, from, each, effects); }, message);
}

void Node::Hall::on(TimePoint now, PeerId from, const Ping& ping, Effects& effects) {
    (void)now;
    desk_.send(from, Pong{.nonce = ping.nonce}, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const Pong& pong, Effects& effects) {
    (void)effects;
    liveness_.on_pong(now, from, pong.nonce);
}

void Node::Hall::on(TimePoint now, PeerId from, const PeerRecords& records, Effects& effects) {
    PeerRecords news;
    for (const Signed<PeerRecord>& record : records.records) {
        if (!trust_.may_connect(record.author) || !directory_.add(record)) continue;
        desk_.set_site(record.author, record.value.site);
        news.records.push_back(record);
    }
    if (news.records.empty()) return;
    for (const Signed<PeerRecord>& record : news.records)
        learn_addresses_of(now, trust_.peers().at(record.author));
    desk_.broadcast(news, from, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const Leave& leave, Effects& effects) {
    Guest& guest = guests_[from];
    guest.has_left = true;
    guest.note = leave.reason;
    const Error why{ErrorCode::interrupted, "left: " + leave.reason, "", ""};
    effects.emplace_back(Disconnect{.peer = from, .why = why});
    on_disconnected(now, from, why, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const SwapAck& ack, Effects& effects) {
    (void)now;
    (void)effects;
    if (BulkLane* lane = desk_.lane(from)) lane->on_ack(ack.received);
    desk_.wants_room.insert(from);
}

void Node::Hall::on(TimePoint now, PeerId from, const SwapChunk& chunk, Effects& effects) {
    count_received(from, chunk.bytes->size(), effects);
    JobRun* job = find_job(chunk.key.job);
    if (job != nullptr) job->on_swap_word(now, from, SwapWord{chunk}, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const Push& push, Effects& effects) {
    if (JobRun* job = find_job(push.key.job)) return job->on_push(now, from, push, effects);
    desk_.send(from, PushAck{.key = push.key, .why = SwapReason::unknown_job}, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const PushAck& ack, Effects& effects) {
    if (JobRun* job = find_job(ack.key.job)) job->on_push_ack(now, from, ack, effects);
}

/// SwapOpen, SwapReady, SwapClose, SwapState.
template <typename Word>
void Node::Hall::on(TimePoint now, PeerId from, const Word& word, Effects& effects) {
    if (JobRun* job = find_job(word.key.job)) {
        return job->on_swap_word(now, from, SwapWord{word}, effects);
    }
    if constexpr (std::is_same_v<Word, SwapOpen>) {
        desk_.send(from, SwapClose{.key = word.key, .why = SwapReason::unknown_job}, effects);
    }
}

void Node::Hall::on(
    TimePoint now, PeerId from, const Signed<JobAnnouncement>& record, Effects& effects) {
    const JobId id = record.value.job;
    if (removed_.contains(id) || record.value.spec_bytes.value > limits::job_spec_bytes_max) return;
    if (!trust_.has_role(record.author, Role::submit)) {
        return blame(from, record.author, not_permitted("a job was announced", "submit"), effects);
    }
    JobRun* known = find_job(id);
    if (known == nullptr && jobs_.size() >= limits::jobs_known_max) return;
    if (known != nullptr && !known->submitter().is_zero()) return;
    JobRun& job = make_job(now, id);
    job.on_announced(record, effects);
    desk_.broadcast(record, from, effects);
    if (known != nullptr) return;
    job.fetch_spec(now, from, effects);  // who tells of a job has it, or will in a moment
    for (const auto& [peer, lane] : desk_.lanes()) {
        job.on_linked(now, peer, guests_[peer].incarnation, effects);
    }
}

void Node::Hall::on(TimePoint now, PeerId from, const Signed<JobReport>& record, Effects& effects) {
    if (record.author != self_ && !trust_.has_role(record.author, Role::train)) return;
    if (JobRun* job = find_job(record.value.job)) job->on_report(now, from, record, effects);
}

void Node::Hall::on(
    TimePoint now, PeerId from, const Signed<JobControl>& record, Effects& effects) {
    JobRun* job = find_job(record.value.job);
    if (job == nullptr) return;
    if (record.author == job->submitter() || trust_.has_role(record.author, Role::admin)) {
        return job->on_control(now, record, effects);
    }
    const Error why = not_permitted("a job was told to stop", "admin, and did not submit it");
    blame(from, record.author, why, effects);
}

/// The author of a record, where it is one of ours; else who passed on what a stranger signed, so
/// that made-up keys leave nothing behind.
void Node::Hall::blame(PeerId from, PeerId author, const Error& why, Effects& effects) {
    const PeerId peer = trust_.may_connect(author) ? author : from;
    ++guests_[peer].misbehaved;
    effects.emplace_back(Say{PeerMisbehaved{.peer = peer, .why = why}});
}

void Node::Hall::on(TimePoint now, PeerId from, const Signed<JobEnd>& record, Effects& effects) {
    (void)from;
    if (!trust_.has_role(record.author, Role::train)) return;
    if (JobRun* job = find_job(record.value.job)) job->on_end(now, record, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const Signed<Final>& record, Effects& effects) {
    if (!trust_.has_role(record.author, Role::train)) return;
    if (JobRun* job = find_job(record.value.job)) job->on_final(now, from, record, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const StateRequest& request, Effects& effects) {
    if (JobRun* job = find_job(request.job)) job->on_state_request(now, from, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const StateOffer& offer, Effects& effects) {
    if (JobRun* job = find_job(offer.job)) job->on_state_offer(now, from, offer, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const ReportWish& wish, Effects& effects) {
    if (JobRun* job = find_job(wish.job)) job->on_report_wish(now, from, wish, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const BlobRequest& request, Effects& effects) {
    (void)now;
    if (desk_.send_blob(from, request)) return;
    for (auto& [id, job] : jobs_)
        if (job->on_blob_asked(from, request, effects)) return;
    desk_.send_no_blob(from, request.hash, effects);
}

void Node::Hall::on(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects) {
    count_received(from, chunk.bytes->size(), effects);
    for (auto& [id, job] : jobs_) {
        if (job->on_blob_chunk(now, from, chunk, effects)) return;
    }
}

}  // namespace p2p::core
