// The hall obeys: one short function for each command of the operator (core/node/hall).

#include <utility>

#include "core/mixing/recipe.hpp"
#include "core/node/hall.hpp"
#include "core/node/job_layout.hpp"

namespace p2p::core {

namespace {

Error no_such_job(JobId job) {
    return {
        ErrorCode::not_found,
        "there is no job " + job.short_text(),
        "it was never announced here, or it was removed",
        "p2pctl job list"};
}

}  // namespace

void Node::Hall::on_command(TimePoint now, CommandId id, const Command& command, Effects& effects) {
    if (std::holds_alternative<Shutdown>(command)) shutdown_ = id;
    auto result = std::visit([&](const auto& each) { return act(now, each, effects); }, command);
    if (shutdown_ == id) return answer_shutdown(effects);
    effects.emplace_back(Reply{.command = id, .result = std::move(result)});
}

Result<CommandDone> Node::Hall::act(TimePoint now, const SubmitJob& submit, Effects& effects) {
    const Status valid = validate(submit.spec);
    if (!valid) return valid.error();
    const auto recipe = resolve_recipe(
        submit.spec.mixing.recipe, submit.spec.mixing.axes, submit.spec.train.round_steps);
    if (!recipe) return recipe.error();
    if (const Status suits = check_local(submit.spec, recipe->local); !suits) return suits.error();
    if (const Status fits = check_layers(submit.spec, *recipe); !fits) return fits.error();

    for (const auto& [id, job] : jobs_) {
        if (job->name() != submit.spec.name || id == submit.job) continue;
        if (job->state() == JobState::done || job->state() == JobState::stopped) continue;
        return Error{
            ErrorCode::conflict,
            "a job named " + submit.spec.name + " exists with another specification",
            "it is " + id.short_text() + ", this one would be " + submit.job.short_text(),
            "give the new job another name, or `p2pctl job stop " + submit.spec.name + "` first"};
    }
    const std::string what = submit.spec.name + " (" + recipe->text() + ")";
    if (submit.only_validate) return CommandDone{.job = submit.job, .text = what + " is valid"};

    JobRun* known = find_job(submit.job);
    if (known != nullptr && known->state() != JobState::waiting
        && known->state() != JobState::blocked) {
        return CommandDone{.job = submit.job, .text = what + " exists already"};
    }
    removed_.erase(submit.job);
    JobRun& job = make_job(now, submit.job);
    if (known == nullptr) {
        for (const auto& [peer, lane] : desk_.lanes()) {
            job.on_linked(now, peer, guests_[peer].incarnation, effects);
        }
    }
    job.on_submitted(now, submit, effects);
    return CommandDone{.job = submit.job, .text = what + " is announced"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const JoinJob& join, Effects& effects) {
    JobRun* job = find_job(join.job);
    if (job == nullptr) return no_such_job(join.job);
    job->join(now, effects);
    return CommandDone{.job = join.job, .text = job->name() + " is joined"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const PauseJob& pause, Effects& effects) {
    JobRun* job = find_job(pause.job);
    if (job == nullptr) return no_such_job(pause.job);
    job->pause(now, effects);
    if (job->state() != JobState::paused) {
        return Error{
            ErrorCode::conflict,
            job->name() + " cannot be paused",
            "it is not running here",
            "p2pctl job show " + job->name()};
    }
    return CommandDone{.job = pause.job, .text = job->name() + " is paused on this node"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const ResumeJob& resume, Effects& effects) {
    JobRun* job = find_job(resume.job);
    if (job == nullptr) return no_such_job(resume.job);
    if (job->state() != JobState::paused) {
        return Error{
            ErrorCode::conflict,
            job->name() + " cannot be resumed",
            "it is not paused here",
            "p2pctl job show " + job->name()};
    }
    job->resume(now, effects);
    return CommandDone{.job = resume.job, .text = job->name() + " goes on"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const StopJob& stop, Effects& effects) {
    JobRun* job = find_job(stop.job);
    if (job == nullptr) return no_such_job(stop.job);
    job->stop(now, effects);
    return CommandDone{.job = stop.job, .text = job->name() + " is told to stop, on all nodes"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const RemoveJob& remove, Effects& effects) {
    JobRun* job = find_job(remove.job);
    if (job == nullptr) return no_such_job(remove.job);
    if (job->state() == JobState::running || job->state() == JobState::finishing) {
        return Error{
            ErrorCode::conflict,
            job->name() + " is running here",
            "only a job that has ended or is paused can be removed",
            "p2pctl job stop " + job->name() + " (all nodes), or p2pctl job pause " + job->name()};
    }
    const std::string name = job->name();
    job->remove(now, effects);
    jobs_.erase(remove.job);
    removed_.insert(remove.job);
    return CommandDone{.job = remove.job, .text = name + " is removed from this node"};
}

Result<CommandDone> Node::Hall::act(TimePoint now, const Shutdown& shutdown, Effects& effects) {
    (void)shutdown;
    is_stopping_ = true;
    desk_.broadcast(Leave{.reason = "stopping"}, std::nullopt, effects);
    for (auto& [id, job] : jobs_)
        job->prepare_shutdown(now, effects);
    return CommandDone{};
}

void Node::Hall::answer_shutdown(Effects& effects) {
    if (!shutdown_) return;
    for (const auto& [id, job] : jobs_) {
        if (job->is_saving()) return;
    }
    effects.emplace_back(
        Reply{.command = *shutdown_, .result = CommandDone{.job = {}, .text = "stopped"}});
    shutdown_.reset();
}

Result<CommandDone> Node::Hall::act(TimePoint now, const AdoptConfig& adopt, Effects& effects) {
    const NodeConfig& fresh = *adopt.config;
    config_.network = fresh.network;
    config_.bootstrap = fresh.bootstrap;
    config_.accept = fresh.accept;
    config_.datasets = fresh.datasets;
    config_.site = fresh.site;
    trust_.replace(fresh.allowed);
    std::vector<PeerId> strangers;
    for (const auto& [peer, lane] : desk_.lanes()) {
        if (!trust_.may_connect(peer)) strangers.push_back(peer);
    }
    for (const PeerId peer : strangers) {
        const Error why{ErrorCode::not_permitted, "taken off the allow-list", "", ""};
        effects.emplace_back(Disconnect{.peer = peer, .why = why});
        on_disconnected(now, peer, why, effects);
        contacts_.remove(peer);
    }
    learn_addresses(now);
    return CommandDone{.job = {}, .text = "configuration taken up"};
}

}  // namespace p2p::core
