#include "tests/support/node_world.hpp"

#include <algorithm>
#include <utility>

namespace p2p::test {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

namespace {

constexpr std::uint64_t batch = 32;

}  // namespace

NodeWorld::NodeWorld(NodeWorldOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      machines_(options_.nodes) {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        machines_[i].id.bytes[0] = static_cast<std::uint8_t>(i + 1);
    }
    for (std::size_t i = 0; i < machines_.size(); ++i)
        start(i);
}

std::size_t NodeWorld::index_of(PeerId peer) const {
    return peer.bytes[0] - 1U;
}

Duration NodeWorld::step_time(std::size_t node) const {
    return node < options_.step_times.size() ? options_.step_times[node]
                                             : std::chrono::milliseconds{10};
}

void NodeWorld::later(Duration delay, std::function<void()> act) {
    events_.push({.at = now + delay, .order = ++order_, .act = std::move(act)});
}

/// Something happens to a node; while it is frozen, it waits; if it dies first, it never happens.
void NodeWorld::at_node(std::size_t node, Duration delay, std::function<void(Effects&)> act) {
    const std::uint64_t life = machines_[node].life;
    later(delay, [this, node, life, act = std::move(act)] {
        auto happen = [this, node, life, act] {
            Machine& machine = machines_[node];
            if (machine.life != life || !machine.is_alive) return;
            Effects effects;
            act(effects);
            carry_out(node, effects);
        };
        if (machines_[node].is_frozen) {
            machines_[node].while_frozen.emplace_back(happen);
        } else {
            happen();
        }
    });
}

void NodeWorld::start(std::size_t node) {
    Machine& machine = machines_[node];
    machine.is_alive = true;
    ++machine.life;
    ++machine.incarnation;
    NodeConfig config;
    config.name = "n" + std::to_string(node + 1);
    config.network.bytes[0] = 1;
    config.incarnation = machine.incarnation;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (i == node) continue;
        config.allowed.push_back(
            {.id = machines_[i].id,
             .name = "n" + std::to_string(i + 1),
             .addresses = {"10.0.0." + std::to_string(i + 1) + ":7470"}});
    }
    if (machine.spec) {
        config.resumed.push_back(
            {.job = machine.job,
             .state = JobState::running,
             .steps = machine.saved_steps,
             .samples = machine.saved_samples,
             .samples_mesh = {},
             .final_hash = {},
             .spec_bytes = Bytes(machine.job.bytes.begin(), machine.job.bytes.end())});
    }
    machine.node = std::make_unique<Node>(
        std::move(config), machine.id, rng_.split(node * 1000 + machine.life));
    at_node(node, {}, [this, node](Effects& effects) {
        machines_[node].node->on_started(now, effects);
    });
    at_node(node, step_time(node), [this, node](Effects&) { step(node); });
}

JobSpec NodeWorld::spec(std::uint64_t samples) const {
    JobSpec spec;
    spec.name = "toy";
    spec.model.kind = ModelKind::external;
    spec.model.tensors = {{.name = "x", .shape = {options_.floats}, .offset = 0}};
    spec.train.samples = samples;
    spec.mixing.axes = {{"codec", "delta(q8)"}};
    spec.mixing.min_peers = static_cast<std::uint32_t>(options_.nodes);
    spec.eval.every = {};
    return spec;
}

JobId NodeWorld::submit(std::size_t node, const JobSpec& spec) {
    JobId job;
    job.bytes[5] = static_cast<std::uint8_t>(specs_.size() + 1);
    specs_[job] = spec;
    submit_again(node, job);
    return job;
}

void NodeWorld::submit_again(std::size_t node, JobId job) {
    const JobSpec& spec = specs_.at(job);
    const auto bytes = std::make_shared<const Bytes>(job.bytes.begin(), job.bytes.end());
    const auto done = command(node, SubmitJob{.job = job, .spec = spec, .spec_bytes = bytes});
    P2P_CHECK(done.has_value());
    machines_[node].blobs[BlobHash{job.bytes}] = *bytes;
}

Result<CommandDone> NodeWorld::command(std::size_t node, const Command& command) {
    const CommandId id = ++last_command_;
    Effects effects;
    machines_[node].node->on_command(now, id, command, effects);
    carry_out(node, effects);
    const auto reply = machines_[node].replies.find(id);
    if (reply == machines_[node].replies.end()) return CommandDone{};
    return reply->second;
}

// --- links ---------------------------------------------------------------------------------------

void NodeWorld::connect(std::size_t from, std::size_t to) {
    const Pair pair = pair_of(from, to);
    const bool is_possible = machines_[to].is_alive && !machines_[to].is_frozen
                             && !cut_.contains(pair) && !connected_.contains(pair);
    if (!is_possible) {
        at_node(from, options_.latency, [this, from, to](Effects& effects) {
            const Error why{ErrorCode::unreachable, "no answer", "", ""};
            machines_[from].node->on_unreachable(now, machines_[to].id, why, effects);
        });
        return;
    }
    connected_.insert(pair);
    ++sessions_[pair];
    for (const auto& [one, other] : {Pair{from, to}, Pair{to, from}}) {
        at_node(one, options_.latency, [this, one = one, other = other, from](Effects& effects) {
            Machine& peer = machines_[other];
            machines_[one].node->on_connected(
                now,
                {.id = peer.id,
                 .incarnation = peer.incarnation,
                 .name = "n" + std::to_string(other + 1),
                 .address = "",
                 .dialled_here = one == from},
                effects);
            machines_[one].node->on_writable(now, peer.id, std::size_t{1} << 30U, effects);
        });
    }
}

void NodeWorld::disconnect(std::size_t a, std::size_t b, const std::string& why) {
    if (connected_.erase(pair_of(a, b)) == 0) return;
    for (const auto& [one, other] : {Pair{a, b}, Pair{b, a}}) {
        at_node(one, {}, [this, one = one, other = other, why](Effects& effects) {
            const Error error{ErrorCode::unreachable, why, "", ""};
            machines_[one].node->on_disconnected(now, machines_[other].id, error, effects);
        });
    }
}

void NodeWorld::cut(std::size_t a, std::size_t b) {
    cut_.insert(pair_of(a, b));
    disconnect(a, b, "cut");
}

void NodeWorld::kill(std::size_t node) {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (i != node) disconnect(node, i, "connection reset");
    }
    Machine& machine = machines_[node];
    machine.is_alive = false;
    machine.is_training = false;
    machine.has_ended = false;
    machine.codecs.clear();
    machine.encoded.clear();
    machine.blobs.clear();
    ++machine.life;
}

void NodeWorld::revive(std::size_t node) {
    Machine& machine = machines_[node];
    if (!machine.saved.empty()) machine.replica = machine.saved;
    machine.steps = machine.saved_steps;
    machine.samples = machine.saved_samples;
    start(node);
}

void NodeWorld::thaw(std::size_t node) {
    machines_[node].is_frozen = false;
    for (auto& happen : std::exchange(machines_[node].while_frozen, {}))
        happen();
}

void NodeWorld::deliver(std::size_t from, std::size_t to, Message message) {
    const Pair pair = pair_of(from, to);
    if (!connected_.contains(pair)) return;
    const std::uint64_t session = sessions_[pair];
    at_node(to, options_.latency, [this, from, to, pair, session, message](Effects& effects) {
        if (!connected_.contains(pair) || sessions_[pair] != session) return;
        machines_[to].node->on_message(now, machines_[from].id, message, effects);
    });
}

void NodeWorld::inject(std::size_t from, std::size_t to, Message message) {
    deliver(from, to, std::move(message));
}

void NodeWorld::step(std::size_t node) {
    Machine& machine = machines_[node];
    const SampleCount mesh = machine.samples + machine.pace.samples_others;
    const bool may_step =
        machine.is_training && !machine.has_ended && machine.steps < machine.pace.step_limit
        && (machine.pace.samples_total.value == 0 || mesh < machine.pace.samples_total);
    if (may_step) {
        ++machine.steps;
        machine.samples += SampleCount{batch};
        for (float& value : machine.replica) {
            value += static_cast<float>(options_.noise * rng_.normal());
        }
        SteppedReport report;
        report.steps = machine.steps;
        report.samples = machine.samples;
        report.train_loss = 1;
        report.batch_hash = rng_.next_u64();
        Effects effects;
        machine.node->on_stepped(now, machine.job, report, effects);
        carry_out(node, effects);
    }
    at_node(node, step_time(node), [this, node](Effects&) { step(node); });
}

// --- looking -------------------------------------------------------------------------------------

void NodeWorld::run_for(Duration duration) {
    const TimePoint end = now + duration;
    while (!events_.empty() && events_.top().at <= end) {
        const Event event = events_.top();
        events_.pop();
        now = event.at;
        event.act();
    }
    now = end;
}

bool NodeWorld::run_until(const std::function<bool()>& done, Duration limit) {
    for (const TimePoint end = now + limit; now < end; run_for(std::chrono::milliseconds{50})) {
        if (done()) return true;
    }
    return done();
}

NodeStatus NodeWorld::status(std::size_t node) const {
    return machines_[node].node->status(now);
}

JobStatus NodeWorld::job(std::size_t node) const {
    const NodeStatus whole = status(node);
    return whole.jobs.empty() ? JobStatus{} : whole.jobs.front();
}

bool NodeWorld::all_in(JobState state) const {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (machines_[i].is_alive && job(i).state != state) return false;
    }
    return true;
}

std::string NodeWorld::describe() const {
    std::string text = "at " + std::to_string(to_seconds(now.time_since_epoch())) + " s:\n";
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (!machines_[i].is_alive) continue;
        const JobStatus job = this->job(i);
        text += "  n" + std::to_string(i + 1) + " state "
                + std::to_string(static_cast<int>(job.state)) + " steps "
                + std::to_string(job.own.steps.value) + " mesh "
                + std::to_string(job.samples_mesh.value) + " settled "
                + std::to_string(static_cast<int>(job.own.settled)) + " distance "
                + std::to_string(job.own.distance_ratio) + " reason " + job.reason + "\n";
        for (const EdgeStatus& edge : job.edges) {
            text += "     edge " + std::to_string(edge.peer.bytes[0]) + " applied "
                    + std::to_string(edge.applied) + " refused " + std::to_string(edge.refused)
                    + " (" + std::to_string(static_cast<int>(edge.last_refusal)) + ") open "
                    + std::to_string(edge.open) + " distance " + std::to_string(edge.distance_ratio)
                    + "\n";
        }
    }
    return text;
}

const std::vector<float>& NodeWorld::replica(std::size_t node) const {
    return machines_[node].replica;
}

}  // namespace p2p::test
