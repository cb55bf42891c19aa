#pragma once

// What a Node is told at birth: who it is, whom it may talk to, and a few periods.
// Files and flags are read elsewhere (daemon/options, daemon/node_setup); here are values.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/job/messages.hpp"
#include "core/mesh/trust.hpp"

namespace p2p::core {

/// What becomes of a job that another node announced.
enum class JobAccept : std::uint8_t { all, ask, none };

/// A job that this node was in when it stopped, as its newest whole checkpoint says.
struct ResumedJob {
    JobId job;
    JobState state = JobState::running;
    StepCount steps;
    SampleCount samples;
    SampleCount samples_mesh;  ///< of the whole mesh, as known then
    BlobHash final_hash;       ///< where it was done
    std::vector<std::uint8_t> spec_bytes;
    std::optional<Signed<JobAnnouncement>> announcement{};  ///< who submitted it; told to newcomers
};

struct NodeConfig {
    std::string name;
    std::string site;
    std::string release;
    NetworkId network;  ///< zero: none yet, nobody is let in
    Incarnation incarnation{1};
    std::vector<std::string> advertise;  ///< own addresses
    std::vector<AllowedPeer> allowed;
    std::map<PeerId, std::vector<std::string>> bootstrap;
    std::uint32_t peers_max = 64;
    JobAccept accept = JobAccept::all;
    std::uint32_t keep_finished = 20;
    std::set<std::string> datasets;                        ///< names that this node has
    std::map<std::string, std::uint64_t> dataset_samples;  ///< size of each set's training part
    std::vector<ResumedJob> resumed;
    std::int64_t batch_size_override = 0;  ///< 0: the job's

    Duration ping_interval = std::chrono::seconds{1};
    Duration suspect_after = std::chrono::milliseconds{2500};
    Duration failed_after = std::chrono::seconds{15};
    Duration report_interval = std::chrono::seconds{1};
    Duration bury_after = std::chrono::minutes{10};
};

}  // namespace p2p::core
