#pragma once

// The hall: events in, effects out (design: ARCHITECTURE, "the one interface").
//
// A Node joins the rooms that decide (mesh, mixing, job) and holds no rule of its own. It opens no
// socket, asks no clock, touches no parameter; a thousand of them are a std::vector. Its only
// callers are daemon/driver and the simulator's world. Not copyable; events must come with a
// `now` that never falls.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/rng.hpp"
#include "core/node/config.hpp"
#include "core/node/effect.hpp"
#include "core/node/status.hpp"

namespace p2p::core {

/// A session is up: both ends have proved who they are and exchanged Hello.
struct ConnectedPeer {
    PeerId id;
    Incarnation incarnation;
    std::string name;
    std::string address;  ///< as this end sees it
    bool dialled_here = false;
};

/// The trainer stands between two steps. Counts are over the job's whole life on this node.
struct SteppedReport {
    StepCount steps;
    SampleCount samples;
    double train_loss = 0;  ///< mean over the newest batch
    double learning_rate = 0;
    std::uint64_t batch_hash = 0;
    double utilization = 0;    ///< time in steps / time allotted, since the first step
    bool is_at_limit = false;  ///< stands still at the pace's step limit or at the total
};

/// A trainer is there (its data is loaded, its parameters stand), or why it never will be.
struct TrainerReady {
    JobId job;
    Status status;
    SampleCount set_samples;  ///< of the training set
    StepCount steps;          ///< taken up from a checkpoint
    SampleCount samples;
    SampleCount samples_mesh;
};

class Node {
  public:
    Node(NodeConfig config, PeerId self, Rng rng);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// The first event: dialling begins, resumed jobs come back.
    void on_started(TimePoint now, Effects& effects);

    void on_connected(TimePoint now, const ConnectedPeer& peer, Effects& effects);
    void on_disconnected(TimePoint now, PeerId peer, const Error& why, Effects& effects);

    /// A Connect led nowhere.
    void on_unreachable(TimePoint now, PeerId peer, const Error& why, Effects& effects);

    /// Whole and authentic; signatures of records have been verified.
    void on_message(TimePoint now, PeerId from, const Message& message, Effects& effects);

    /// The link to `peer` has room for `bytes` more of bulk before it wants to be asked again.
    void on_writable(TimePoint now, PeerId peer, std::size_t bytes, Effects& effects);

    void on_trainer(TimePoint now, const TrainerReady& ready, Effects& effects);
    void on_stepped(TimePoint now, JobId job, const SteppedReport& report, Effects& effects);
    void on_worked(TimePoint now, Ticket ticket, const WorkResult& result, Effects& effects);
    void on_saved(TimePoint now, JobId job, const Status& result, Effects& effects);
    void on_command(TimePoint now, CommandId id, const Command& command, Effects& effects);
    void on_wakeup(TimePoint now, Effects& effects);

    /// When on_wakeup is wanted; none: only events move this node.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

    [[nodiscard]] NodeStatus status(TimePoint now) const;

  private:
    class Hall;
    std::unique_ptr<Hall> hall_;
};

}  // namespace p2p::core
