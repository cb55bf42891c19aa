#pragma once

// Which peer records each node has already, looked at from above: no node could know.
//
// They are told to everybody and passed on by everybody, so that most copies reach a node that has
// the news and drops them without a trace (Directory::add). The world carries such copies as bytes
// and does not deliver them; digests are the same either way. What is told, and when, is the
// nodes'.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/types.hpp"
#include "core/node/message.hpp"

namespace p2p::sim {

class Heard {
  public:
    /// `index` must outlive this.
    explicit Heard(const std::map<core::PeerId, std::size_t>& index)
        : index_(index) {}

    /// What a node tells, it has.
    void on_told(std::size_t node, const core::Message& message);

    /// Takes out of `message` the records that `node` has; false where nothing is left to deliver.
    [[nodiscard]] bool keep_news(std::size_t node, core::Message& message) const;

    /// Whether it would drop all of it.
    [[nodiscard]] bool knows(std::size_t node, const core::Message& message) const;

    /// It begins anew.
    void forget(std::size_t node);

  private:
    /// The newest that is known to be there of one author.
    struct Mark {
        std::uint64_t incarnation = 0;
        std::uint64_t number = 0;
        bool is_set = false;
    };

    static Mark mark_of(const core::PeerRecord& record);
    void note(std::size_t node, const core::Signed<core::PeerRecord>& record);
    [[nodiscard]] bool has(std::size_t node, const core::Signed<core::PeerRecord>& record) const;

    const std::map<core::PeerId, std::size_t>& index_;
    std::vector<std::vector<Mark>> rows_;  // by node, then by author; empty: nothing
};

}  // namespace p2p::sim
