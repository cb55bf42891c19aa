#pragma once

// Virtual time: what happens next, and nothing before its time.
//
// Events of the same instant happen in the order in which they were scheduled, so a run is a
// function of its seed. What happens is the callers'.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/time.hpp"

namespace p2p::sim {

class EventHeap {
  public:
    using Act = std::function<void()>;

    core::TimePoint now{};

    /// @pre when >= now: nothing is scheduled in the past
    void at(core::TimePoint when, Act act);

    void after(core::Duration delay, Act act) { at(now + delay, std::move(act)); }

    /// Does the next thing; false where there is none before or at `limit`.
    bool run_next(core::TimePoint limit);

    [[nodiscard]] std::uint64_t events_run() const { return events_run_; }

    [[nodiscard]] std::size_t waiting() const { return events_.size(); }

  private:
    struct Event {
        core::TimePoint at;
        std::uint64_t order = 0;
        Act act;
    };

    static bool is_later(const Event& a, const Event& b);

    std::vector<Event> events_;  // a heap, the next one first
    std::uint64_t order_ = 0;
    std::uint64_t events_run_ = 0;
};

}  // namespace p2p::sim
