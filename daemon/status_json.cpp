#include "daemon/status_json.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "daemon/json_values.hpp"
#include "proto/control.hpp"

namespace p2p::daemon {

namespace {

namespace schema = proto::schema;
using core::NodeStatus;
using core::PeerState;
using core::PeerStatus;

Json json_node(const NodeStatus& node, const DocumentContext& context) {
    return {
        {"id", node.id.text()},
        {"name", node.name},
        {"site", json_text_or_null(node.site)},
        {"version", context.release},
        {"protocol", {{"speaks", Json::array({context.protocol_min, context.protocol_max})}}},
        {"incarnation", node.incarnation.value},
        {"uptime_seconds", json_seconds(node.uptime)},
    };
}

Json json_peer_counts(const NodeStatus& node) {
    const auto count = [&](PeerState state) {
        return std::count_if(node.peers.begin(), node.peers.end(), [state](const PeerStatus& peer) {
            return peer.state == state;
        });
    };
    return {
        {"known", node.peers.size()},
        {"connected", count(PeerState::connected)},
        {"connecting", count(PeerState::connecting)},
        {"suspect", count(PeerState::suspect)},
        {"failed", count(PeerState::failed)},
        {"left", count(PeerState::left)},
        {"unknown", count(PeerState::unknown)},
    };
}

Json json_problem(
    const NodeStatus& node, const core::HealthProblem& problem, const DocumentContext& context) {
    Json subject = Json::object();
    if (problem.peer) {
        subject["peer"] = problem.peer->text();
        subject["peer_name"] = json_text_or_null(name_of(node, *problem.peer));
    }
    if (problem.job) subject["job"] = problem.job->text();
    return {
        {"code", problem.code},
        {"severity", problem.severity},
        {"since", time_before(context, problem.since)},
        {"since_seconds", json_seconds(problem.since)},
        {"text", problem.text},
        {"subject", std::move(subject)},
        {"next", json_text_or_null(problem.next)},
    };
}

Json json_problems(const NodeStatus& node, const DocumentContext& context) {
    Json problems = Json::array();
    for (const auto& problem : node.health) {
        problems.push_back(json_problem(node, problem, context));
    }
    return problems;
}

Json json_peer(const PeerStatus& peer) {
    const bool is_self = peer.state == PeerState::self;
    return {
        {"name", json_text_or_null(peer.name)},
        {"id", peer.id.text()},
        {"site", json_text_or_null(peer.site)},
        {"state", peer_state_name(peer.state)},
        {"addresses", peer.addresses},
        {"rtt_seconds", json_seconds(peer.round_trip)},
        {"silent_seconds", json_seconds(peer.silent_for)},
        {"sent_bytes", is_self ? Json{} : Json(peer.bulk_sent.value)},
        {"received_bytes", is_self ? Json{} : Json(peer.bulk_received.value)},
        {"incarnation", peer.incarnation.value == 0 ? Json{} : Json(peer.incarnation.value)},
        {"misbehaved_total", is_self ? Json{} : Json(peer.misbehaved)},
        {"version", json_text_or_null(peer.release)},
        {"note", json_text_or_null(peer.note)},
    };
}

Json json_checkpoint(const CheckpointInfo& checkpoint, const DocumentContext& context) {
    return {
        {"job", checkpoint.job_name},
        {"job_id", checkpoint.job.text()},
        {"name", checkpoint.name},
        {"step", checkpoint.step.value},
        {"time", rfc3339_seconds(checkpoint.unix_seconds)},
        {"age_seconds", std::max<std::int64_t>(context.unix_seconds - checkpoint.unix_seconds, 0)},
        {"size_bytes", checkpoint.bytes.value},
        {"whole", checkpoint.is_whole},
        {"final", checkpoint.is_final},
        {"note", json_text_or_null(checkpoint.note)},
    };
}

std::string_view node_state(const NodeStatus& node) {
    if (node.stopping) return "stopping";
    return node.network.is_zero() ? "no_network" : "ready";
}

}  // namespace

std::string_view peer_state_name(PeerState state) {
    switch (state) {
        case PeerState::self: return "self";
        case PeerState::unknown: return "unknown";
        case PeerState::connecting: return "connecting";
        case PeerState::connected: return "connected";
        case PeerState::suspect: return "suspect";
        case PeerState::failed: return "failed";
        case PeerState::left: return "left";
    }
    return "unknown";
}

std::string rfc3339_seconds(std::int64_t unix_seconds) {
    const std::time_t seconds = unix_seconds;
    std::tm parts{};
    std::array<char, 40> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr) return "1970-01-01T00:00:00Z";
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), length};
}

bool is_healthy(const NodeStatus& node) {
    return !node.stopping
           && std::none_of(node.health.begin(), node.health.end(), [](const auto& p) {
                  return p.severity == "error";
              });
}

std::string status_document(const NodeStatus& node, const DocumentContext& context) {
    Json document = json_document(schema::status, context);
    document["node"] = json_node(node, context);
    document["network"] = {{"id", json_id(node.network)}};
    document["state"] = node_state(node);
    document["joined"] = node.joined;
    document["peers"] = json_peer_counts(node);
    document["jobs"] = Json::array();
    for (const auto& job : node.jobs) {
        document["jobs"].push_back(json_job_summary(node, job));
    }
    document["health"] = json_problems(node, context);
    return document_text(document);
}

std::string health_document(const NodeStatus& node, const DocumentContext& context) {
    Json document = json_document(schema::health, context);
    document["healthy"] = is_healthy(node);
    document["state"] = node_state(node);
    document["problems"] = json_problems(node, context);
    return document_text(document);
}

std::string id_document(const NodeStatus& node, const DocumentContext& context) {
    Json document = json_document(schema::id, context);
    document["id"] = node.id.text();
    document["name"] = node.name;
    document["network"] = json_id(node.network);
    return document_text(document);
}

std::string version_document(const DocumentContext& context) {
    Json document = json_document(schema::version, context);
    document["version"] = context.release;
    document["protocol"] = {{"speaks", Json::array({context.protocol_min, context.protocol_max})}};
    return document_text(document);
}

PeerStatus self_as_peer(const NodeStatus& node, const DocumentContext& context) {
    PeerStatus self;
    self.id = node.id;
    self.name = node.name;
    self.site = node.site;
    self.release = context.release;
    self.state = PeerState::self;
    self.incarnation = node.incarnation;
    return self;
}

std::string peers_document(const NodeStatus& node, const DocumentContext& context) {
    Json document = json_document(schema::peers, context);
    Json peers = Json::array({json_peer(self_as_peer(node, context))});
    for (const auto& peer : node.peers)
        peers.push_back(json_peer(peer));
    document["peers"] = std::move(peers);
    return document_text(document);
}

std::string peer_document(
    const NodeStatus& node, const PeerStatus& peer, const DocumentContext& context) {
    Json document = json_document(schema::peer, context);
    document["peer"] = json_peer(peer);
    Json jobs = Json::array();
    for (const auto& job : node.jobs) {
        for (const auto& member : job.others) {
            if (member.id == peer.id) jobs.push_back(job.name);
        }
    }
    document["peer"]["jobs"] = std::move(jobs);
    return document_text(document);
}

std::string checkpoints_document(
    const std::vector<CheckpointInfo>& checkpoints, const DocumentContext& context) {
    Json document = json_document(schema::checkpoints, context);
    document["checkpoints"] = Json::array();
    for (const auto& checkpoint : checkpoints) {
        document["checkpoints"].push_back(json_checkpoint(checkpoint, context));
    }
    return document_text(document);
}

std::string checkpoint_document(const CheckpointInfo& checkpoint, const DocumentContext& context) {
    Json document = json_document(schema::checkpoint, context);
    document["checkpoint"] = json_checkpoint(checkpoint, context);
    return document_text(document);
}

std::string done_document(
    std::string_view text, const NodeStatus& node, const core::JobStatus* job) {
    Json document{{"schema", schema::done}, {"text", text}};
    document["job"] = job == nullptr ? Json{} : json_job_summary(node, *job);
    return document_text(document);
}

}  // namespace p2p::daemon
