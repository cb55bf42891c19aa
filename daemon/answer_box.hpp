#pragma once

// Answers on their way from the loop to the control thread: a list with a lock, and an eventfd that
// wakes the thread's poll().
//
// Shared by the server and every Respond under way, so it outlives the server: an answer that comes
// after it is put into a box that nobody opens.

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/check.hpp"
#include "daemon/control_message.hpp"

namespace p2p::daemon {

class AnswerBox {
  public:
    AnswerBox()
        : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        P2P_CHECK(event_ >= 0);
    }

    ~AnswerBox() { ::close(event_); }

    AnswerBox(const AnswerBox&) = delete;
    AnswerBox& operator=(const AnswerBox&) = delete;

    /// Readable while there is something to take.
    [[nodiscard]] int event() const { return event_; }

    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(event_, &one, sizeof(one));
    }

    void put(std::uint64_t exchange, ControlResponse response) {
        {
            const std::lock_guard lock(mutex_);
            answers_.emplace_back(exchange, std::move(response));
        }
        wake();
    }

    [[nodiscard]] std::vector<std::pair<std::uint64_t, ControlResponse>> take() {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(event_, &count, sizeof(count));
        const std::lock_guard lock(mutex_);
        return std::exchange(answers_, {});
    }

  private:
    int event_;
    std::mutex mutex_;
    std::vector<std::pair<std::uint64_t, ControlResponse>> answers_;
};

}  // namespace p2p::daemon
