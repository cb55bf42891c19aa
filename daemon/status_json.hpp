#pragma once

// What a Node knows, as the JSON documents of the control API.
//
// Rules: the schema's name first; snake_case with the unit last; numbers are numbers; times are
// RFC 3339 in UTC; ids are whole; null for what is not known, never 0. Documents are text, so that
// only the files that write them pay for the JSON library. Which document answers which request is
// for control_routes to say.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/node/status.hpp"

namespace p2p::daemon {

/// What a document says besides the Node's status.
struct DocumentContext {
    std::int64_t unix_seconds = 0;  ///< now
    std::string release;            ///< "0.1.0"
    unsigned protocol_min = 1;      ///< lowest version spoken
    unsigned protocol_max = 1;
};

/// A checkpoint of one job on this node's disk.
struct CheckpointInfo {
    core::JobId job;
    std::string job_name;
    std::string name;  ///< "step-00022400"
    core::StepCount step;
    std::int64_t unix_seconds = 0;  ///< when it was finished
    core::ByteCount bytes;
    bool is_whole = false;  ///< its manifest stands and the sizes fit
    bool is_final = false;  ///< of the final model
    std::string note;       ///< what is wrong with it
};

[[nodiscard]] std::string status_document(
    const core::NodeStatus& node, const DocumentContext& context);
[[nodiscard]] std::string health_document(
    const core::NodeStatus& node, const DocumentContext& context);
[[nodiscard]] std::string id_document(const core::NodeStatus& node, const DocumentContext& context);
[[nodiscard]] std::string version_document(const DocumentContext& context);

/// This node first, then its peers.
[[nodiscard]] std::string peers_document(
    const core::NodeStatus& node, const DocumentContext& context);
[[nodiscard]] std::string peer_document(
    const core::NodeStatus& node, const core::PeerStatus& peer, const DocumentContext& context);

/// This node as an entry of its own list of peers.
[[nodiscard]] core::PeerStatus self_as_peer(
    const core::NodeStatus& node, const DocumentContext& context);

[[nodiscard]] std::string jobs_document(
    const core::NodeStatus& node, const DocumentContext& context);

/// With members, edges and the ledger.
[[nodiscard]] std::string job_document(
    const core::NodeStatus& node, const core::JobStatus& job, const DocumentContext& context);

[[nodiscard]] std::string checkpoints_document(
    const std::vector<CheckpointInfo>& checkpoints, const DocumentContext& context);
[[nodiscard]] std::string checkpoint_document(
    const CheckpointInfo& checkpoint, const DocumentContext& context);

/// The answer to a change: `job` where it was about one that is still known.
[[nodiscard]] std::string done_document(
    std::string_view text, const core::NodeStatus& node, const core::JobStatus* job);

/// "2026-11-30T14:08:02Z"
[[nodiscard]] std::string rfc3339_seconds(std::int64_t unix_seconds);

/// Whether the node is fit: it is not stopping and no problem is an error; warnings do not count,
/// else one failed peer would have every other node restarted.
[[nodiscard]] bool is_healthy(const core::NodeStatus& node);

[[nodiscard]] std::string_view peer_state_name(core::PeerState state);

}  // namespace p2p::daemon
