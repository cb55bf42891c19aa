#pragma once

// Nodes joined by queues in memory, on a virtual clock: the whole of core, with real codecs, and
// with a trainer that adds noise instead of learning. What the daemon does, in one small file.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/rng.hpp"
#include "core/codec/edge.hpp"
#include "core/node/node.hpp"

namespace p2p::test {

struct NodeWorldOptions {
    std::uint64_t seed = 1;
    std::size_t nodes = 4;
    std::uint64_t floats = 500;
    core::Duration latency = std::chrono::milliseconds{5};
    std::vector<core::Duration> step_times{};  ///< by node; missing: 10 ms
    double noise = 0.001;
};

class NodeWorld {
  public:
    explicit NodeWorld(NodeWorldOptions options);

    /// A job over `samples` samples of the mesh; external, one tensor. Not submitted yet.
    [[nodiscard]] core::JobSpec spec(std::uint64_t samples) const;
    core::JobId submit(std::size_t node, const core::JobSpec& spec);
    void submit_again(std::size_t node, core::JobId job);
    core::Result<core::CommandDone> command(std::size_t node, const core::Command& command);
    void run_for(core::Duration duration);
    /// Runs until `done`, at most `limit` of virtual time; false where it never came.
    bool run_until(const std::function<bool()>& done, core::Duration limit);

    void cut(std::size_t a, std::size_t b);  ///< the link breaks and stays broken

    void mend(std::size_t a, std::size_t b) { cut_.erase(pair_of(a, b)); }

    void kill(std::size_t node);    ///< no goodbye; others notice by the socket
    void revive(std::size_t node);  ///< new incarnation, from its last save

    void freeze(std::size_t node) { machines_[node].is_frozen = true; }  ///< as SIGSTOP does

    void thaw(std::size_t node);

    /// Whoever asks `node` for its state gets zeros, under a hash that fits them; and for a spec
    /// that it fetched, zeros.
    void poison_states_of(std::size_t node) { machines_[node].gives_zeros = true; }

    [[nodiscard]] core::NodeStatus status(std::size_t node) const;
    [[nodiscard]] core::JobStatus job(std::size_t node) const;
    [[nodiscard]] bool all_in(core::JobState state) const;
    [[nodiscard]] std::string describe() const;  ///< a line a node, for failures
    [[nodiscard]] const std::vector<float>& replica(std::size_t node) const;

    [[nodiscard]] core::PeerId id(std::size_t node) const { return machines_[node].id; }

    void inject(std::size_t from, std::size_t to, core::Message message);

    core::TimePoint now{};
    std::vector<core::Notice> notices;

  private:
    struct Machine {
        core::PeerId id;
        std::unique_ptr<core::Node> node;
        core::Incarnation incarnation;
        bool is_alive = false;
        bool is_frozen = false;
        bool gives_zeros = false;
        std::uint64_t life = 0;
        std::vector<std::function<void()>> while_frozen;
        std::vector<float> replica;
        std::vector<float> saved;
        core::StepCount saved_steps;
        core::SampleCount saved_samples;
        std::shared_ptr<const core::JobSpec> spec;
        core::JobId job;
        core::StepCount steps;
        core::SampleCount samples;
        core::Pace pace;
        bool is_training = false;
        bool has_ended = false;
        std::map<core::EdgeKey, std::shared_ptr<core::EdgeCodec>> codecs;
        std::map<core::EdgeKey, std::shared_ptr<const core::Bytes>> encoded;
        std::map<core::EdgeKey, core::Bytes> arriving;
        std::map<core::BlobHash, core::Bytes> blobs;
        std::map<core::CommandId, core::Result<core::CommandDone>> replies;
    };

    struct Event {
        core::TimePoint at;
        std::uint64_t order;
        std::function<void()> act;

        bool operator>(const Event& other) const {
            return std::tie(at, order) > std::tie(other.at, other.order);
        }
    };

    using Pair = std::pair<std::size_t, std::size_t>;

    static Pair pair_of(std::size_t a, std::size_t b) { return {std::min(a, b), std::max(a, b)}; }

    void later(core::Duration delay, std::function<void()> act);
    void at_node(std::size_t node, core::Duration delay, std::function<void(core::Effects&)> act);
    void start(std::size_t node);
    void connect(std::size_t from, std::size_t to);
    void disconnect(std::size_t a, std::size_t b, const std::string& why);
    void carry_out(std::size_t node, core::Effects& effects);
    void carry_training(std::size_t node, core::Effect& effect);
    void carry(std::size_t node, core::Work& work);
    core::SpecRead read_spec(Machine& machine, const core::ReadSpec& order);
    bool carry_replica(Machine& machine, core::WorkOrder& order, core::WorkResult& result);
    void deliver(std::size_t from, std::size_t to, core::Message message);
    void step(std::size_t node);
    core::WorkResult apply(Machine& machine, const core::Apply& apply);
    core::EdgeCodec& codec(Machine& machine, const core::EdgeKey& edge, std::uint64_t floats);
    core::Bytes frozen(const Machine& machine) const;
    std::size_t index_of(core::PeerId peer) const;
    core::Duration step_time(std::size_t node) const;

    NodeWorldOptions options_;
    core::Rng rng_;
    std::vector<Machine> machines_;
    std::map<core::JobId, core::JobSpec> specs_;
    std::set<Pair> connected_;
    std::set<Pair> cut_;
    std::map<Pair, std::uint64_t> sessions_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t order_ = 0;
    core::CommandId last_command_ = 0;
};

}  // namespace p2p::test
