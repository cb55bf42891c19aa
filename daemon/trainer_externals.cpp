#include "daemon/trainer_externals.hpp"

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;

Result<std::shared_ptr<Trainer>> ExternalTrainers::open(ExternalSetup setup, TrainerEvents events) {
    const std::string name = setup.spec->name;
    const core::JobId job = setup.job;
    auto trainer =
        ExternalTrainer::open(std::move(setup), std::move(events), post_, [this] { wake(); });
    if (!trainer) return trainer.error();
    {
        const std::lock_guard lock(mutex_);
        const bool is_new = open_.emplace(name, std::pair(job, *trainer)).second;
        if (!is_new) {
            return Error{
                ErrorCode::conflict,
                "another external job called " + name + " is open here",
                "training processes attach by name",
                "remove that one first: p2pctl job remove"};
        }
    }
    wake();
    return std::shared_ptr<Trainer>(*std::move(trainer));
}

void ExternalTrainers::close(core::JobId job) {
    const std::lock_guard lock(mutex_);
    std::erase_if(open_, [&](const auto& entry) { return entry.second.first == job; });
}

void ExternalTrainers::set_done(core::JobId job) {
    std::shared_ptr<ExternalTrainer> done;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, entry] : open_) {
            if (entry.first == job) done = entry.second;
        }
    }
    if (done) done->set_done();
}

std::shared_ptr<ExternalTrainer> ExternalTrainers::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(name);
    return found == open_.end() ? nullptr : found->second.second;
}

void ExternalTrainers::set_wake(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
}

void ExternalTrainers::stop() {
    const std::lock_guard lock(mutex_);
    open_.clear();
}

void ExternalTrainers::wake() const {
    const std::lock_guard lock(mutex_);
    if (wake_) wake_();
}

}  // namespace p2p::daemon
