#include "tools/sim/world.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::sim {

using core::Duration;
using core::Effects;
using core::JobState;
using core::JobStatus;
using core::NodeStatus;
using core::TimePoint;

core::JobId World::submit(std::size_t node, const core::JobSpec& spec) {
    core::JobId job;
    job.bytes[5] = static_cast<std::uint8_t>(specs_.size() + 1);
    specs_[job] = spec;
    submit_again(node, job);
    return job;
}

void World::submit_again(std::size_t node, core::JobId job) {
    core::Bytes id(job.bytes.begin(), job.bytes.end());
    machines_[node].bench.serve(core::BlobHash{job.bytes}, id);
    const auto bytes = std::make_shared<const core::Bytes>(std::move(id));
    const auto done =
        command(node, core::SubmitJob{.job = job, .spec = specs_.at(job), .spec_bytes = bytes});
    P2P_CHECK(done.has_value());
}

core::Result<core::CommandDone> World::command(std::size_t node, const core::Command& command) {
    const core::CommandId id = ++last_command_;
    Effects effects;
    machines_[node].node->on_command(heap_.now, id, command, effects);
    carry_out(node, effects);
    const auto reply = machines_[node].replies.find(id);
    if (reply == machines_[node].replies.end()) return core::CommandDone{};
    return reply->second;
}

void World::run_for(Duration duration) {
    const TimePoint end = heap_.now + duration;
    while (!audit_.fault() && heap_.run_next(end))
        if (setup_.on_digest) tell_digest();
    if (!audit_.fault()) heap_.now = end;
}

void World::tell_digest() {
    const bool is_next_second = heap_.now >= next_digest_at_;
    if (!is_next_second && heap_.events_run() % events_a_point != 0) return;
    if (is_next_second) {
        const auto passed = std::chrono::floor<std::chrono::seconds>(heap_.now.time_since_epoch());
        next_digest_at_ = TimePoint{passed + std::chrono::seconds{1}};
    }
    setup_.on_digest({.events = heap_.events_run(), .at = heap_.now, .digest = digest_});
}

bool World::run_until(const std::function<bool()>& done, Duration limit, Duration look) {
    for (const TimePoint end = heap_.now + limit; heap_.now < end && !audit_.fault();
         run_for(look)) {
        if (done()) return true;
    }
    return !audit_.fault() && done();
}

void World::inject(std::size_t from, std::size_t to, core::Message message) {
    core::Send send{.to = machines_[to].id, .message = std::move(message)};
    carry(from, send);
}

NodeStatus World::status(std::size_t node) const {
    return machines_[node].node->status(heap_.now);
}

JobStatus World::job(std::size_t node) const {
    const NodeStatus whole = status(node);
    return whole.jobs.empty() ? JobStatus{} : whole.jobs.front();
}

bool World::all_in(JobState state) const {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (machines_[i].is_alive && job(i).state != state) return false;
    }
    return true;
}

std::string World::describe() const {
    std::string text =
        "at " + std::to_string(core::to_seconds(heap_.now.time_since_epoch())) + " s:\n";
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (!machines_[i].is_alive) continue;
        const JobStatus job = this->job(i);
        text += "  n" + std::to_string(i + 1) + " state "
                + std::to_string(static_cast<int>(job.state)) + " steps "
                + std::to_string(job.own.steps.value) + " mesh "
                + std::to_string(job.samples_mesh.value) + " settled "
                + std::to_string(static_cast<int>(job.own.settled)) + " distance "
                + std::to_string(job.own.distance_ratio) + " reason " + job.reason + "\n";
        for (const core::EdgeStatus& edge : job.edges) {
            text += "     edge to n" + std::to_string(index_.at(edge.peer) + 1) + " applied "
                    + std::to_string(edge.applied) + " refused " + std::to_string(edge.refused)
                    + " (" + std::to_string(static_cast<int>(edge.last_refusal)) + ") open "
                    + std::to_string(edge.open) + " distance " + std::to_string(edge.distance_ratio)
                    + "\n";
        }
    }
    return text;
}

}  // namespace p2p::sim
