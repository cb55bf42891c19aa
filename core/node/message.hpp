#pragma once

// All that two nodes can say to each other: the variant of the rooms' messages, and nothing else.
// Their bytes are proto's; which of them may come when is decided by the rooms.

#include <variant>

#include "core/job/messages.hpp"
#include "core/mesh/messages.hpp"
#include "core/mixing/messages.hpp"

namespace p2p::core {

using Message = std::variant<
    Ping,
    Pong,
    PeerRecords,
    Leave,
    SwapOpen,
    SwapChunk,
    SwapAck,
    SwapReady,
    SwapClose,
    SwapState,
    Push,
    PushAck,
    Signed<JobAnnouncement>,
    Signed<JobReport>,
    Signed<JobControl>,
    Signed<JobEnd>,
    Signed<Final>,
    StateRequest,
    StateOffer,
    BlobRequest,
    BlobChunk,
    ReportWish>;

}  // namespace p2p::core
