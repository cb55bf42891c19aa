#include "daemon/workers.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace p2p::daemon {

Workers::Workers(std::size_t threads) {
    P2P_CHECK(threads > 0);
    for (std::size_t i = 0; i < threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

Workers::~Workers() {
    stop();
}

void Workers::submit(Task task) {
    {
        const std::lock_guard lock(mutex_);
        if (is_joined_) return;
        tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
}

void Workers::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    const std::lock_guard lock(mutex_);
    is_joined_ = true;
}

void Workers::run() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) return;  // stopping, and all is done
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
    }
}

}  // namespace p2p::daemon
