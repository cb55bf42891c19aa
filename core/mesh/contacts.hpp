#pragma once

// Whom to dial, at which addresses, and when again.
//
// Every allowed peer is wanted. Addresses come from the allow-list, from `bootstrap`, and from the
// peer's own record; all of them are tried in one go. After a failure the pause doubles from half a
// second to thirty, with a fifth of jitter so that two nodes don't dial each other in step for
// ever; it never ends. Of two peers the lower id dials first: the higher gives it a second.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

class Contacts {
  public:
    Contacts(PeerId self, Rng rng)
        : self_(self),
          rng_(rng) {}

    /// `addresses` are added to those known; the newest come first, at most
    /// limits::addresses_a_peer_max are kept.
    void add(TimePoint now, PeerId peer, const std::vector<std::string>& addresses);

    void remove(PeerId peer) { contacts_.erase(peer); }

    void on_connected(PeerId peer);
    void on_disconnected(TimePoint now, PeerId peer);
    void on_unreachable(TimePoint now, PeerId peer);

    struct Dial {
        PeerId peer;
        std::vector<std::string> addresses;
    };

    /// The next peer whose time has come; it counts as being dialled from now on.
    [[nodiscard]] std::optional<Dial> next_dial(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;
    [[nodiscard]] bool is_dialling(PeerId peer) const;
    [[nodiscard]] std::vector<std::string> addresses(PeerId peer) const;

  private:
    enum class State : std::uint8_t { resting, dialling, connected };

    struct Contact {
        State state = State::resting;
        std::vector<std::string> addresses;
        TimePoint next_try{};
        std::uint32_t failures = 0;
    };

    [[nodiscard]] Duration pause(std::uint32_t failures);

    PeerId self_;
    Rng rng_;
    std::map<PeerId, Contact> contacts_;
};

}  // namespace p2p::core
