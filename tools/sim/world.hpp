#pragma once

// A mesh of whole Nodes on virtual time: what daemons, machines and wires do, in one process.
//
// The world carries out what Nodes want (core/node/effect.hpp): messages travel as values over the
// Network, trainers take steps when their machine's speed says so, orders are answered after what
// they cost. It decides nothing that a Node decides. world_work.cpp carries out effects,
// world_life.cpp lets machines start, die and freeze.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "core/node/node.hpp"
#include "tools/sim/audit.hpp"
#include "tools/sim/byte_links.hpp"
#include "tools/sim/event_heap.hpp"
#include "tools/sim/heard.hpp"
#include "tools/sim/network.hpp"
#include "tools/sim/stage.hpp"
#include "tools/sim/trainer.hpp"
#include "tools/sim/workbench.hpp"

namespace p2p::sim {

using MakeTrainer = std::function<std::unique_ptr<Trainer>(
    const core::StartTraining& order, core::PeerId self, std::size_t node)>;

/// Where a run stood: two runs of the same request have the same points.
struct DigestPoint {
    std::uint64_t events = 0;
    core::TimePoint at{};
    std::uint64_t digest = 0;

    bool operator==(const DigestPoint&) const = default;
};

using OnDigest = std::function<void(const DigestPoint&)>;

/// A point each so many events, and each virtual second.
inline constexpr std::uint64_t events_a_point = 10'000;

struct WorldSetup {
    Stage stage;
    std::uint64_t seed = 1;
    MakeTrainer make_trainer;
    Costs costs{};
    std::function<void(std::size_t node, const core::Notice&)> on_notice{};
    OnDigest on_digest{};
    bool as_bytes = false;            ///< messages go as sealed bytes (byte_links.hpp)
    std::vector<core::PeerId> ids{};  ///< of the machines; empty: drawn
    std::size_t links_a_node = 0;     ///< who dials whom: a ring and drawn chords; 0: all
};

/// Of a world's machines: what skewed data hang on.
[[nodiscard]] std::vector<core::PeerId> machine_ids(std::uint64_t seed, std::size_t nodes);

class World {
  public:
    explicit World(WorldSetup setup);

    /// Announces a job at a node. @pre the spec is valid
    core::JobId submit(std::size_t node, const core::JobSpec& spec);
    void submit_again(std::size_t node, core::JobId job);
    core::Result<core::CommandDone> command(std::size_t node, const core::Command& command);

    void run_for(core::Duration duration);
    /// Until `done`, looked at each `look`; false where it did not come within `limit`, or the
    /// audit found a fault.
    bool run_until(
        const std::function<bool()>& done,
        core::Duration limit,
        core::Duration look = std::chrono::milliseconds{50});

    // What happens to machines and wires.
    void kill(std::size_t node);    ///< no goodbye; others notice by the socket
    void revive(std::size_t node);  ///< a new incarnation, from its last checkpoint

    void freeze(std::size_t node) { machines_[node].is_frozen = true; }

    void thaw(std::size_t node);
    void cut(std::size_t a, std::size_t b);

    void mend(std::size_t a, std::size_t b) { wire(a, b).is_cut = false; }

    void poison_states_of(std::size_t node) { machines_[node].bench.set_lies(true); }

    void inject(std::size_t from, std::size_t to, core::Message message);

    // Looking.
    [[nodiscard]] std::size_t size() const { return machines_.size(); }

    [[nodiscard]] bool is_alive(std::size_t node) const { return machines_[node].is_alive; }

    [[nodiscard]] core::PeerId id(std::size_t node) const { return machines_[node].id; }

    [[nodiscard]] core::NodeStatus status(std::size_t node) const;
    /// Of the only job; empty where there is none yet.
    [[nodiscard]] core::JobStatus job(std::size_t node) const;
    [[nodiscard]] bool all_in(core::JobState state) const;
    [[nodiscard]] std::string describe() const;

    /// Null before the node trains.
    [[nodiscard]] Trainer* trainer(std::size_t node) const { return machines_[node].trainer.get(); }

    [[nodiscard]] const Network& network() const { return network_; }

    [[nodiscard]] const Audit& audit() const { return audit_; }

    [[nodiscard]] core::TimePoint time() const { return heap_.now; }

    [[nodiscard]] std::uint64_t events_run() const { return heap_.events_run(); }

    /// Changes with everything that any Node was told or wanted, in order.
    [[nodiscard]] std::uint64_t digest() const { return digest_; }

    /// Time in steps over time since the first one, of a node.
    [[nodiscard]] double utilization(std::size_t node) const;

    /// Time between steps, while the node lived.
    [[nodiscard]] core::Duration waited(std::size_t node) const { return machines_[node].waited; }

  private:
    struct Machine {
        explicit Machine(const WorkbenchSetup& setup)
            : bench(setup) {}

        core::PeerId id;
        double speed = 1;
        std::unique_ptr<core::Node> node;
        core::Incarnation incarnation;
        bool is_alive = false;
        bool is_frozen = false;
        std::uint64_t life = 0;
        std::vector<std::function<void()>> while_frozen;

        Workbench bench;
        std::unique_ptr<Trainer> trainer;
        std::shared_ptr<const core::JobSpec> spec;
        core::JobId job;
        core::Pace pace;
        bool is_ready = false;  // told the Node of its trainer
        bool has_ended = false;
        bool is_stepping = false;
        std::map<std::size_t, core::Incarnation> met;  // the newest life of each that it knows
        std::vector<std::pair<core::Work, Lives>> between_steps;
        std::optional<core::TimePoint> armed;  // the wakeup that is scheduled
        core::TimePoint step_began{};
        std::optional<core::TimePoint> first_step;
        core::Duration in_steps{};
        std::optional<core::TimePoint> step_ended;  // of this life
        core::Duration waited{};

        TrainerState saved;
        std::shared_ptr<const core::JobSpec> saved_spec;
        std::optional<core::Signed<core::JobAnnouncement>> announcement;  // outlives a life
        core::Save saved_as;  // the order of the newest checkpoint
        std::map<core::CommandId, core::Result<core::CommandDone>> replies;
    };

    using Pair = std::pair<std::size_t, std::size_t>;

    /// What stands between two nodes; there is one only where they have ever met.
    struct Wire {
        bool is_connected = false;
        bool is_cut = false;
        std::uint64_t session = 0;
        std::size_t queued_up = 0;    // bulk bytes handed over and not gone, to the higher node
        std::size_t queued_down = 0;  // and to the lower one

        [[nodiscard]] bool is_in(std::uint64_t number) const {
            return is_connected && session == number;
        }
    };

    static Pair pair_of(std::size_t a, std::size_t b) { return {std::min(a, b), std::max(a, b)}; }

    [[nodiscard]] Wire& wire(std::size_t a, std::size_t b) {
        const Pair pair = pair_of(a, b);
        return wires_[static_cast<std::uint64_t>(pair.first) << 32U | pair.second];
    }

    [[nodiscard]] std::size_t& queued(std::size_t from, std::size_t to) {
        return from < to ? wire(from, to).queued_up : wire(from, to).queued_down;
    }

    // world_life.cpp
    void start(std::size_t node);
    [[nodiscard]] core::NodeConfig config_of(std::size_t node) const;
    [[nodiscard]] bool may_link(std::size_t a, std::size_t b) const;
    void at_node(std::size_t node, core::Duration delay, std::function<void(core::Effects&)> act);
    void happen(
        std::size_t node, std::uint64_t life, const std::function<void(core::Effects&)>& act);
    void connect(std::size_t from, std::size_t to);
    void greet(std::size_t one, std::size_t other, bool dialled_here);
    void disconnect(std::size_t a, std::size_t b, const std::string& why);
    void tell_disconnected(std::size_t one, std::size_t other, const std::string& why);
    void cut_off(std::size_t site, core::Duration lasts);
    void unclog(std::size_t site, Way way);
    void schedule_event(const StageEvent& event, core::Rng rng);
    void begin_event(const StageEvent& event, std::size_t target);

    // world_work.cpp
    void carry_out(std::size_t node, core::Effects& effects);
    void carry(std::size_t node, core::Send& effect);
    void carry(std::size_t node, core::SendChunk& effect);
    void carry(std::size_t node, core::SendBlob& effect);
    void carry(std::size_t node, core::Connect& effect);
    void carry(std::size_t node, core::Disconnect& effect);
    void carry(std::size_t node, core::StartTraining& effect);
    void carry(std::size_t node, core::Pace& effect);
    void carry(std::size_t node, core::EndTraining& effect);
    void carry(std::size_t node, core::DropTraining& effect);
    void carry(std::size_t node, core::Save& effect);
    void carry(std::size_t node, core::Work& effect);
    void carry(std::size_t node, core::Say& effect);
    void carry(std::size_t node, core::Reply& effect);
    void send_bulk(std::size_t from, std::size_t to, core::Message message, std::size_t bytes);
    void tell_room(std::size_t from, std::size_t to);
    void do_work(std::size_t node, const core::Work& work, const Lives& lives);
    [[nodiscard]] Lives lives_of(std::size_t node, const core::WorkOrder& order) const;
    void look_for_step(std::size_t node);
    void end_step(std::size_t node);
    [[nodiscard]] bool may_step(const Machine& machine) const;
    [[nodiscard]] double progress(const Machine& machine) const;
    void hear(
        std::size_t node, std::size_t from, const core::Message& said, core::Effects& effects);
    void arm_wakeup(std::size_t node);
    void note(std::uint64_t what);
    void tell_digest();

    WorldSetup setup_;
    core::Rng rng_;
    EventHeap heap_;
    Audit audit_;
    KnownSpecs specs_;
    std::map<core::PeerId, std::size_t> index_;
    Heard heard_{index_};
    std::vector<Machine> machines_;
    Network network_;
    std::vector<std::set<std::size_t>> allowed_;     // by node; empty: everybody
    std::unordered_map<std::uint64_t, Wire> wires_;  // looked up and never walked
    std::vector<Pair> unheard_;  // who has not heard, by a clog, that the second ended a session
    core::CommandId last_command_ = 0;
    std::unique_ptr<ByteLinks> byte_links_;  // null: messages go as values
    std::uint64_t digest_ = 0;
    core::TimePoint next_digest_at_{};
};

}  // namespace p2p::sim
