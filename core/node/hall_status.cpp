// The hall tells: what this node knows, and what is not as it should be (core/node/hall).

#include <utility>

#include "core/node/hall.hpp"

namespace p2p::core {

std::string Node::Hall::name_of(PeerId peer) const {
    if (const PeerRecord* record = directory_.find(peer); record && !record->name.empty()) {
        return record->name;
    }
    const auto listed = trust_.peers().find(peer);
    if (listed != trust_.peers().end() && !listed->second.name.empty()) return listed->second.name;
    return peer.short_text();
}

PeerStatus Node::Hall::peer_status(TimePoint now, const AllowedPeer& peer) const {
    PeerStatus status;
    status.id = peer.id;
    status.name = name_of(peer.id);
    status.addresses = contacts_.addresses(peer.id);
    if (const PeerRecord* record = directory_.find(peer.id)) {
        status.site = record->site;
        status.release = record->release;
        status.incarnation = record->incarnation;
    }
    const auto guest = guests_.find(peer.id);
    if (guest != guests_.end()) {
        status.note = guest->second.note;
        status.misbehaved = guest->second.misbehaved;
        status.bulk_sent = guest->second.bulk_sent;
        status.bulk_received = guest->second.bulk_received;
        if (!guest->second.address.empty() && desk_.is_connected(peer.id)) {
            status.addresses.insert(status.addresses.begin(), guest->second.address);
        }
    }
    if (const auto lane = desk_.lanes().find(peer.id); lane != desk_.lanes().end()) {
        status.state =
            liveness_.is_suspect(now, peer.id) ? PeerState::suspect : PeerState::connected;
        status.round_trip = liveness_.round_trip(peer.id);
        status.silent_for = liveness_.silent_for(now, peer.id);
        status.bulk_sent += lane->second.sent();
        status.bulk_received += lane->second.received();
        return status;
    }
    status.state = contacts_.is_dialling(peer.id) ? PeerState::connecting : PeerState::unknown;
    if (guest == guests_.end()) return status;
    if (guest->second.has_left) status.state = PeerState::left;
    if (guest->second.is_failed || (!guest->second.has_left && !guest->second.note.empty())) {
        status.state = PeerState::failed;
    }
    if (guest->second.since != TimePoint{}) status.silent_for = now - guest->second.since;
    return status;
}

NodeStatus Node::Hall::status(TimePoint now) const {
    NodeStatus status;
    status.id = self_;
    status.name = config_.name;
    status.site = config_.site;
    status.network = config_.network;
    status.incarnation = config_.incarnation;
    status.uptime = now - started_at_;
    status.stopping = is_stopping_;
    for (const auto& [id, peer] : trust_.peers()) {
        if (id != self_) status.peers.push_back(peer_status(now, peer));
    }
    status.joined = !config_.network.is_zero() && (status.peers.empty() || !desk_.lanes().empty());
    for (const auto& [id, job] : jobs_)
        status.jobs.push_back(job->status(now));
    status.health = health(now);
    return status;
}

std::vector<HealthProblem> Node::Hall::health(TimePoint now) const {
    std::vector<HealthProblem> problems;
    if (config_.network.is_zero()) {
        problems.push_back(
            {.code = "W0101",
             .severity = "warning",
             .since = now - started_at_,
             .text = "this node belongs to no network, so nobody is let in",
             .next = "p2pctl init (to found one), or set network.id in p2pd.toml",
             .peer = {},
             .job = {}});
    }
    for (const auto& [peer, guest] : guests_) {
        if (desk_.is_connected(peer) || guest.has_left || guest.note.empty()) continue;
        if (!trust_.may_connect(peer)) continue;
        problems.push_back(
            {.code = "W0107",
             .severity = "warning",
             .since = guest.since == TimePoint{} ? now - started_at_ : now - guest.since,
             .text = "peer " + name_of(peer) + " is not connected (" + guest.note + ")",
             .next = "p2pctl peer show " + name_of(peer),
             .peer = peer,
             .job = {}});
    }
    for (const auto& [id, job] : jobs_)
        add_health(now, *job, problems);
    return problems;
}

void Node::Hall::add_health(
    TimePoint now, const JobRun& job, std::vector<HealthProblem>& problems) const {
    if (job.state() == JobState::blocked || job.state() == JobState::failed) {
        problems.push_back(
            {.code = "W0201",
             .severity = "error",
             .since = now - job.since(),
             .text = "job " + job.name() + " cannot go on here: " + job.reason(),
             .next = "p2pctl job show " + job.name(),
             .peer = {},
             .job = job.id()});
    }
    if (const auto twin = job.twin(now)) {
        problems.push_back(
            {.code = "W0210",
             .severity = "warning",
             .since = {},
             .text = "job " + job.name() + ": this node and " + name_of(*twin)
                     + " train on the same batches",
             .next = "use p2ptrain.loader, or another seed for each node's data",
             .peer = *twin,
             .job = job.id()});
    }
    if (const auto& failed = job.save_error()) {
        problems.push_back(
            {.code = "W0301",
             .severity = "warning",
             .since = {},
             .text = "job " + job.name() + " could not be checkpointed: " + failed->text(),
             .next = failed->next.empty() ? "free space under node.state_dir" : failed->next,
             .peer = {},
             .job = job.id()});
    }
}

}  // namespace p2p::core
