#pragma once

// What we know of everybody: the newest record of each peer, as its author signed it.
//
// It judges no permission (core/mesh/trust does) and dials nobody (core/mesh/contacts does).

#include <map>
#include <vector>

#include "core/base/limits.hpp"
#include "core/mesh/messages.hpp"

namespace p2p::core {

class Directory {
  public:
    /// True where the record is news: of a peer not known, or newer than the known one. Records
    /// about somebody else than their author, and those beyond limits::peers_known_max, are not.
    bool add(const Signed<PeerRecord>& record) {
        if (record.author != record.value.id) return false;
        const auto found = records_.find(record.author);
        if (found == records_.end()) {
            if (records_.size() >= limits::peers_known_max) return false;
            records_.emplace(record.author, record);
            return true;
        }
        if (!is_newer(record.value, found->second.value)) return false;
        found->second = record;
        return true;
    }

    [[nodiscard]] const PeerRecord* find(PeerId peer) const {
        const auto found = records_.find(peer);
        return found == records_.end() ? nullptr : &found->second.value;
    }

    [[nodiscard]] std::vector<Signed<PeerRecord>> all() const {
        std::vector<Signed<PeerRecord>> records;
        records.reserve(records_.size());
        for (const auto& [peer, record] : records_)
            records.push_back(record);
        return records;
    }

  private:
    std::map<PeerId, Signed<PeerRecord>> records_;
};

}  // namespace p2p::core
