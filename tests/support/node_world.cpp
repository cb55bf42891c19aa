#include "tests/support/node_world.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/codec/hash.hpp"
#include "core/codec/kernels.hpp"

namespace p2p::test {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

namespace {

constexpr std::uint64_t batch = 32;

/// The world's own hash of blobs; the daemon's is BLAKE2b.
BlobHash hash_of(const Bytes& bytes) {
    const Hash128 hash = hash128({}, bytes);
    BlobHash id;
    store_le(id.bytes.data(), hash.low);
    store_le(id.bytes.data() + 8, hash.high);
    return id;
}

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
    const auto bytes = std::make_shared<const Bytes>(job.bytes.begin(), job.bytes.end());
    const auto done = command(node, SubmitJob{.job = job, .spec = spec, .spec_bytes = bytes});
    P2P_CHECK(done.has_value());
    return job;
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

// --- effects -------------------------------------------------------------------------------------

void NodeWorld::carry_out(std::size_t node, Effects& effects) {
    Machine& machine = machines_[node];
    for (Effect& effect : effects) {
        if (auto* send = std::get_if<Send>(&effect)) {
            deliver(node, index_of(send->to), send->message);
        } else if (auto* chunk = std::get_if<SendChunk>(&effect)) {
            const auto& bytes = machine.encoded.at(chunk->edge);
            const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(chunk->offset);
            deliver(
                node,
                index_of(chunk->edge.peer),
                SwapChunk{
                    .key = {chunk->edge.job, chunk->edge.shard, chunk->n},
                    .offset = chunk->offset,
                    .total = chunk->total,
                    .bytes = std::make_shared<const Bytes>(begin, begin + chunk->length)});
        } else if (auto* blob = std::get_if<SendBlob>(&effect)) {
            const Bytes& bytes = machine.blobs[blob->hash];
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(blob->offset);
            deliver(
                node,
                index_of(blob->to),
                BlobChunk{
                    .hash = blob->hash,
                    .offset = blob->offset,
                    .total = blob->length == 0 ? 0 : bytes.size(),
                    .bytes = std::make_shared<const Bytes>(begin, begin + blob->length)});
        } else if (auto* dial = std::get_if<Connect>(&effect)) {
            connect(node, index_of(dial->peer));
        } else if (auto* hang_up = std::get_if<Disconnect>(&effect)) {
            disconnect(node, index_of(hang_up->peer), hang_up->why.text());
        } else if (auto* begin = std::get_if<StartTraining>(&effect)) {
            machine.spec = begin->spec;
            machine.job = begin->job;
            machine.is_training = true;
            if (machine.replica.empty()) machine.replica.assign(options_.floats, 3.0F);
            at_node(node, {}, [this, node](Effects& more) {
                Machine& self = machines_[node];
                self.node->on_trainer(
                    now,
                    {.job = self.job,
                     .status = {},
                     .set_samples = {},
                     .steps = self.steps,
                     .samples = self.samples,
                     .samples_mesh = {}},
                    more);
            });
        } else if (auto* pace = std::get_if<Pace>(&effect)) {
            machine.pace = *pace;
        } else if (std::holds_alternative<EndTraining>(effect)) {
            machine.has_ended = true;
        } else if (auto* save = std::get_if<Save>(&effect)) {
            machine.saved = machine.replica;
            machine.saved_steps = machine.steps;
            machine.saved_samples = machine.samples;
            at_node(node, {}, [this, node, job = save->job](Effects& more) {
                machines_[node].node->on_saved(now, job, {}, more);
            });
        } else if (auto* work = std::get_if<Work>(&effect)) {
            carry(node, *work);
        } else if (auto* say = std::get_if<Say>(&effect)) {
            notices.push_back(say->notice);
        } else if (auto* reply = std::get_if<Reply>(&effect)) {
            machine.replies.emplace(reply->command, reply->result);
        }
    }
    if (const auto next = machine.node->next_wakeup()) {
        const Duration delay = std::max(*next - now, Duration{1});
        at_node(node, delay, [this, node, wanted = *next](Effects& more) {
            const auto due = machines_[node].node->next_wakeup();
            if (due && *due <= now && wanted <= now) machines_[node].node->on_wakeup(now, more);
        });
    }
}

EdgeCodec& NodeWorld::codec(Machine& machine, const EdgeKey& edge, std::uint64_t floats) {
    auto& slot = machine.codecs[edge];
    if (!slot) {
        slot = std::make_shared<EdgeCodec>(
            floats, machine.id < edge.peer, kernels(best_kernel_level()));
    }
    return *slot;
}

Bytes NodeWorld::frozen(const Machine& machine) const {
    Bytes bytes(machine.replica.size() * sizeof(float));
    std::memcpy(bytes.data(), machine.replica.data(), bytes.size());
    return bytes;
}

WorkResult NodeWorld::apply(Machine& machine, const Apply& apply) {
    const auto found = machine.codecs.find(apply.edge);
    if (found == machine.codecs.end()) return Error{ErrorCode::not_found, "voided", "", ""};
    std::vector<float> displacement(apply.range.floats);
    found->second->displacement(apply.weight, displacement);
    double squares = 0;
    for (std::uint64_t i = 0; i < apply.range.floats; ++i) {
        machine.replica[apply.range.offset + i] += displacement[i];
        squares += static_cast<double>(displacement[i]) * static_cast<double>(displacement[i]);
    }
    found->second->commit();
    return Applied{.displacement_norm = std::sqrt(squares)};
}

void NodeWorld::carry(std::size_t node, Work& work) {
    Machine& machine = machines_[node];
    WorkResult result = Error{ErrorCode::unsupported, "not in this world", "", ""};
    bool answers = true;
    if (auto* read = std::get_if<ReadSpec>(&work.order)) {
        result = SpecRead{specs_.at(read->job)};
    } else if (auto* encode = std::get_if<Encode>(&work.order)) {
        const FloatView view(machine.replica.data() + encode->range.offset, encode->range.floats);
        const auto made = codec(machine, encode->edge, encode->range.floats)
                              .encode(view, encode->codec, encode->keyframe, encode->seed);
        machine.encoded[encode->edge] = made.bytes;
        result = Encoded{
            .bytes_total = made.bytes->size(),
            .finite = made.finite,
            .kept_ratio = made.kept_ratio};
    } else if (auto* chunk = std::get_if<StoreChunk>(&work.order)) {
        answers = false;
        machine.arriving[chunk->edge].resize(chunk->total);
        std::memcpy(
            machine.arriving[chunk->edge].data() + chunk->offset,
            chunk->bytes->data(),
            chunk->bytes->size());
    } else if (auto* decode = std::get_if<Decode>(&work.order)) {
        EdgeCodec& edge = codec(machine, decode->edge, decode->range.floats);
        Decoded decoded;
        decoded.well_formed =
            edge.decode(machine.arriving[decode->edge], decode->codec, decode->keyframe).is_ok();
        if (decoded.well_formed) {
            const SwapStats stats = edge.stats();
            decoded.finite = stats.finite;
            decoded.distance = stats.distance;
            decoded.own_norm = stats.own_norm;
            decoded.remote_norm = stats.remote_norm;
            decoded.hash = edge.swap_hash();
        }
        result = decoded;
    } else if (auto* wanted = std::get_if<Apply>(&work.order)) {
        result = apply(machine, *wanted);
    } else if (auto* drop = std::get_if<DropSwap>(&work.order)) {
        answers = false;
        if (machine.codecs.contains(drop->edge)) machine.codecs[drop->edge]->reset();
    } else if (auto* gone = std::get_if<DropEdge>(&work.order)) {
        answers = false;
        machine.codecs.erase(gone->edge);
    } else if (std::holds_alternative<Evaluate>(work.order)) {
        result = Evaluated{.has_test_set = true, .loss = 0.5, .accuracy = 0.9};
    } else if (std::holds_alternative<Freeze>(work.order)) {
        const Bytes bytes = frozen(machine);
        machine.blobs[hash_of(bytes)] = bytes;
        result = Frozen{.hash = hash_of(bytes), .bytes = bytes.size()};
    } else if (auto* store = std::get_if<StoreBlob>(&work.order)) {
        answers = false;
        Bytes& bytes = machine.blobs[store->hash];
        bytes.resize(store->total);
        std::memcpy(bytes.data() + store->offset, store->bytes->data(), store->bytes->size());
    } else if (auto* check = std::get_if<CheckBlob>(&work.order)) {
        const Bytes& bytes = machine.blobs[check->hash];
        double squares = 0;
        double norm = 0;
        std::vector<float> values(machine.replica.size());
        std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), values.size() * 4));
        for (std::size_t i = 0; i < values.size(); ++i) {
            squares += std::pow(static_cast<double>(values[i] - machine.replica[i]), 2);
            norm += std::pow(static_cast<double>(machine.replica[i]), 2);
        }
        result = hash_of(bytes) == check->hash
                     ? BlobChecked{std::sqrt(squares / norm)}
                     : BlobChecked{Error{ErrorCode::forged, "another hash", "", ""}};
    } else if (auto* adopt = std::get_if<Adopt>(&work.order)) {
        const Bytes& bytes = machine.blobs[adopt->hash];
        std::memcpy(machine.replica.data(), bytes.data(), bytes.size());
        result = Adopted{.displacement_norm = 0};
    } else {
        answers = false;  // TakeRoundSnapshot, DropBlob
    }
    if (!answers) return;
    at_node(
        node,
        std::chrono::milliseconds{1},
        [this, node, ticket = work.ticket, result](Effects& more) {
            machines_[node].node->on_worked(now, ticket, result, more);
        });
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
