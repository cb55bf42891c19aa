#pragma once

// May this peer do that? Here: by the static allow-list alone.
//
// Both ends must list each other; who is not listed is refused before it learns anything.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/types.hpp"

namespace p2p::core {

enum class Role : std::uint8_t { train, observe, submit, admin };

/// An entry of the static allow-list.
struct AllowedPeer {
    PeerId id;
    std::string name;
    std::vector<std::string> addresses;
    std::set<Role> roles{Role::train, Role::submit};

    bool operator==(const AllowedPeer&) const = default;
};

class Trust {
  public:
    /// `self` may do everything here.
    Trust(PeerId self, std::vector<AllowedPeer> allowed)
        : self_(self) {
        replace(std::move(allowed));
    }

    void replace(std::vector<AllowedPeer> allowed) {
        peers_.clear();
        for (AllowedPeer& peer : allowed)
            peers_.insert_or_assign(peer.id, std::move(peer));
    }

    [[nodiscard]] bool may_connect(PeerId peer) const { return peers_.contains(peer); }

    [[nodiscard]] bool has_role(PeerId peer, Role role) const {
        if (peer == self_) return true;
        const auto found = peers_.find(peer);
        return found != peers_.end() && found->second.roles.contains(role);
    }

    [[nodiscard]] const std::map<PeerId, AllowedPeer>& peers() const { return peers_; }

  private:
    PeerId self_;
    std::map<PeerId, AllowedPeer> peers_;
};

}  // namespace p2p::core
