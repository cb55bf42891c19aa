#pragma once

// A loop thread for tests: functions are posted from any thread and run here until a condition
// holds. A deadline far beyond what any test needs turns a hang into a failure.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace p2p::daemon {

class TestLoop {
  public:
    /// May be called after the loop is gone.
    [[nodiscard]] std::function<void(std::function<void()>)> poster() const {
        return [queue = queue_](std::function<void()> function) {
            const std::lock_guard lock(queue->mutex);
            queue->functions.push_back(std::move(function));
            queue->changed.notify_one();
        };
    }

    /// Runs what is posted until `is_done`, which is asked after each function; false: too late.
    bool run_until(const std::function<bool()>& is_done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!is_done()) {
            std::unique_lock lock(queue_->mutex);
            const bool is_there = queue_->changed.wait_until(
                lock, deadline, [&] { return !queue_->functions.empty(); });
            if (!is_there) return false;
            auto function = std::move(queue_->functions.front());
            queue_->functions.pop_front();
            lock.unlock();
            function();
        }
        return true;
    }

  private:
    struct Queue {
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<std::function<void()>> functions;
    };

    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace p2p::daemon
