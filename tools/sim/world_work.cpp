// What the Nodes of a World want is done: messages, steps, orders, checkpoints.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {

using core::Duration;
using core::Effect;
using core::Effects;
using core::Message;
using core::SampleCount;

namespace {

constexpr std::size_t room_bytes = 512 * core::kib;  // as of a link of the daemon
constexpr std::size_t low_water_bytes = 256 * core::kib;
constexpr double bulk_header_bytes = 120;

/// About what proto/encode makes of it, with frame and seal.
double word_bytes(const Message& message) {
    if (const auto* report = std::get_if<core::Signed<core::JobReport>>(&message)) {
        return report->value.sketch ? 620 : 360;
    }
    if (const auto* records = std::get_if<core::PeerRecords>(&message)) {
        return 60 + 320 * static_cast<double>(records->records.size());
    }
    if (std::holds_alternative<core::Ping>(message) || std::holds_alternative<core::Pong>(message))
        return 48;
    return 140;
}

/// Of what arithmetic gave, so that a digest parts where a number does.
std::uint64_t figure_of(const core::WorkResult& result) {
    if (const auto* applied = std::get_if<core::Applied>(&result))
        return std::bit_cast<std::uint64_t>(applied->displacement_norm);
    if (const auto* decoded = std::get_if<core::Decoded>(&result)) return decoded->hash.low;
    return result.index();
}

}  // namespace

void World::note(std::uint64_t what) {
    const auto time = static_cast<std::uint64_t>(heap_.now.time_since_epoch().count());
    digest_ = (digest_ ^ (what + (time << 8U))) * 0x9E3779B97F4A7C15U;
    digest_ ^= digest_ >> 29U;
}

void World::carry_out(std::size_t node, Effects& effects) {
    for (Effect& effect : effects) {
        note(effect.index() + 64 * node);
        std::visit([&](auto& one) { carry(node, one); }, effect);
    }
    arm_wakeup(node);
}

void World::arm_wakeup(std::size_t node) {
    Machine& machine = machines_[node];
    if (!machine.is_alive) return;
    const auto due = machine.node->next_wakeup();
    if (!due) return;
    const core::TimePoint when = std::max(*due, heap_.now);
    if (machine.armed && *machine.armed <= when) return;  // that one arms the next
    machine.armed = when;
    at_node(node, when - heap_.now, [this, node, when](Effects& effects) {
        Machine& self = machines_[node];
        if (self.armed == when) self.armed.reset();
        const auto wanted = self.node->next_wakeup();
        if (!wanted || *wanted > heap_.now) return;
        audit_.on_woken(node, heap_.now);
        self.node->on_wakeup(heap_.now, effects);
    });
}

// --- messages ------------------------------------------------------------------------------------

void World::carry(std::size_t node, core::Send& effect) {
    const std::size_t to = index_.at(effect.to);
    const Wire& between = wire(node, to);
    if (!between.is_connected) return;
    const double bytes = word_bytes(effect.message);
    heard_.on_told(node, effect.message);
    if (!heard_.keep_news(to, effect.message)) return network_.send_word(node, to, bytes, {});
    auto message = std::make_shared<Message>(std::move(effect.message));
    network_.send_word(node, to, bytes, [this, node, to, session = between.session, message] {
        if (heard_.knows(to, *message)) return;
        at_node(to, {}, [this, node, to, session, message](Effects& effects) {
            if (!wire(node, to).is_in(session)) return;
            hear(to, node, *message, effects);
        });
    });
}

/// @pre the two are connected
void World::hear(std::size_t node, std::size_t from, const Message& said, Effects& effects) {
    const core::PeerId peer = machines_[from].id;
    if (!byte_links_) return machines_[node].node->on_message(heap_.now, peer, said, effects);
    const auto read = byte_links_->pass(from, node, wire(from, node).session, said);
    if (!read) return audit_.on_unreadable(from, node, read.error());
    machines_[node].node->on_message(heap_.now, peer, *read, effects);
}

void World::send_bulk(std::size_t from, std::size_t to, Message message, std::size_t bytes) {
    if (!wire(from, to).is_connected) return;
    queued(from, to) += bytes;
    const double wire_bytes =
        (static_cast<double>(bytes) + bulk_header_bytes) * setup_.stage.message_scale;
    const std::uint64_t session = wire(from, to).session;
    auto shared = std::make_shared<Message>(std::move(message));
    network_.send_bulk(
        from,
        to,
        wire_bytes,
        [this, from, to, session, bytes] {
            if (!wire(from, to).is_in(session)) return;
            queued(from, to) -= bytes;
            if (queued(from, to) < low_water_bytes) tell_room(from, to);
        },
        [this, from, to, session, shared] {
            at_node(to, {}, [this, from, to, session, shared](Effects& effects) {
                if (!wire(from, to).is_in(session)) return;
                hear(to, from, *shared, effects);
            });
        });
}

void World::tell_room(std::size_t from, std::size_t to) {
    at_node(from, {}, [this, from, to](Effects& effects) {
        const std::size_t waiting = queued(from, to);
        if (!wire(from, to).is_connected || waiting >= room_bytes) return;
        machines_[from].node->on_writable(
            heap_.now, machines_[to].id, room_bytes - waiting, effects);
    });
}

void World::carry(std::size_t node, core::SendChunk& effect) {
    const auto encoded = machines_[node].bench.encoded(effect.edge);
    if (!encoded || encoded->size() < effect.offset + effect.length) return;
    const auto begin = encoded->begin() + static_cast<std::ptrdiff_t>(effect.offset);
    core::SwapChunk chunk{
        .key = {.job = effect.edge.job, .shard = effect.edge.shard, .n = effect.n},
        .offset = effect.offset,
        .total = effect.total,
        .bytes = std::make_shared<core::Bytes>(begin, begin + effect.length)};
    send_bulk(node, index_.at(effect.edge.peer), std::move(chunk), effect.length);
}

void World::carry(std::size_t node, core::SendBlob& effect) {
    const auto blob = machines_[node].bench.blob(effect.hash);
    const std::uint64_t size = blob ? blob->size() : 0;
    const std::uint64_t offset = std::min(effect.offset, size);
    const std::uint64_t length = std::min<std::uint64_t>(effect.length, size - offset);
    core::BlobChunk chunk{
        .hash = effect.hash,
        .offset = effect.offset,
        .total = effect.length > 0 ? size : 0,
        .bytes = std::make_shared<core::Bytes>()};
    if (blob) {
        const auto begin = blob->begin() + static_cast<std::ptrdiff_t>(offset);
        chunk.bytes =
            std::make_shared<core::Bytes>(begin, begin + static_cast<std::ptrdiff_t>(length));
    }
    send_bulk(node, index_.at(effect.to), std::move(chunk), length);
}

void World::carry(std::size_t node, core::Connect& effect) {
    connect(node, index_.at(effect.peer));
}

void World::carry(std::size_t node, core::Disconnect& effect) {
    disconnect(node, index_.at(effect.peer), effect.why.what);
}

// --- training ------------------------------------------------------------------------------------

void World::carry(std::size_t node, core::StartTraining& effect) {
    Machine& machine = machines_[node];
    machine.spec = effect.spec;
    machine.job = effect.job;
    machine.has_ended = false;
    if (effect.announcement) machine.announcement = effect.announcement;
    machine.trainer = setup_.make_trainer(effect, machine.id, node);
    if (machine.saved_spec && machine.saved_as.job == effect.job) {
        machine.trainer->restore(machine.saved, /*with_counts=*/true);
    }
    at_node(node, {}, [this, node](Effects& effects) {
        Machine& self = machines_[node];
        if (!self.trainer) return;
        self.is_ready = true;
        self.node->on_trainer(
            heap_.now,
            {.job = self.job,
             .status = {},
             .set_samples = self.trainer->set_samples(),
             .steps = self.trainer->steps(),
             .samples = self.trainer->samples(),
             .samples_mesh = {}},
            effects);
    });
}

void World::carry(std::size_t node, core::Pace& effect) {
    machines_[node].pace = effect;
    look_for_step(node);
}

void World::carry(std::size_t node, core::EndTraining& /*effect*/) {
    machines_[node].has_ended = true;
    if (machines_[node].trainer) machines_[node].trainer->end_steps();
}

void World::carry(std::size_t node, core::DropTraining& effect) {
    Machine& machine = machines_[node];
    machine.bench.drop_job(effect.job);
    machine.between_steps.clear();
    machine.trainer.reset();
    machine.pace = {};
    machine.is_ready = false;
    machine.has_ended = false;
    if (effect.remove) machine.saved_spec.reset();
}

void World::carry(std::size_t node, core::Save& effect) {
    Machine& machine = machines_[node];
    if (machine.trainer) {
        machine.saved = machine.trainer->save();
        machine.bench.keep(machine.saved.parameters);
        machine.saved_spec = machine.spec;
        machine.saved_as = effect;
    }
    at_node(node, std::chrono::milliseconds{1}, [this, node, job = effect.job](Effects& effects) {
        machines_[node].node->on_saved(heap_.now, job, {}, effects);
    });
}

bool World::may_step(const Machine& machine) const {
    if (!machine.trainer || !machine.is_ready || machine.has_ended) return false;
    if (machine.trainer->steps() >= machine.pace.step_limit) return false;
    if (machine.pace.samples_total > SampleCount{}) {
        return machine.trainer->samples() + machine.pace.samples_others
               < machine.pace.samples_total;
    }
    const Duration trained =
        machine.first_step ? heap_.now - *machine.first_step : Duration::zero();
    return machine.pace.time_total > Duration::zero() && trained < machine.pace.time_total;
}

double World::progress(const Machine& machine) const {
    if (machine.pace.samples_total > SampleCount{}) {
        const SampleCount done = machine.trainer->samples() + machine.pace.samples_others;
        return static_cast<double>(done.value)
               / static_cast<double>(machine.pace.samples_total.value);
    }
    const Duration trained =
        machine.first_step ? heap_.now - *machine.first_step : Duration::zero();
    return core::to_seconds(trained) / core::to_seconds(machine.pace.time_total);
}

void World::look_for_step(std::size_t node) {
    Machine& machine = machines_[node];
    if (machine.is_stepping || !may_step(machine)) return;
    machine.is_stepping = true;
    machine.step_began = heap_.now;
    if (machine.step_ended) machine.waited += heap_.now - *machine.step_ended;
    if (!machine.first_step) machine.first_step = heap_.now;
    const double spread = std::exp(setup_.stage.step_jitter * rng_.normal());
    const double seconds = core::to_seconds(setup_.stage.step_time) / machine.speed * spread;
    at_node(node, core::from_seconds(seconds), [this, node](Effects& effects) {
        end_step(node);
        Machine& self = machines_[node];
        if (!self.trainer) return;
        core::SteppedReport report;
        report.steps = self.trainer->steps();
        report.samples = self.trainer->samples();
        report.train_loss = self.trainer->train_loss();
        report.batch_hash = self.trainer->batch_hash();
        report.utilization = utilization(node);
        report.is_at_limit = !may_step(self);
        self.node->on_stepped(heap_.now, self.job, report, effects);
        heap_.after({}, [this, node] { look_for_step(node); });
    });
}

/// The step is taken when its time is over: nothing touches the parameters meanwhile.
void World::end_step(std::size_t node) {
    Machine& machine = machines_[node];
    machine.is_stepping = false;
    if (!machine.trainer) return;
    machine.trainer->step(progress(machine), machine.pace.members);
    machine.in_steps += heap_.now - machine.step_began;
    machine.step_ended = heap_.now;
    for (const auto& [work, lives] : std::exchange(machine.between_steps, {}))
        do_work(node, work, lives);
}

double World::utilization(std::size_t node) const {
    const Machine& machine = machines_[node];
    if (!machine.first_step || heap_.now == *machine.first_step) return 0;
    return core::to_seconds(machine.in_steps) / core::to_seconds(heap_.now - *machine.first_step);
}

// --- orders --------------------------------------------------------------------------------------

void World::carry(std::size_t node, core::Work& effect) {
    Machine& machine = machines_[node];
    if (machine.is_stepping && Workbench::touches_parameters(effect.order)) {
        const Lives lives = lives_of(node, effect.order);
        machine.between_steps.emplace_back(std::move(effect), lives);
    } else {
        do_work(node, effect, lives_of(node, effect.order));
    }
}

Lives World::lives_of(std::size_t node, const core::WorkOrder& order) const {
    const Machine& machine = machines_[node];
    const auto* apply = std::get_if<core::Apply>(&order);
    if (apply == nullptr) return {};
    const auto met = machine.met.find(index_.at(apply->edge.peer));
    return {
        .self = machine.incarnation,
        .peer = met == machine.met.end() ? core::Incarnation{} : met->second};
}

void World::do_work(std::size_t node, const core::Work& work, const Lives& lives) {
    Machine& machine = machines_[node];
    WorkDone done;
    if (Workbench::touches_parameters(work.order) && !machine.trainer) {
        done.result = core::Error{core::ErrorCode::not_found, "not trained here", "", ""};
    } else {
        done = machine.bench.work(work.order, machine.trainer.get(), lives);
    }
    if (!done.result) return;
    note(figure_of(*done.result));
    const double seconds = done.seconds * setup_.stage.message_scale;
    at_node(
        node,
        core::from_seconds(seconds),
        [this, node, ticket = work.ticket, result = *std::move(done.result)](Effects& effects) {
            machines_[node].node->on_worked(heap_.now, ticket, result, effects);
        });
}

void World::carry(std::size_t node, core::Say& effect) {
    if (setup_.on_notice) setup_.on_notice(node, effect.notice);
}

void World::carry(std::size_t node, core::Reply& effect) {
    machines_[node].replies.insert_or_assign(effect.command, std::move(effect.result));
}

}  // namespace p2p::sim
