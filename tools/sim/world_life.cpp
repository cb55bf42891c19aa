// Machines of a World start, die, freeze; their wires connect and break; the stage's mishaps.

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {

using core::Duration;
using core::Effects;
using core::Error;
using core::ErrorCode;
using core::PeerId;

namespace {

constexpr std::uint64_t stream_ids = 1;
constexpr std::uint64_t stream_wires = 2;
constexpr std::uint64_t stream_graph = 3;
constexpr std::uint64_t stream_events = 4;
constexpr std::uint64_t stream_lives = 1000;
constexpr Duration dial_patience = std::chrono::seconds{5};  // as the daemon's dialer

PeerId draw_id(core::Rng& rng) {
    PeerId id;
    for (std::uint8_t& byte : id.bytes)
        byte = static_cast<std::uint8_t>(rng.below(256));
    return id;
}

std::vector<std::size_t> sites_of(const Stage& stage) {
    std::vector<std::size_t> sites;
    sites.reserve(stage.nodes.size());
    for (const Place& node : stage.nodes)
        sites.push_back(node.site);
    return sites;
}

/// A ring and drawn chords: connected, and of short paths.
std::vector<std::set<std::size_t>> draw_graph(std::size_t nodes, std::size_t links, core::Rng rng) {
    std::vector<std::set<std::size_t>> graph(nodes);
    if (links == 0 || links + 1 >= nodes) return {};
    const auto join = [&](std::size_t a, std::size_t b) {
        if (a == b) return;
        graph[a].insert(b);
        graph[b].insert(a);
    };
    for (std::size_t i = 0; i < nodes; ++i)
        join(i, (i + 1) % nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        for (std::size_t tries = 0; graph[i].size() < links && tries < 100; ++tries) {
            const std::size_t other = rng.below(nodes);
            if (graph[other].size() < links) join(i, other);
        }
    }
    return graph;
}

}  // namespace

std::vector<PeerId> machine_ids(std::uint64_t seed, std::size_t nodes) {
    core::Rng ids = core::Rng(seed).split(stream_ids);
    std::vector<PeerId> list;
    list.reserve(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
        list.push_back(draw_id(ids));
    return list;
}

World::World(WorldSetup setup)
    : setup_(std::move(setup)),
      rng_(setup_.seed),
      network_(heap_, setup_.stage, sites_of(setup_.stage), rng_.split(stream_wires)),
      allowed_(
          draw_graph(setup_.stage.nodes.size(), setup_.links_a_node, rng_.split(stream_graph))) {
    const std::size_t nodes = setup_.stage.nodes.size();
    if (setup_.as_bytes) byte_links_ = std::make_unique<ByteLinks>(setup_.seed, nodes);
    std::vector<PeerId> ids = setup_.ids.empty() ? machine_ids(setup_.seed, nodes) : setup_.ids;
    for (std::size_t i = 0; byte_links_ && i < nodes; ++i)
        ids[i] = byte_links_->id(i);
    machines_.reserve(setup_.stage.nodes.size());
    for (std::size_t i = 0; i < setup_.stage.nodes.size(); ++i) {
        const PeerId id = ids[i];
        machines_.emplace_back(WorkbenchSetup{
            .self = id,
            .node = i,
            .costs = setup_.costs,
            .specs = &specs_,
            .audit = &audit_,
            .index = &index_});
        machines_.back().id = id;
        machines_.back().speed = setup_.stage.nodes[i].speed;
        index_[id] = i;
    }
    std::set<std::size_t> late;
    for (const StageEvent& event : setup_.stage.events)
        if (event.what == Mishap::join) late.insert(event.target);
    for (std::size_t i = 0; i < machines_.size(); ++i)
        if (!late.contains(i)) start(i);
    std::uint64_t number = stream_events << 20U;
    for (const StageEvent& event : setup_.stage.events)
        schedule_event(event, rng_.split(++number));
}

bool World::may_link(std::size_t a, std::size_t b) const {
    return a != b && (allowed_.empty() || allowed_[a].contains(b));
}

core::NodeConfig World::config_of(std::size_t node) const {
    const Machine& machine = machines_[node];
    core::NodeConfig config;
    config.name = "n" + std::to_string(node + 1);
    config.site = setup_.stage.sites[setup_.stage.nodes[node].site].name;
    config.network.bytes[0] = 1;
    config.incarnation = machine.incarnation;
    config.report_interval = setup_.stage.report_every;
    config.datasets.insert(setup_.stage.job.data.set);
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (i == node) continue;
        core::AllowedPeer peer{.id = machines_[i].id, .name = {}, .addresses = {}};
        if (may_link(node, i)) {  // who has no address is trusted, and never dialled
            peer.name = "n" + std::to_string(i + 1);
            peer.addresses = {"10.0.0.1:" + std::to_string(i + 1)};
        }
        config.allowed.push_back(std::move(peer));
    }
    if (machine.saved_spec) {
        config.resumed.push_back(
            {.job = machine.saved_as.job,
             .state = machine.saved_as.state,
             .steps = machine.saved.steps,
             .samples = machine.saved.samples,
             .samples_mesh = machine.saved_as.samples_mesh,
             .final_hash = machine.saved_as.final_hash,
             .spec_bytes =
                 core::Bytes(machine.saved_as.job.bytes.begin(), machine.saved_as.job.bytes.end()),
             .announcement = machine.announcement});
    }
    return config;
}

void World::start(std::size_t node) {
    Machine& machine = machines_[node];
    machine.is_alive = true;
    machine.armed.reset();
    ++machine.life;
    ++machine.incarnation;
    machine.node = std::make_unique<core::Node>(
        config_of(node), machine.id, rng_.split(stream_lives * (node + 1) + machine.life));
    at_node(node, {}, [this, node](Effects& effects) {
        machines_[node].node->on_started(heap_.now, effects);
    });
}

/// Something happens to a node; while it is frozen, it waits; if it dies first, it never happens.
void World::at_node(std::size_t node, Duration delay, std::function<void(Effects&)> act) {
    heap_.after(delay, [this, node, life = machines_[node].life, act = std::move(act)]() mutable {
        Machine& machine = machines_[node];
        if (machine.life != life || !machine.is_alive) return;
        if (machine.is_frozen) {
            machine.while_frozen.emplace_back(
                [this, node, life, act = std::move(act)] { happen(node, life, act); });
        } else {
            happen(node, life, act);
        }
    });
}

void World::happen(std::size_t node, std::uint64_t life, const std::function<void(Effects&)>& act) {
    const Machine& machine = machines_[node];
    if (machine.life != life || !machine.is_alive) return;
    Effects effects;
    act(effects);
    carry_out(node, effects);
}

void World::kill(std::size_t node) {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (i != node && may_link(node, i)) disconnect(node, i, "connection reset");
    }
    Machine& machine = machines_[node];
    machine.is_alive = false;
    machine.is_frozen = false;
    machine.is_ready = false;
    machine.has_ended = false;
    machine.is_stepping = false;
    machine.step_ended.reset();
    machine.between_steps.clear();
    machine.while_frozen.clear();
    machine.trainer.reset();
    machine.pace = {};
    machine.bench.drop_all();
    ++machine.life;
    audit_.on_killed(node);
    heard_.forget(node);
}

void World::revive(std::size_t node) {
    if (!machines_[node].is_alive) start(node);
}

void World::thaw(std::size_t node) {
    machines_[node].is_frozen = false;
    for (const auto& happen : std::exchange(machines_[node].while_frozen, {}))
        happen();
}

// --- wires ---------------------------------------------------------------------------------------

void World::connect(std::size_t from, std::size_t to) {
    Wire& between = wire(from, to);
    const bool is_clogged = network_.is_clogged(from, to) || network_.is_clogged(to, from);
    const bool is_possible = machines_[to].is_alive && !machines_[to].is_frozen && !between.is_cut
                             && !between.is_connected && may_link(from, to);
    if (!is_possible || is_clogged) {
        const Duration patience = is_clogged ? dial_patience : network_.round_trip(from, to);
        at_node(from, patience, [this, from, to](Effects& effects) {
            const Error why{ErrorCode::unreachable, "no answer", "", ""};
            machines_[from].node->on_unreachable(heap_.now, machines_[to].id, why, effects);
        });
        return;
    }
    between = {
        .is_connected = true,
        .is_cut = false,
        .session = between.session + 1,
        .queued_up = 0,
        .queued_down = 0};
    greet(from, to, /*dialled_here=*/true);
    greet(to, from, /*dialled_here=*/false);
}

/// TCP's handshake, Noise's, and Hello: two round trips.
void World::greet(std::size_t one, std::size_t other, bool dialled_here) {
    at_node(
        one,
        2 * network_.round_trip(one, other),
        [this, one, other, dialled_here, session = wire(one, other).session](Effects& effects) {
            if (!wire(one, other).is_in(session)) return;
            if (network_.is_clogged(one, other) || network_.is_clogged(other, one))
                return disconnect(one, other, "the handshake does not go on");
            const Machine& peer = machines_[other];
            machines_[one].met[other] = peer.incarnation;
            machines_[one].node->on_connected(
                heap_.now,
                {.id = peer.id,
                 .incarnation = peer.incarnation,
                 .name = "n" + std::to_string(other + 1),
                 .address = "",
                 .dialled_here = dialled_here},
                effects);
            tell_room(one, other);
        });
}

/// `a` ends it, or died; under a clog `b` does not hear of it.
void World::disconnect(std::size_t a, std::size_t b, const std::string& why) {
    if (!std::exchange(wire(a, b).is_connected, false)) return;
    network_.drop_queue(a, b);
    network_.drop_queue(b, a);
    tell_disconnected(a, b, why);
    if (network_.is_clogged(a, b) || network_.is_clogged(b, a)) {
        unheard_.emplace_back(b, a);  // no reset gets there
    } else {
        tell_disconnected(b, a, why);
    }
}

void World::tell_disconnected(std::size_t one, std::size_t other, const std::string& why) {
    at_node(one, {}, [this, one, other, why](Effects& effects) {
        const Error error{ErrorCode::unreachable, why, "", ""};
        machines_[one].node->on_disconnected(heap_.now, machines_[other].id, error, effects);
    });
}

void World::cut(std::size_t a, std::size_t b) {
    wire(a, b).is_cut = true;
    disconnect(a, b, "cut");
}

// --- the stage's mishaps -------------------------------------------------------------------------

void World::schedule_event(const StageEvent& event, core::Rng rng) {
    heap_.at(core::TimePoint{event.at}, [this, event, rng]() mutable {
        const bool is_site = event.what == Mishap::cut || event.what == Mishap::clog;
        const std::size_t choices = is_site ? setup_.stage.sites.size() : machines_.size();
        const std::size_t target =
            event.target == StageEvent::drawn ? rng.below(choices) : event.target;
        if (target < choices) begin_event(event, target);
        if (event.every <= Duration::zero()) return;
        StageEvent next = event;
        next.at = event.at + event.every;
        schedule_event(next, rng);
    });
}

void World::begin_event(const StageEvent& event, std::size_t target) {
    switch (event.what) {
        case Mishap::kill:
            if (!machines_[target].is_alive) return;
            kill(target);
            heap_.after(event.lasts, [this, target] { revive(target); });
            return;
        case Mishap::freeze:
            if (!machines_[target].is_alive || machines_[target].is_frozen) return;
            freeze(target);
            heap_.after(event.lasts, [this, target] { thaw(target); });
            return;
        case Mishap::slow:
            machines_[target].speed *= event.factor;
            heap_.after(event.lasts, [this, target, factor = event.factor] {
                machines_[target].speed /= factor;
            });
            return;
        case Mishap::join: revive(target); return;
        case Mishap::clog:
            network_.clog(target, event.way);
            heap_.after(event.lasts, [this, target, way = event.way] { unclog(target, way); });
            return;
        case Mishap::cut: cut_off(target, event.lasts);
    }
}

void World::cut_off(std::size_t site, Duration lasts) {
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < machines_.size(); ++a) {
        for (std::size_t b = a + 1; b < machines_.size(); ++b) {
            const bool a_in = setup_.stage.nodes[a].site == site;
            const bool b_in = setup_.stage.nodes[b].site == site;
            if (a_in != b_in && !wire(a, b).is_cut) pairs.emplace_back(a, b);
        }
    }
    for (const auto& [a, b] : pairs)
        cut(a, b);
    heap_.after(lasts, [this, pairs] {
        for (const auto& [a, b] : pairs)
            mend(a, b);
    });
}

/// Sockets that one end has closed meanwhile are reset at the other, which hears of it only now.
void World::unclog(std::size_t site, Way way) {
    network_.unclog(site, way);
    for (const auto& [one, other] : std::exchange(unheard_, {})) {
        if (network_.is_clogged(one, other) || network_.is_clogged(other, one)) {
            unheard_.emplace_back(one, other);
        } else {
            tell_disconnected(one, other, "connection reset");
        }
    }
}

}  // namespace p2p::sim
