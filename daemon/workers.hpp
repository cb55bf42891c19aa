#pragma once

// A few threads that run what they are given, first come, first served.
//
// Tasks are pure functions on buffers that they own or share read-only; what they find out they
// hand on by themselves (posted to the loop). The pool knows nothing of jobs.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace p2p::daemon {

class Workers {
  public:
    using Task = std::function<void()>;

    /// @pre threads > 0
    explicit Workers(std::size_t threads);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Stops.
    ~Workers();

    /// From any thread, tasks included. Dropped where the threads have been joined.
    void submit(Task task);

    /// Runs what was submitted before, and what that submits, then joins the threads. Never from a
    /// task.
    void stop();

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    bool is_stopping_ = false;
    bool is_joined_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace p2p::daemon
