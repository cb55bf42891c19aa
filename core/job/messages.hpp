#pragma once

// What nodes say to each other about jobs (design: JOBS). Announcements, reports, JobControl,
// JobEnd and Final are records that are signed by their author and passed on to everybody.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/hash128.hpp"
#include "core/base/signature.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/job/sketch.hpp"

namespace p2p::core {

/// A job exists; its spec is fetched as the blob whose hash is `job`.
struct JobAnnouncement {
    JobId job;
    std::string name;      ///< at most limits::name_bytes_max
    ByteCount spec_bytes;  ///< of the canonical spec

    bool operator==(const JobAnnouncement&) const = default;
};

/// States of a job on one node. Travels: never change the numbers.
enum class JobState : std::uint8_t {
    waiting = 1,  ///< before the first step: can resolve by itself (too few peers, spec under way)
    blocked = 2,  ///< someone must act, and the reason says who
    running = 3,  ///< taking steps
    paused = 4,   ///< here, by this node's operator
    finishing = 5,  ///< no more steps; replicas are brought together
    done = 6,       ///< the final model is held
    stopped = 7,    ///< ended before its total by a signed stop or by removal here
    failed = 8,     ///< cannot go on here; the reason says why
};

/// How far one node is in one job; the newest of (incarnation, sequence) wins.
struct JobReport {
    JobId job;
    Incarnation incarnation;
    std::uint64_t sequence = 0;
    JobState state = JobState::waiting;
    StepCount steps;      ///< local steps over all incarnations
    SampleCount samples;  ///< samples trained on here; never falls
    double samples_per_second = 0;
    double train_loss = 0;         ///< lately; 0 before the first step
    double eval_loss = 0;          ///< of the last evaluation; 0 before the first
    double accuracy = 0;           ///< of the last evaluation, a ratio
    double distance_ratio = 0;     ///< consensus distance over the parameter norm, lately
    std::uint64_t swaps = 0;       ///< applied here
    double utilization = 0;        ///< time in steps / time allotted
    std::uint64_t bytes_sent = 0;  ///< bulk bytes sent for this job
    Duration training_time{};      ///< since this node's first step of the job
    std::uint64_t batch_hash = 0;  ///< of the newest batch; equal ones on two nodes are a warning
    bool settled = false;          ///< finishing: every edge within the tolerance
    BlobHash final_hash;           ///< done: of the model held; else zero
    std::optional<Sketch> sketch;  ///< of the replica, some seconds old; none before the first

    bool operator==(const JobReport&) const = default;
};

/// About the reports of some authors, to a neighbour (core/job/report_relay). Numbers travel.
enum class ReportRoute : std::uint8_t {
    refuse = 1,  ///< bring no more of them: they come here by another way
    want = 2,    ///< bring them, and at once the newest that there are
    have = 3,    ///< they can be had here, should the receiver not know of these authors
};

struct ReportWish {
    JobId job;
    ReportRoute route = ReportRoute::refuse;
    std::vector<PeerId> authors;  ///< 1 to limits::wish_authors_max

    bool operator==(const ReportWish&) const = default;
};

/// A member of the role submit asks something of the whole mesh.
struct JobControl {
    JobId job;
    enum class Action : std::uint8_t { stop = 1 } action = Action::stop;

    bool operator==(const JobControl&) const = default;
};

/// Why a job ends. Travels: never change the numbers.
enum class EndReason : std::uint8_t {
    total = 1,  ///< the samples asked for have been seen
    time = 2,   ///< the minutes asked for are over
    stop = 3,   ///< a signed JobControl
};

/// No member takes a step any more; what a receiver checks depends on the reason.
struct JobEnd {
    JobId job;
    EndReason reason = EndReason::total;
    SampleCount progress;  ///< samples of the mesh, as its author counts them

    bool operator==(const JobEnd&) const = default;
};

/// The model that everybody takes.
struct Final {
    JobId job;
    BlobHash hash;    ///< of the model's bytes
    ByteCount bytes;  ///< their number
    SampleCount progress;

    bool operator==(const Final&) const = default;
};

/// Asks a member to freeze its state for a node that joins or lags.
struct StateRequest {
    JobId job;

    bool operator==(const StateRequest&) const = default;
};

/// The answer: a frozen state to fetch as a blob, or "busy".
struct StateOffer {
    JobId job;
    BlobHash hash;  ///< zero: busy, ask again after `busy_for`
    ByteCount bytes;
    Duration busy_for{};
    SampleCount progress;  ///< of the mesh when it was frozen

    bool operator==(const StateOffer&) const = default;
};

/// Asks for a blob (a spec, a frozen state, a final model) from `offset` on.
struct BlobRequest {
    BlobHash hash;
    std::uint64_t offset = 0;

    bool operator==(const BlobRequest&) const = default;
};

/// A piece of a blob, as a bulk frame. `total` 0: this node does not hold it.
struct BlobChunk {
    BlobHash hash;
    std::uint64_t offset = 0;
    std::uint64_t total = 0;
    std::shared_ptr<const Bytes> bytes;  ///< never null

    bool operator==(const BlobChunk& other) const {
        return hash == other.hash && offset == other.offset && total == other.total
               && *bytes == *other.bytes;
    }
};

}  // namespace p2p::core
