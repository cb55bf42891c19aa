#pragma once

// Letters to a thread that reads them when it stands between two steps.
//
// The only lock that training meets. A letter is a function of what the thread owns; it is opened
// exactly once, in order: by the thread, or, with nullptr, where the box has been closed.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace p2p::daemon {

template <typename Owned>
class Mailbox {
  public:
    using Letter = std::function<void(Owned*)>;

    /// From any thread. Opened here, with nullptr, where the box is closed.
    void push(Letter letter) {
        {
            const std::lock_guard lock(mutex_);
            if (!is_closed_) {
                letters_.push_back(std::move(letter));
                changed_.notify_one();
                return;
            }
        }
        letter(nullptr);
    }

    /// Letters that are still there are opened by the next serve().
    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_one();
    }

    /// Opens all letters with `owned`; false once the box is closed, all having been opened.
    bool serve(Owned* owned) {
        for (;;) {
            Letter letter;
            {
                const std::lock_guard lock(mutex_);
                if (letters_.empty()) return !is_closed_;
                letter = std::move(letters_.front());
                letters_.pop_front();
                if (is_closed_) owned = nullptr;
            }
            letter(owned);
        }
    }

    /// Until there is a letter, the box is closed, or `until` has come.
    void wait(std::optional<std::chrono::steady_clock::time_point> until) {
        std::unique_lock lock(mutex_);
        const auto is_moved = [this] {
            return is_closed_ || !letters_.empty();
        };
        if (until) {
            changed_.wait_until(lock, *until, is_moved);
        } else {
            changed_.wait(lock, is_moved);
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Letter> letters_;
    bool is_closed_ = false;
};

}  // namespace p2p::daemon
