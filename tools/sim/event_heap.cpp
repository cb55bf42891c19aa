#include "tools/sim/event_heap.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::sim {

bool EventHeap::is_later(const Event& a, const Event& b) {
    return std::tie(a.at, a.order) > std::tie(b.at, b.order);
}

void EventHeap::at(core::TimePoint when, Act act) {
    P2P_CHECK(when >= now);
    events_.push_back({.at = when, .order = ++order_, .act = std::move(act)});
    std::push_heap(events_.begin(), events_.end(), is_later);
}

bool EventHeap::run_next(core::TimePoint limit) {
    if (events_.empty() || events_.front().at > limit) return false;
    std::pop_heap(events_.begin(), events_.end(), is_later);
    Event event = std::move(events_.back());
    events_.pop_back();
    now = event.at;
    ++events_run_;
    event.act();
    return true;
}

}  // namespace p2p::sim
