#pragma once

// The numbers and shapes of the messages: one row each. proto/WIRE.md lists the same in words.
//
// A number or a shape never changes; what is new gets a new number behind a feature bit. The rows
// are looked up by type, so encode and decode cannot disagree about them.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/node/message.hpp"

namespace p2p::proto {

enum class WireKind : std::uint8_t {
    ping = 1,
    pong = 2,
    peer_records = 3,
    leave = 4,
    swap_open = 16,
    swap_ack = 17,
    swap_ready = 18,
    swap_close = 19,
    swap_state = 20,
    push = 21,
    push_ack = 22,
    job_announcement = 32,
    job_report = 33,
    job_control = 34,
    job_end = 35,
    final_model = 36,
    state_request = 48,
    state_offer = 49,
    blob_request = 50,
    report_wish = 51,
    swap_chunk = 64,  ///< bulk: a raw header, no messagepack
    blob_chunk = 65,  ///< bulk
};

/// What every signed content begins with, before its messagepack: one key signs many kinds of
/// things, and none can be taken for another.
inline constexpr std::string_view signed_domain = "p2ptrain/1 ";

inline constexpr std::size_t swap_chunk_header_bytes = 1 + 32 + 4 + 8 + 8 + 8;
inline constexpr std::size_t blob_chunk_header_bytes = 1 + 32 + 8 + 8;

/// Values in the array of a signed message: kind, author, content, signature.
inline constexpr std::size_t signed_message_values = 4;
/// The same within PeerRecords, which has one kind.
inline constexpr std::size_t signed_record_values = 3;

/// Kind, number of fields after it, and name of a message. Of a signed record the fields are those
/// of its content, which has no kind but its name in the domain.
template <typename T>
struct WireForm;

#define P2P_WIRE_FORM(type, wire_kind, field_count)           \
    template <>                                               \
    struct WireForm<core::type> {                             \
        static constexpr WireKind kind = WireKind::wire_kind; \
        static constexpr std::size_t fields = field_count;    \
        static constexpr std::string_view name = #type;       \
    }

P2P_WIRE_FORM(Ping, ping, 1);
P2P_WIRE_FORM(Pong, pong, 1);
P2P_WIRE_FORM(PeerRecords, peer_records, 1);
P2P_WIRE_FORM(PeerRecord, peer_records, 7);
P2P_WIRE_FORM(Leave, leave, 1);
P2P_WIRE_FORM(SwapOpen, swap_open, 8);
P2P_WIRE_FORM(SwapAck, swap_ack, 1);
P2P_WIRE_FORM(SwapReady, swap_ready, 6);
P2P_WIRE_FORM(SwapClose, swap_close, 4);
P2P_WIRE_FORM(SwapState, swap_state, 9);
P2P_WIRE_FORM(Push, push, 8);
P2P_WIRE_FORM(PushAck, push_ack, 4);
P2P_WIRE_FORM(JobAnnouncement, job_announcement, 3);
P2P_WIRE_FORM(JobReport, job_report, 19);
P2P_WIRE_FORM(JobControl, job_control, 2);
P2P_WIRE_FORM(JobEnd, job_end, 3);
P2P_WIRE_FORM(Final, final_model, 4);
P2P_WIRE_FORM(StateRequest, state_request, 1);
P2P_WIRE_FORM(StateOffer, state_offer, 5);
P2P_WIRE_FORM(BlobRequest, blob_request, 2);
P2P_WIRE_FORM(ReportWish, report_wish, 3);

#undef P2P_WIRE_FORM

}  // namespace p2p::proto
