#include "core/node/node.hpp"

#include <utility>

#include "core/node/hall.hpp"

namespace p2p::core {

Node::Node(NodeConfig config, PeerId self, Rng rng)
    : hall_(std::make_unique<Hall>(std::move(config), self, rng)) {}

Node::~Node() = default;

void Node::on_started(TimePoint now, Effects& effects) {
    hall_->on_started(now, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_connected(TimePoint now, const ConnectedPeer& peer, Effects& effects) {
    hall_->on_connected(now, peer, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_disconnected(TimePoint now, PeerId peer, const Error& why, Effects& effects) {
    hall_->on_disconnected(now, peer, why, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_unreachable(TimePoint now, PeerId peer, const Error& why, Effects& effects) {
    hall_->on_unreachable(now, peer, why, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_message(TimePoint now, PeerId from, const Message& message, Effects& effects) {
    hall_->on_message(now, from, message, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_writable(TimePoint now, PeerId peer, std::size_t bytes, Effects& effects) {
    hall_->on_writable(now, peer, bytes, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_trainer(TimePoint now, const TrainerReady& ready, Effects& effects) {
    if (JobRun* job = hall_->find_job(ready.job)) job->on_trainer(now, ready, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_stepped(TimePoint now, JobId job, const SteppedReport& report, Effects& effects) {
    if (JobRun* run = hall_->find_job(job)) run->on_stepped(now, report, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_worked(TimePoint now, Ticket ticket, const WorkResult& result, Effects& effects) {
    hall_->on_worked(now, ticket, result, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_saved(TimePoint now, JobId job, const Status& result, Effects& effects) {
    hall_->on_saved(now, job, result, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_command(TimePoint now, CommandId id, const Command& command, Effects& effects) {
    hall_->on_command(now, id, command, effects);
    hall_->tidy_up(now, effects);
}

void Node::on_wakeup(TimePoint now, Effects& effects) {
    hall_->on_wakeup(now, effects);
    hall_->tidy_up(now, effects);
}

std::optional<TimePoint> Node::next_wakeup() const {
    return hall_->next_wakeup();
}

NodeStatus Node::status(TimePoint now) const {
    return hall_->status(now);
}

}  // namespace p2p::core
