#pragma once

// The external jobs that are open on this node, by name: where the workshop, which opens them, and
// the tensor socket, whose clients ask for them, meet. Any thread.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "daemon/trainer_external.hpp"

namespace p2p::daemon {

class ExternalTrainers {
  public:
    explicit ExternalTrainers(PostToLoop post)
        : post_(std::move(post)) {}

    /// conflict where another job of that name is open.
    core::Result<std::shared_ptr<Trainer>> open(ExternalSetup setup, TrainerEvents events);
    void close(core::JobId job);
    void set_done(core::JobId job);

    /// Null where no such job is open.
    [[nodiscard]] std::shared_ptr<ExternalTrainer> find(const std::string& name) const;

    /// Called whenever a client may have something to hear. Once, before the first client.
    void set_wake(std::function<void()> wake);
    void stop();

  private:
    void wake() const;

    PostToLoop post_;
    mutable std::mutex mutex_;
    std::map<std::string, std::pair<core::JobId, std::shared_ptr<ExternalTrainer>>> open_;
    std::function<void()> wake_;
};

}  // namespace p2p::daemon
