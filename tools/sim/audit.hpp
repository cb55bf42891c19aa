#pragma once

// What must hold while a world runs, looked at from above: no node could know it.
//
// Both ends of a swap apply the same displacement with opposite signs, so the mean of all replicas
// moves by training alone; a swap that only one end has applied is either still open or in the
// ledger. A fault ends the run with the command that replays it, which is the caller's to say.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "core/base/hash128.hpp"
#include "core/base/time.hpp"
#include "core/mixing/work.hpp"

namespace p2p::sim {

/// Which lives of two nodes a swap is between, as one of them knew when it gave the order.
struct Lives {
    core::Incarnation self;
    core::Incarnation peer;
};

class Audit {
  public:
    /// Node `node` adds `displacement` for `order`. @pre finite
    void on_applied(
        std::size_t node,
        std::size_t peer,
        const Lives& lives,
        const core::Apply& order,
        core::FloatView displacement);

    /// `node` was woken because it wanted to be. Wanting it again and again at the same instant
    /// would keep a processor busy for nothing.
    void on_woken(std::size_t node, core::TimePoint now);

    /// Bytes that one end made of a message and the other could not read.
    void on_unreadable(std::size_t from, std::size_t to, const core::Error& why);

    /// What one end has applied and the other never will: its life has ended.
    void on_killed(std::size_t node);

    /// The first thing found wrong.
    [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }

    /// Swaps that one end has applied and the other has not, yet.
    [[nodiscard]] std::size_t one_sided() const { return half_.size(); }

    [[nodiscard]] std::uint64_t swaps_matched() const { return matched_; }

  private:
    /// low node and its life, high node and its life, shard, n
    using Life = std::pair<std::size_t, std::uint64_t>;
    using Swap = std::tuple<Life, Life, std::uint32_t, std::uint64_t>;

    struct Half {
        bool is_low = false;
        core::Hash128 magnitude;  // of the displacement as low would add it
        float weight = 0;
    };

    struct Waking {
        core::TimePoint at{};
        std::size_t times = 0;
    };

    std::map<Swap, Half> half_;
    std::map<std::size_t, Waking> waking_;
    std::uint64_t matched_ = 0;
    std::optional<std::string> fault_;
};

}  // namespace p2p::sim
