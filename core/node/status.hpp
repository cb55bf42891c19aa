#pragma once

// What a Node knows, as one value: for p2pctl, tests and checkers.
// Looked at from outside; nothing in core reads it. Its JSON form is daemon/status_json's.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/records.hpp"
#include "core/base/time.hpp"
#include "core/job/messages.hpp"
#include "core/job/spec.hpp"
#include "core/node/config.hpp"
#include "core/node/notice.hpp"

namespace p2p::core {

enum class PeerState : std::uint8_t { self, unknown, connecting, connected, suspect, failed, left };

struct PeerStatus {
    PeerId id;
    std::string name;
    std::string site;
    std::string release;
    PeerState state = PeerState::unknown;
    std::vector<std::string> addresses;
    std::optional<Duration> round_trip;
    std::optional<Duration> silent_for;  ///< since anything was heard
    Incarnation incarnation;
    ByteCount bulk_sent;
    ByteCount bulk_received;
    std::uint64_t misbehaved = 0;
    std::string note;  ///< last error, or why it is not connected
};

/// One member of a job, from its newest report.
struct MemberStatus {
    PeerId id;
    JobReport report;
    Duration age{};
    bool connected = false;  ///< true for this node itself
};

struct JobStatus {
    JobId job;
    std::string name;
    std::shared_ptr<const JobSpec> spec;  ///< null while it is being fetched
    PeerId submitter;
    JobState state = JobState::waiting;
    std::string reason;                ///< why it is not running
    std::string recipe;                ///< "ad-psgd: random, continuous, ..."
    std::vector<std::string> choices;  ///< what mixing decided here, and from what; sentences
    Duration since{};                  ///< in this state
    SampleCount samples_mesh;
    SampleCount samples_total;  ///< 0: ends by time
    double progress_ratio = 0;
    std::optional<Duration> time_left;
    std::uint32_t members = 0;
    JobReport own;
    std::vector<MemberStatus> others;
    std::vector<EdgeStatus> edges;
    std::vector<LedgerLine> ledger;
    double parameter_norm = 0;
    std::optional<EndReason> end_reason;
    BlobHash final_hash;
};

struct HealthProblem {
    std::string code;      ///< "W0107"
    std::string severity;  ///< "warning", "error"
    Duration since{};
    std::string text;
    std::string next;
    std::optional<PeerId> peer;
    std::optional<JobId> job;
};

struct NodeStatus {
    PeerId id;
    std::string name;
    std::string site;
    NetworkId network;
    Incarnation incarnation;
    Duration uptime{};
    bool joined = false;  ///< a peer is connected, or none is known
    bool stopping = false;
    std::vector<PeerStatus> peers;  ///< without this node
    std::vector<JobStatus> jobs;
    std::vector<HealthProblem> health;
};

}  // namespace p2p::core
