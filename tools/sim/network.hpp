#pragma once

// Wires between nodes on virtual time: delay, rate, shared uplinks, loss, cuts.
//
// A path is a row of pipes (the sender's card, its site's uplink, the other site's downlink, the
// receiver's card), each first come first served. Words (control) pass at once behind at most
// `queue_max` of what a pipe already holds, as packets do in a router's queue; bulk of one
// direction of one session enters the pipes a few pieces at a time, so that sessions share a pipe
// evenly. Loss delays words by a round trip and bounds a session's rate as TCP's congestion control
// does (Mathis et al. 1997: MSS / RTT * sqrt(3/2) / sqrt(p)). Who is connected is the world's.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "core/base/rng.hpp"
#include "core/base/time.hpp"
#include "tools/sim/event_heap.hpp"
#include "tools/sim/stage.hpp"

namespace p2p::sim {

class Network {
  public:
    using Act = EventHeap::Act;

    /// `heap` must outlive this. `site_of`: by node, an index into stage.sites.
    Network(EventHeap& heap, const Stage& stage, std::vector<std::size_t> site_of, core::Rng rng);

    /// `delivered` happens at the receiver, never before what was sent earlier in this direction;
    /// empty: bytes that nobody looks at.
    void send_word(std::size_t from, std::size_t to, double bytes, Act delivered);

    /// `left`: the sender may hand over more; `delivered`: the last byte is there.
    void send_bulk(std::size_t from, std::size_t to, double bytes, Act left, Act delivered);

    /// From now on what leaves (or enters) the site gets nowhere, and nobody is told. Words wait as
    /// TCP would send them again; bulk waits in both directions, since what acknowledges it is lost
    /// in one of them.
    void clog(std::size_t site, Way way);

    /// What waits goes on its way, a round trip late, where its session still lives.
    void unclog(std::size_t site, Way way);

    [[nodiscard]] bool is_clogged(std::size_t from, std::size_t to) const;

    /// The session is gone: what had not entered the pipes never will.
    void drop_queue(std::size_t from, std::size_t to);

    [[nodiscard]] core::Duration round_trip(std::size_t a, std::size_t b) const;

    /// Bytes that a node has put on the wire, words and bulk.
    [[nodiscard]] double bytes_sent(std::size_t node) const { return bytes_sent_[node]; }

    /// How long `bytes` take from one node to another on idle wires, without the delay.
    [[nodiscard]] double seconds_alone(std::size_t from, std::size_t to, double bytes) const;

  private:
    struct Pipe {
        double bytes_per_second = 0;
        core::TimePoint free_at{};
    };

    struct Piece {
        double bytes = 0;
        Act left;
        Act delivered;
    };

    struct Word {
        double bytes = 0;
        Act delivered;
    };

    struct Direction {
        std::deque<Piece> waiting;
        std::vector<Word> held;  // by a clog
        std::size_t in_pipes = 0;
        std::uint64_t epoch = 0;
        core::TimePoint last_word_at{};
        core::TimePoint free_at{};  // of the rate that loss leaves
    };

    using Pair = std::pair<std::size_t, std::size_t>;

    void pump(Pair pair);
    [[nodiscard]] std::vector<std::size_t> path(std::size_t from, std::size_t to) const;
    [[nodiscard]] const Between& between(std::size_t from, std::size_t to) const;
    [[nodiscard]] core::Duration delay(std::size_t from, std::size_t to);
    [[nodiscard]] double session_rate(std::size_t from, std::size_t to) const;

    EventHeap& heap_;
    const Stage& stage_;
    std::vector<std::size_t> site_of_;
    core::Rng rng_;
    std::vector<Pipe> pipes_;  // up and down of each node, then of each site
    std::map<Pair, Direction> directions_;
    std::vector<double> bytes_sent_;
    std::vector<int> clogs_out_;  // of each site: how many hold what leaves it
    std::vector<int> clogs_in_;
};

}  // namespace p2p::sim
