#pragma once

// How replicas become one at a job's end in a mesh where all are linked with all: passes of an
// exact averaging sequence, until one of them finds nothing left to move.
//
// A pass is a sequence of phases (averaging.hpp) over the members in the order of their sites and
// ids; in each phase a node meets one other. After it all replicas are equal but for what the codec
// loses, so that log2 n swaps of a node do what gossip needs many rounds of all its links for. Each
// pass measures what the one before has left; one in which every distance met is within the
// tolerance ends it. Nodes need not begin together: who is asked for a later pass goes on to it.
//
// Where a phase stands for too long (a member's list differs, or it trains on), this node gives
// passes up for good and swaps link by link, which needs no agreement; the others' passes are
// answered all the same. Decides only; the mixer opens the swaps.

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/mixing/meetings.hpp"

namespace p2p::core {

class FinishPasses {
  public:
    using Swapped = std::pair<PeerId, ShardIndex>;

    /// What SwapOpen's round says at the end of a job: this for a swap that belongs to no pass,
    /// more for a phase of one. (WIRE: 2^61 + 256 * pass + phase, passes from 1 on.)
    static constexpr Round outside_passes{std::uint64_t{1} << 61};

    [[nodiscard]] static bool is_at_end(Round on_wire) { return on_wire >= outside_passes; }

    [[nodiscard]] static bool is_of_pass(Round on_wire) { return on_wire > outside_passes; }

    FinishPasses(PeerId self, std::uint32_t shards, double tolerance)
        : self_(self),
          shards_(shards),
          tolerance_(tolerance) {}

    /// Those who end the job together, this node among them, in any order. Once settled, who leaves
    /// changes nothing, and who comes begins another pass.
    void set_members(TimePoint now, std::vector<MemberPlace> members);

    /// @pre members are set
    void begin(TimePoint now);

    [[nodiscard]] bool has_begun() const { return pass_ > 0; }

    /// Whether a peer's open belongs to a phase that is over here.
    [[nodiscard]] bool is_past(Round on_wire) const;

    /// A peer is at this phase: this node makes that pass, too; its own is broken off only where
    /// the peer's is so much later that their lists must have differed. @pre has_begun
    void follow(TimePoint now, Round on_wire);

    /// Whom this phase meets. Empty before the first pass and once settled.
    [[nodiscard]] const OwnPhase& meetings() const;

    [[nodiscard]] bool is_waiting_for(const Swapped& swapped) const {
        return waiting_.contains(swapped);
    }

    [[nodiscard]] Round on_wire() const;

    /// A swap was applied. `distance_ratio`: of the two values before it, over the norm.
    void on_swapped(TimePoint now, const Swapped& swapped, Round on_wire, double distance_ratio);

    /// The peer is past the phase, or was before this node was asked.
    void on_missed(TimePoint now, const Swapped& swapped, Round on_wire);

    /// Gives up where a phase has stood for `patience`.
    void expire(TimePoint now, Duration patience);

    [[nodiscard]] TimePoint phase_began_at() const { return phase_began_at_; }

    /// A whole pass has found every distance within the tolerance.
    [[nodiscard]] bool is_settled() const { return is_settled_; }

    [[nodiscard]] bool has_given_up() const { return has_given_up_; }

  private:
    static constexpr std::uint64_t phases_max = 256;
    static constexpr std::uint64_t passes_max = 16;
    // A pass needs every node: nobody is two ahead of another unless their lists differ.
    static constexpr std::uint64_t passes_apart = 2;

    void begin_pass(TimePoint now, std::uint64_t pass);
    void stand_at(std::uint64_t pass);
    bool wait_for_phase(TimePoint now);
    void go_on(TimePoint now);
    void leave_phase(TimePoint now);

    PeerId self_;
    std::uint32_t shards_;
    double tolerance_;
    std::vector<MemberPlace> members_;
    std::vector<OwnPhase> phases_;
    std::uint64_t pass_ = 0;
    std::uint64_t asked_pass_ = 0;  // the latest that a peer makes
    std::size_t phase_ = 0;
    std::set<Swapped> waiting_;
    TimePoint phase_began_at_{};
    bool is_within_ = true;  // every distance of this pass so far
    bool is_settled_ = false;
    bool has_given_up_ = false;
};

}  // namespace p2p::core
