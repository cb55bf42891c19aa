#pragma once

// How far a node may run ahead of the slowest it mixes with, in clocks (its own rounds of H steps).
//
// At least `low`. When a node has come that far, it looks how its own next clocks and the slowest
// one's lie in time, by their intervals lately, and goes on for as many more, up to `high`, as
// leave it the least to wait for (Zhao et al. 2019, arXiv:1908.11848, algorithm 2, with neighbours
// for the server). Who has told nothing for `patience` is not waited for.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "core/base/deadlines.hpp"
#include "core/base/ewma.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

class StalenessBound {
  public:
    StalenessBound(std::uint64_t low, std::uint64_t high, Duration patience)
        : low_(low),
          high_(high),
          patience_(patience) {}

    /// From a checkpoint, or anew.
    void restart(TimePoint now, std::uint64_t clock) {
        own_ = {.clock = clock, .at = now};
        peers_.clear();
        allowed_to_.reset();
    }

    void on_own(TimePoint now, std::uint64_t clock) { own_.move_to(now, clock); }

    void on_peer(TimePoint now, PeerId peer, std::uint64_t clock) {
        const auto [found, is_new] = peers_.try_emplace(peer, Runner{.clock = clock, .at = now});
        if (!is_new) found->second.move_to(now, clock);
    }

    void forget(PeerId peer) { peers_.erase(peer); }

    /// The last clock that may be begun from now on; none: no limit.
    [[nodiscard]] std::optional<std::uint64_t> limit(TimePoint now) {
        const Runner* slowest = nullptr;
        for (const auto& [peer, runner] : peers_) {
            if (now >= runner.at + patience_) continue;
            if (slowest == nullptr || runner.clock < slowest->clock) slowest = &runner;
        }
        if (slowest == nullptr) return std::nullopt;
        const std::uint64_t sure = slowest->clock + low_;
        if (own_.clock < sure) {
            allowed_to_.reset();
            return sure;
        }
        if (!allowed_to_) allowed_to_ = own_.clock + more(*slowest);
        return std::clamp(*allowed_to_, sure, slowest->clock + high_);
    }

    /// When somebody stops being waited for.
    [[nodiscard]] std::optional<TimePoint> next_wakeup(TimePoint now) const {
        std::optional<TimePoint> next;
        for (const auto& [peer, runner] : peers_) {
            if (now < runner.at + patience_) next = earlier(next, runner.at + patience_);
        }
        return next;
    }

  private:
    struct Runner {
        std::uint64_t clock = 0;
        TimePoint at{};
        Ewma seconds{0.2};  // a clock, lately

        void move_to(TimePoint now, std::uint64_t next) {
            if (next <= clock) return;
            seconds.add(to_seconds(now - at) / static_cast<double>(next - clock));
            clock = next;
            at = now;
        }
    };

    /// How many more clocks of this node's end nearest before one of the slowest one's.
    [[nodiscard]] std::uint64_t more(const Runner& slowest) const {
        const double own = own_.seconds.value_or(0);
        const double theirs = slowest.seconds.value_or(0);
        if (own <= 0 || theirs <= 0) return 0;
        const double head_start = to_seconds(own_.at - slowest.at);
        std::uint64_t best = 0;
        double least = 1e300;
        for (std::uint64_t k = 0; k <= high_ - low_; ++k) {
            const double ends = head_start + static_cast<double>(k) * own;
            double arrives = theirs;
            while (arrives < ends)
                arrives += theirs;
            if (arrives - ends >= least) continue;
            least = arrives - ends;
            best = k;
        }
        return best;
    }

    std::uint64_t low_;
    std::uint64_t high_;
    Duration patience_;
    Runner own_;
    std::map<PeerId, Runner> peers_;
    std::optional<std::uint64_t> allowed_to_;  // since the sure clocks were used up
};

}  // namespace p2p::core
