#pragma once

// Which of a job's reports are passed on, and on which links: each of those to each node about
// once, and the fewer the larger the mesh is.
//
// In a large mesh only the first report in each block of 2, 4, 8, ... sequence numbers is passed
// on, and every change of state. Blocks grow with the number of authors, until all of them together
// are 4 to 8 KiB/s (beside what neighbours tell of themselves), and with the age of the author's
// training, so that a count is never later than a quarter of it: a young job's reports are all
// passed on. All nodes see the same blocks.
//
// For each author there is a tree of its own, grown from behind: the link that brought its newest
// report first is the parent, and a link that brought a copy too late is told to bring no more of
// this author (reverse path broadcast with pruning: Dalal, Metcalfe 1978; Waitzman et al., RFC
// 1075). What is refused is brought again once in a while, so that a tree follows the links as they
// are; where a parent's link ends, or an author falls silent, the other links are asked for it.
// The first report of an author goes eagerly only on the links that nothing was refused on lately;
// on the others its id is offered (lazy push: Leitao et al. 2007, Plumtree, section 3).
//
// An author's reports always come on the link to the author itself. It keeps no report: who holds
// the newest (job/members) says what is news.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/rng.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/job/messages.hpp"

namespace p2p::core {

class ReportRelay {
  public:
    /// What to tell a neighbour.
    struct Wish {
        PeerId to;
        ReportRoute route = ReportRoute::refuse;
        std::vector<PeerId> authors;  ///< at most limits::wish_authors_max
    };

    struct Passing {
        std::vector<PeerId> to;  ///< the neighbours to pass it on to: none where it is no news
        Duration spacing{};      ///< between two reports of its author that come here by others
    };

    /// `interval`: between two reports of one author.
    ReportRelay(Duration interval, Rng rng)
        : interval_(interval),
          rng_(rng) {}

    void on_linked(PeerId peer);

    /// Whoever came by this link is asked of the others.
    void on_unlinked(PeerId peer);

    /// A report of the author `id` has come `from` a neighbour.
    [[nodiscard]] Passing on_report(
        TimePoint now, PeerId from, PeerId id, const JobReport& report, bool is_news);

    /// A neighbour says what it wants of these authors' reports, or that it has them.
    void on_wish(PeerId from, ReportRoute route, const std::vector<PeerId>& authors);

    /// Whether there is something to tell.
    [[nodiscard]] bool has_wishes() const { return !noted_.empty() || has_new_offers_; }

    /// What there is to tell: some tenths of a second after it came up, and once each report
    /// period. Of an author that has been silent for three of its spacings all links are asked,
    /// once.
    [[nodiscard]] std::vector<Wish> take_wishes(TimePoint now);

  private:
    using Links = std::uint64_t;  // a bit for each slot

    struct Author {
        TimePoint heard{};
        Links quiet = 0;      // neighbours that want none of it
        Links refused = 0;    // neighbours that were told so by this node
        Links to_refuse = 0;  // ... and are to be told
        Links to_ask = 0;     // to be told the contrary
        Links to_offer = 0;   // to be told that there is such an author
        Links parent = 0;     // one bit or none
        std::uint64_t sequence_passed = 0;
        std::uint32_t block = 1;      // reports of which the first is passed on; a power of two
        std::uint8_t until_open = 0;  // passed on until all quiet neighbours get one again
        bool is_missed = false;       // all have been asked
        bool is_noted = false;        // in noted_
        std::optional<JobState> state_passed;
    };

    /// An author that neighbours have, and this node does not know.
    struct Offer {
        Links from = 0;
        Links asked = 0;
    };

    using Authors = std::map<PeerId, Author>;

    /// By neighbour, then by route: authors.
    using Told = std::map<PeerId, std::array<std::vector<PeerId>, 3>>;

    [[nodiscard]] Links bit_of(PeerId peer) const;
    [[nodiscard]] Links all_links() const;
    [[nodiscard]] std::uint32_t block_at(Duration age) const;
    void note(Authors::value_type& author);
    void ask_all(Authors::value_type& each);
    void refuse(Authors::value_type& author, Links bit);
    void take_parent(Authors::value_type& each, PeerId from, Links bit);
    void take_turn(Author& author);
    void on_offered(Links from, const PeerId& id);
    void look_for_silent(TimePoint now);
    void ask_for_offered(Told& told);

    Duration interval_;
    Rng rng_;
    std::map<PeerId, Links> links_;  // beyond 64 of them: no bit, and everything is passed on
    Links refusing_ = 0;             // neighbours whose last word was a refusal, of any author
    Authors authors_;
    std::vector<Authors::value_type*> noted_;  // authors with something to tell
    std::map<PeerId, Offer> offers_;
    bool has_new_offers_ = false;
    TimePoint looked_at_{};
};

}  // namespace p2p::core
