#pragma once

// All timers of one owner: a small table from a named enum to an instant. Its minimum is the
// wakeup.
//
// There is no timer object anywhere: the owner asks `is_due` after being woken and clears what it
// has dealt with.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "core/base/time.hpp"

namespace p2p::core {

/// `Kind` is an enum class whose last enumerator is `count`.
template <typename Kind>
class Deadlines {
  public:
    void set(Kind kind, TimePoint at) { at_[index(kind)] = at; }

    void clear(Kind kind) { at_[index(kind)].reset(); }

    /// Sets `kind` to `at` unless it is set to something earlier already.
    void set_no_later(Kind kind, TimePoint at) {
        auto& slot = at_[index(kind)];
        if (!slot || at < *slot) slot = at;
    }

    [[nodiscard]] std::optional<TimePoint> get(Kind kind) const { return at_[index(kind)]; }

    [[nodiscard]] bool is_set(Kind kind) const { return at_[index(kind)].has_value(); }

    /// True once, when the deadline has passed; the slot is cleared by it.
    [[nodiscard]] bool take_due(Kind kind, TimePoint now) {
        auto& slot = at_[index(kind)];
        if (!slot || now < *slot) return false;
        slot.reset();
        return true;
    }

    [[nodiscard]] std::optional<TimePoint> next() const {
        std::optional<TimePoint> earliest;
        for (const auto& slot : at_) {
            if (slot && (!earliest || *slot < *earliest)) earliest = slot;
        }
        return earliest;
    }

  private:
    static constexpr std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }

    std::array<std::optional<TimePoint>, static_cast<std::size_t>(Kind::count)> at_{};
};

/// The earlier of two optional instants.
[[nodiscard]] inline std::optional<TimePoint> earlier(
    std::optional<TimePoint> a, std::optional<TimePoint> b) {
    if (!a) return b;
    if (!b) return a;
    return std::min(*a, *b);
}

}  // namespace p2p::core
