#include "proto/outbox.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::MutableByteView;
using core::Status;
namespace limits = core::limits;

namespace {

std::size_t piece_bytes(const BulkPiece& piece) {
    return piece.header.size() + piece.length;
}

}  // namespace

void Outbox::push_session_frame(FrameKind kind, ByteView body) {
    append_frame(kind, body, session_frames_);
    P2P_CHECK(session_frames_.size() <= record_plain_bytes_max);
}

Status Outbox::push_control(core::Bytes message) {
    P2P_CHECK(!message.empty());
    if (message.size() > limits::control_message_bytes_max) {
        return Error{
            ErrorCode::too_large,
            "a control message of " + std::to_string(message.size()) + " bytes is not sent",
            "at most " + std::to_string(limits::control_message_bytes_max) + " fit a frame",
            ""};
    }
    if (control_bytes_ + message.size() > limits::control_queue_bytes_max) {
        return Error{
            ErrorCode::too_large,
            "a control message is not sent",
            std::to_string(control_bytes_) + " bytes wait already: the other end reads too slowly",
            "disconnect it"};
    }
    control_bytes_ += message.size();
    control_.push_back(std::move(message));
    return {};
}

Status Outbox::push_bulk(BulkPiece piece) {
    P2P_CHECK(piece.body != nullptr && piece.header.size() <= bulk_header_bytes_max);
    P2P_CHECK(piece.length <= limits::chunk_bytes_max && piece_bytes(piece) > 0);
    P2P_CHECK(piece.offset <= piece.body->size());
    P2P_CHECK(piece.length <= piece.body->size() - piece.offset);
    if (bulk_bytes_ + piece_bytes(piece) > limits::unacknowledged_bulk_bytes_max) {
        return Error{
            ErrorCode::too_large,
            "a piece of bulk is not sent",
            std::to_string(bulk_bytes_) + " bytes wait already",
            "push when wants_bulk() says so"};
    }
    bulk_bytes_ += piece_bytes(piece);
    bulk_.push_back(std::move(piece));
    return {};
}

void Outbox::clear() {
    session_frames_.clear();
    clear_messages();
}

void Outbox::clear_messages() {
    control_.clear();
    bulk_.clear();
    control_bytes_ = 0;
    bulk_bytes_ = 0;
}

std::size_t Outbox::next_record_bytes() const {
    if (!session_frames_.empty()) return record_overhead_bytes + session_frames_.size();
    std::size_t plain_bytes = 0;
    for (std::size_t i = 0; i < control_messages_that_fit(); ++i) {
        plain_bytes += frame_header_bytes + control_[i].size();
    }
    if (plain_bytes == 0 && !bulk_.empty()) {
        plain_bytes = frame_header_bytes + bulk_.front().header.size() + bulk_.front().length;
    }
    return plain_bytes == 0 ? 0 : record_overhead_bytes + plain_bytes;
}

bool Outbox::seal_record(Sealer& sealer, MutableByteView out) {
    if (!session_frames_.empty()) {
        const ByteView pieces[] = {session_frames_};
        if (!seal_as_record(sealer, pieces, out)) return false;
        session_frames_.clear();
        return true;
    }
    return control_.empty() ? seal_bulk(sealer, out) : seal_control(sealer, out);
}

std::size_t Outbox::control_messages_that_fit() const {
    std::size_t plain_bytes = 0;
    std::size_t count = 0;
    for (const core::Bytes& message : control_) {
        plain_bytes += frame_header_bytes + message.size();
        if (plain_bytes > record_plain_bytes_max) break;
        ++count;
    }
    return count;
}

bool Outbox::seal_control(Sealer& sealer, MutableByteView out) {
    const std::size_t count = control_messages_that_fit();
    // Written where the ciphertext goes and sealed in place.
    const MutableByteView plain =
        out.subspan(record_prefix_bytes, out.size() - record_overhead_bytes);
    MutableByteView rest = plain;
    for (std::size_t i = 0; i < count; ++i) {
        const core::Bytes& message = control_[i];
        write_frame_header(FrameKind::control, 0, message.size(), rest.first(frame_header_bytes));
        rest = rest.subspan(frame_header_bytes);
        std::copy(message.begin(), message.end(), rest.begin());
        rest = rest.subspan(message.size());
    }
    const ByteView pieces[] = {plain};
    if (!seal_as_record(sealer, pieces, out)) return false;
    for (std::size_t i = 0; i < count; ++i) {
        control_bytes_ -= control_.front().size();
        control_.pop_front();
    }
    counts_.control += count;
    return true;
}

bool Outbox::seal_bulk(Sealer& sealer, MutableByteView out) {
    const BulkPiece& piece = bulk_.front();
    std::array<std::uint8_t, frame_header_bytes> header{};
    write_frame_header(FrameKind::bulk, piece.stream, piece.header.size() + piece.length, header);
    const ByteView pieces[] = {
        header, piece.header, ByteView(*piece.body).subspan(piece.offset, piece.length)};
    if (!seal_as_record(sealer, pieces, out)) return false;
    bulk_bytes_ -= piece_bytes(piece);
    ++counts_.bulk;
    bulk_.pop_front();
    return true;
}

bool seal_as_record(Sealer& sealer, std::span<const ByteView> pieces, MutableByteView out) {
    core::store_le(out.data(), static_cast<std::uint16_t>(out.size() - record_prefix_bytes));
    return sealer.seal(pieces, out.subspan(record_prefix_bytes));
}

}  // namespace p2p::proto
