#pragma once

// The newest report of a trainer on its way to the loop: a loop that lags sees fewer, never older.
//
// The trainer puts after every step; only where nothing is under way must it post. The posted
// function takes what is newest then.

#include <mutex>
#include <optional>
#include <utility>

#include "core/node/node.hpp"

namespace p2p::daemon {

class LatestReport {
  public:
    /// True where the caller is to post a function that takes.
    [[nodiscard]] bool put(const core::SteppedReport& report) {
        const std::lock_guard lock(mutex_);
        const bool was_empty = !report_;
        report_ = report;
        return was_empty;
    }

    [[nodiscard]] std::optional<core::SteppedReport> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(report_, std::nullopt);
    }

  private:
    std::mutex mutex_;
    std::optional<core::SteppedReport> report_;
};

}  // namespace p2p::daemon
