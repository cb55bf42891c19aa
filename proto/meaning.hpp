#pragma once

// What a message must keep to beyond its shape: ratios in range, known enum values, sound names.
//
// Both sides of the border ask the same functions: encode before it writes (a fault there is ours),
// decode after it has read (a fault there is the sender's). Whether a message fits the state of a
// job or a swap is left to core.

#include <string_view>

#include "core/node/message.hpp"

namespace p2p::proto {

/// What is wrong with the message, as a clause; empty: nothing.
[[nodiscard]] std::string_view fault_in(const core::Ping& message);
[[nodiscard]] std::string_view fault_in(const core::Pong& message);
[[nodiscard]] std::string_view fault_in(const core::PeerRecord& record);
[[nodiscard]] std::string_view fault_in(const core::PeerRecords& message);
[[nodiscard]] std::string_view fault_in(const core::Leave& message);
[[nodiscard]] std::string_view fault_in(const core::SwapOpen& message);
[[nodiscard]] std::string_view fault_in(const core::SwapChunk& message);
[[nodiscard]] std::string_view fault_in(const core::SwapAck& message);
[[nodiscard]] std::string_view fault_in(const core::SwapReady& message);
[[nodiscard]] std::string_view fault_in(const core::SwapClose& message);
[[nodiscard]] std::string_view fault_in(const core::SwapState& message);
[[nodiscard]] std::string_view fault_in(const core::Push& message);
[[nodiscard]] std::string_view fault_in(const core::PushAck& message);
[[nodiscard]] std::string_view fault_in(const core::JobAnnouncement& record);
[[nodiscard]] std::string_view fault_in(const core::JobReport& record);
[[nodiscard]] std::string_view fault_in(const core::JobControl& record);
[[nodiscard]] std::string_view fault_in(const core::JobEnd& record);
[[nodiscard]] std::string_view fault_in(const core::Final& record);
[[nodiscard]] std::string_view fault_in(const core::StateRequest& message);
[[nodiscard]] std::string_view fault_in(const core::ReportWish& message);
[[nodiscard]] std::string_view fault_in(const core::StateOffer& message);
[[nodiscard]] std::string_view fault_in(const core::BlobRequest& message);
[[nodiscard]] std::string_view fault_in(const core::BlobChunk& message);

/// "host:port": a name, an IPv4 address or an IPv6 address in brackets, and a port above 0. Whether
/// it exists is not asked.
[[nodiscard]] bool is_host_port(std::string_view address);

}  // namespace p2p::proto
