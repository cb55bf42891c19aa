#pragma once

// Signs of life of the links that are up: last heard, round trip, suspicion, failure.
//
// Any message is a sign of life; an idle link is pinged. Here silence alone decides, without other
// witnesses, so a failure takes the long wait (design: INTERFACE, SIGKILL row).

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ewma.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

struct LivenessConfig {
    Duration ping_interval = std::chrono::seconds{1};
    Duration suspect_after = std::chrono::milliseconds{2500};
    Duration failed_after = std::chrono::seconds{15};
};

class Liveness {
  public:
    explicit Liveness(LivenessConfig config)
        : config_(config) {}

    void on_connected(TimePoint now, PeerId peer);

    void on_disconnected(PeerId peer) { links_.erase(peer); }

    void on_heard(TimePoint now, PeerId peer);
    void on_pong(TimePoint now, PeerId peer, std::uint64_t nonce);

    struct Due {
        std::vector<std::pair<PeerId, std::uint64_t>> pings;  ///< to send, with their nonces
        std::vector<PeerId> failed;                           ///< silent for too long
    };

    [[nodiscard]] Due take_due(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

    [[nodiscard]] bool is_suspect(TimePoint now, PeerId peer) const;
    [[nodiscard]] std::optional<Duration> silent_for(TimePoint now, PeerId peer) const;
    [[nodiscard]] std::optional<Duration> round_trip(PeerId peer) const;

  private:
    struct Link {
        TimePoint heard{};
        TimePoint ping_at{};
        std::uint64_t nonce = 0;
        std::optional<TimePoint> pinged;
        Ewma round_trip_seconds{0.2};
    };

    LivenessConfig config_;
    std::map<PeerId, Link> links_;
};

}  // namespace p2p::core
