#pragma once

// How core speaks of itself: typed facts, which the daemon turns into log lines, events and
// metrics, and the simulator into a trace. Core never logs.

#include <cstdint>
#include <string>
#include <variant>

#include "core/base/error.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"
#include "core/job/messages.hpp"
#include "core/mixing/output.hpp"

namespace p2p::core {

struct PeerConnected {
    PeerId peer;
    std::string name;
    Incarnation incarnation;
};

struct PeerDisconnected {
    PeerId peer;
    std::string why;
};

struct PeerRefused {
    PeerId peer;
    Error why;
};

/// Dialling it led nowhere; told when the reason changes, not for each try.
struct PeerUnreachable {
    PeerId peer;
    Error why;
};

/// A member sent something that it may not, or that does not fit; counted, shown in `peer show`.
struct PeerMisbehaved {
    PeerId peer;
    Error why;
};

struct JobChanged {
    JobId job;
    std::string name;
    JobState state = JobState::waiting;
    std::string reason;
};

struct JobEvaluated {
    JobId job;
    SampleCount samples_mesh;
    StepCount step;
    double loss = 0;
    double accuracy = 0;
};

using Notice = std::variant<
    PeerConnected,
    PeerDisconnected,
    PeerRefused,
    PeerUnreachable,
    PeerMisbehaved,
    JobChanged,
    SwapEnded,
    LedgerLine,
    JobEvaluated>;

}  // namespace p2p::core
