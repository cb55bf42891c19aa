#pragma once

// The inside of a Node: the rooms, and the desk between them. Included by core/node/*.cpp only.
// Routing and joining only: a rule that stands here belongs into a room.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/ring.hpp"
#include "core/mesh/contacts.hpp"
#include "core/mesh/directory.hpp"
#include "core/mesh/liveness.hpp"
#include "core/mesh/trust.hpp"
#include "core/node/desk.hpp"
#include "core/node/job_run.hpp"
#include "core/node/node.hpp"

namespace p2p::core {

class Node::Hall {
  public:
    Hall(NodeConfig config, PeerId self, Rng rng);

    void on_started(TimePoint now, Effects& effects);
    void on_connected(TimePoint now, const ConnectedPeer& peer, Effects& effects);
    void on_disconnected(TimePoint now, PeerId peer, const Error& why, Effects& effects);
    void on_unreachable(TimePoint now, PeerId peer, const Error& why, Effects& effects);
    void on_message(TimePoint now, PeerId from, const Message& message, Effects& effects);
    void on_writable(TimePoint now, PeerId peer, std::size_t bytes, Effects& effects);
    void on_worked(TimePoint now, Ticket ticket, const WorkResult& result, Effects& effects);
    void on_saved(TimePoint now, JobId job, const Status& result, Effects& effects);
    void on_command(TimePoint now, CommandId id, const Command& command, Effects& effects);
    void on_wakeup(TimePoint now, Effects& effects);

    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;
    [[nodiscard]] NodeStatus status(TimePoint now) const;
    [[nodiscard]] JobRun* find_job(JobId job);

    /// At the end of each event: bulk goes where there is room, offenders are shown out, dials go
    /// out, and the driver is asked for the next wakeup.
    void tidy_up(TimePoint now, Effects& effects);

  private:
    /// What is remembered of a peer beside what the rooms hold.
    struct Guest {
        Incarnation incarnation;
        std::string address;
        bool is_failed = false;  // fell silent, rather than said goodbye
        bool has_left = false;
        std::uint64_t misbehaved = 0;
        ByteCount bulk_sent;  // over links that are gone
        ByteCount bulk_received;
        std::string note;
        TimePoint since{};
    };

    void blame(PeerId from, PeerId author, const Error& why, Effects& effects);

    // dispatch: one overload a message
    void on(TimePoint now, PeerId from, const Ping& ping, Effects& effects);
    void on(TimePoint now, PeerId from, const Pong& pong, Effects& effects);
    void on(TimePoint now, PeerId from, const PeerRecords& records, Effects& effects);
    void on(TimePoint now, PeerId from, const Leave& leave, Effects& effects);
    void on(TimePoint now, PeerId from, const SwapAck& ack, Effects& effects);
    void on(TimePoint now, PeerId from, const SwapChunk& chunk, Effects& effects);
    void on(TimePoint now, PeerId from, const Push& push, Effects& effects);
    void on(TimePoint now, PeerId from, const PushAck& ack, Effects& effects);
    void on(TimePoint now, PeerId from, const Signed<JobAnnouncement>& record, Effects& effects);
    void on(TimePoint now, PeerId from, const Signed<JobReport>& record, Effects& effects);
    void on(TimePoint now, PeerId from, const Signed<JobControl>& record, Effects& effects);
    void on(TimePoint now, PeerId from, const Signed<JobEnd>& record, Effects& effects);
    void on(TimePoint now, PeerId from, const Signed<Final>& record, Effects& effects);
    void on(TimePoint now, PeerId from, const StateRequest& request, Effects& effects);
    void on(TimePoint now, PeerId from, const StateOffer& offer, Effects& effects);
    void on(TimePoint now, PeerId from, const ReportWish& wish, Effects& effects);
    void on(TimePoint now, PeerId from, const BlobRequest& request, Effects& effects);
    void on(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects);
    template <typename Word>
    void on(TimePoint now, PeerId from, const Word& word, Effects& effects);

    // commands: one overload each; the answer goes out as a Reply
    Result<CommandDone> act(TimePoint now, const SubmitJob& submit, Effects& effects);
    Result<CommandDone> act(TimePoint now, const JoinJob& join, Effects& effects);
    Result<CommandDone> act(TimePoint now, const PauseJob& pause, Effects& effects);
    Result<CommandDone> act(TimePoint now, const ResumeJob& resume, Effects& effects);
    Result<CommandDone> act(TimePoint now, const StopJob& stop, Effects& effects);
    Result<CommandDone> act(TimePoint now, const RemoveJob& remove, Effects& effects);
    Result<CommandDone> act(TimePoint now, const Shutdown& shutdown, Effects& effects);
    Result<CommandDone> act(TimePoint now, const AdoptConfig& adopt, Effects& effects);

    JobRun& make_job(TimePoint now, JobId job);
    void count_received(PeerId from, std::size_t bytes, Effects& effects);
    void pump(PeerId peer, Effects& effects);
    [[nodiscard]] bool pump_swaps(PeerId peer, BulkLane& lane, Effects& effects);
    [[nodiscard]] bool pump_blobs(PeerId peer, BulkLane& lane, Effects& effects);
    void send_records(PeerId peer, Effects& effects) const;
    void learn_addresses(TimePoint now);
    void learn_addresses_of(TimePoint now, const AllowedPeer& peer);
    void forget_finished(TimePoint now, Effects& effects);
    void answer_shutdown(Effects& effects);
    [[nodiscard]] PeerRecord own_record() const;
    [[nodiscard]] std::string name_of(PeerId peer) const;
    [[nodiscard]] PeerStatus peer_status(TimePoint now, const AllowedPeer& peer) const;
    [[nodiscard]] std::vector<HealthProblem> health(TimePoint now) const;
    void add_health(TimePoint now, const JobRun& job, std::vector<HealthProblem>& problems) const;

    NodeConfig config_;
    PeerId self_;
    Rng rng_;
    Desk desk_;
    Trust trust_;
    Directory directory_;
    Contacts contacts_;
    Liveness liveness_;
    std::map<PeerId, Guest> guests_;
    std::map<JobId, std::unique_ptr<JobRun>> jobs_;
    std::set<JobId> removed_;
    TimePoint started_at_{};
    bool is_stopping_ = false;
    std::optional<CommandId> shutdown_;
};

}  // namespace p2p::core
