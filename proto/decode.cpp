#include "proto/decode.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "proto/keys.hpp"
#include "proto/meaning.hpp"
#include "proto/msgpack.hpp"
#include "proto/wire_kinds.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
namespace limits = core::limits;

namespace {

constexpr std::uint64_t enum_max = 255;  // the enums' own range; which are known is a meaning

template <typename Enum>
Enum read_enum(Unpacker& in) {
    return static_cast<Enum>(in.read_uint(enum_max));
}

template <typename Tag>
void read_id(Unpacker& in, core::Id<Tag>& id) {
    in.read_binary_into(id.bytes);
}

core::Duration read_duration(Unpacker& in, core::Duration max) {
    return core::Duration{
        static_cast<core::Duration::rep>(in.read_uint(static_cast<std::uint64_t>(max.count())))};
}

/// A float travels as the double that equals it; a double between two floats is no encoding.
float read_unit_float(Unpacker& in) {
    const double value = in.read_finite();
    const bool is_unit = value >= 0 && value <= 1;
    const float narrow = is_unit ? static_cast<float>(value) : 0.0F;
    if (!is_unit || static_cast<double>(narrow) != value) {
        in.fail(ErrorCode::invalid, "a number that is no float in [0, 1]");
    }
    return narrow;
}

void read_key(Unpacker& in, core::SwapKey& key) {
    read_id(in, key.job);
    key.shard.value = static_cast<std::uint32_t>(in.read_uint(UINT32_MAX));
    key.n.value = in.read_uint();
}

// The fields of each message, in the order of encode.cpp.

void read_fields(Unpacker& in, core::Ping& message) {
    message.nonce = in.read_uint();
}

void read_fields(Unpacker& in, core::Pong& message) {
    message.nonce = in.read_uint();
}

void read_fields(Unpacker& in, core::PeerRecord& record) {
    read_id(in, record.id);
    record.incarnation.value = in.read_uint();
    record.version = in.read_uint();
    record.name = in.read_text(limits::name_bytes_max);
    record.site = in.read_text(limits::name_bytes_max);
    const std::size_t addresses = in.read_array(limits::addresses_a_peer_max);
    for (std::size_t i = 0; i < addresses; ++i) {
        record.addresses.emplace_back(in.read_text(limits::address_bytes_max));
    }
    record.release = in.read_text(limits::name_bytes_max);
}

void read_fields(Unpacker& in, core::Leave& message) {
    message.reason = in.read_text(limits::name_bytes_max);
}

void read_fields(Unpacker& in, core::SwapOpen& message) {
    read_key(in, message.key);
    message.round.value = in.read_uint();
    message.codec = read_enum<core::CodecId>(in);
    message.reference.value = in.read_uint();
    message.gamma = read_unit_float(in);
    message.share = read_unit_float(in);
}

void read_fields(Unpacker& in, core::SwapAck& message) {
    message.received.value = in.read_uint();
}

void read_fields(Unpacker& in, core::SwapReady& message) {
    read_key(in, message.key);
    message.hash.low = in.read_uint();
    message.hash.high = in.read_uint();
    message.why = read_enum<core::SwapReason>(in);
}

void read_fields(Unpacker& in, core::SwapClose& message) {
    read_key(in, message.key);
    message.why = read_enum<core::SwapReason>(in);
}

void read_fields(Unpacker& in, core::SwapState& message) {
    read_key(in, message.key);
    message.stage = read_enum<core::SwapStage>(in);
    message.hash.low = in.read_uint();
    message.hash.high = in.read_uint();
    message.last = read_enum<core::SwapReason>(in);
    message.reference.value = in.read_uint();
    message.chunks_held = core::to_bytes(in.read_binary(limits::chunk_bitmap_bytes_max));
}

void read_fields(Unpacker& in, core::Push& message) {
    read_key(in, message.key);
    message.kind = read_enum<core::PushKind>(in);
    message.codec = read_enum<core::CodecId>(in);
    message.weight = in.read_finite();
    read_id(in, message.hash);
    message.bytes.value = in.read_uint();
}

void read_fields(Unpacker& in, core::PushAck& message) {
    read_key(in, message.key);
    message.why = read_enum<core::SwapReason>(in);
}

void read_fields(Unpacker& in, core::JobAnnouncement& record) {
    read_id(in, record.job);
    record.name = in.read_text(limits::name_bytes_max);
    record.spec_bytes.value = in.read_uint();
}

std::optional<core::Sketch> read_sketch(Unpacker& in) {
    const ByteView bytes = in.read_binary(2 * core::Sketch::cells);
    if (bytes.empty()) return std::nullopt;
    if (bytes.size() != 2 * core::Sketch::cells) {
        in.fail(ErrorCode::wrong_size, "a sketch has another number of cells");
        return std::nullopt;
    }
    core::Sketch sketch;
    for (std::size_t cell = 0; cell < core::Sketch::cells; ++cell)
        sketch.half[cell] = core::load_le<std::uint16_t>(bytes.data() + 2 * cell);
    return sketch;
}

void read_fields(Unpacker& in, core::JobReport& record) {
    read_id(in, record.job);
    record.incarnation.value = in.read_uint();
    record.sequence = in.read_uint();
    record.state = read_enum<core::JobState>(in);
    record.steps.value = in.read_uint();
    record.samples.value = in.read_uint();
    record.samples_per_second = in.read_finite();
    record.train_loss = in.read_finite();
    record.eval_loss = in.read_finite();
    record.accuracy = in.read_finite();
    record.distance_ratio = in.read_finite();
    record.swaps = in.read_uint();
    record.utilization = in.read_finite();
    record.bytes_sent = in.read_uint();
    record.training_time = read_duration(in, limits::training_time_max);
    record.batch_hash = in.read_uint();
    record.settled = in.read_bool();
    read_id(in, record.final_hash);
    record.sketch = read_sketch(in);
}

void read_fields(Unpacker& in, core::JobControl& record) {
    read_id(in, record.job);
    record.action = read_enum<core::JobControl::Action>(in);
}

void read_fields(Unpacker& in, core::JobEnd& record) {
    read_id(in, record.job);
    record.reason = read_enum<core::EndReason>(in);
    record.progress.value = in.read_uint();
}

void read_fields(Unpacker& in, core::Final& record) {
    read_id(in, record.job);
    read_id(in, record.hash);
    record.bytes.value = in.read_uint();
    record.progress.value = in.read_uint();
}

void read_fields(Unpacker& in, core::StateRequest& message) {
    read_id(in, message.job);
}

void read_fields(Unpacker& in, core::StateOffer& message) {
    read_id(in, message.job);
    read_id(in, message.hash);
    message.bytes.value = in.read_uint();
    message.busy_for = read_duration(in, limits::busy_max);
    message.progress.value = in.read_uint();
}

void read_fields(Unpacker& in, core::BlobRequest& message) {
    read_id(in, message.hash);
    message.offset = in.read_uint();
}

void read_fields(Unpacker& in, core::ReportWish& message) {
    read_id(in, message.job);
    message.route = read_enum<core::ReportRoute>(in);
    message.authors.resize(in.read_array(limits::wish_authors_max));
    for (core::PeerId& author : message.authors)
        read_id(in, author);
}

/// Adds a fault of meaning, once all has been read.
template <typename T>
void check_meaning(Unpacker& in, const T& value) {
    if (!in.is_ok()) return;
    const auto fault = fault_in(value);
    if (!fault.empty()) in.fail(ErrorCode::invalid, std::string(fault));
}

template <typename T>
bool speaks_for_itself(const core::Signed<T>& /*record*/) {
    return true;
}

bool speaks_for_itself(const core::Signed<core::PeerRecord>& record) {
    return record.author == record.value.id;
}

/// The content after its domain; nothing where it was made for another purpose.
template <typename T>
std::optional<ByteView> after_domain(ByteView content) {
    const auto text = core::as_text(content);
    if (!text.starts_with(signed_domain)) return std::nullopt;
    const auto rest = text.substr(signed_domain.size());
    if (!rest.starts_with(WireForm<T>::name)) return std::nullopt;
    return content.subspan(signed_domain.size() + WireForm<T>::name.size());
}

/// Author, content, signature; all faults go to `in`.
template <typename T>
core::Signed<T> read_signed(Unpacker& in) {
    core::Signed<T> record;
    read_id(in, record.author);
    record.signed_bytes = core::to_bytes(in.read_binary(limits::signed_bytes_max));
    in.read_binary_into(record.signature);
    if (!in.is_ok()) return record;

    if (!verify(record.author, record.signed_bytes, record.signature)) {
        in.fail(
            ErrorCode::forged, "the signature of " + record.author.short_text() + " does not fit");
        return record;
    }
    const auto fields = after_domain<T>(record.signed_bytes);
    if (!fields) {
        in.fail(ErrorCode::forged, "a signature made for something else");
        return record;
    }
    Unpacker content(*fields);
    content.expect_array(WireForm<T>::fields);
    read_fields(content, record.value);
    check_meaning(content, record.value);
    if (const auto status = content.finish(); !status) {
        in.fail(status.error().code, status.error().why);
    } else if (!speaks_for_itself(record)) {
        in.fail(ErrorCode::forged, record.author.short_text() + " signed for another");
    }
    return record;
}

void read_fields(Unpacker& in, core::PeerRecords& message) {
    const std::size_t count = in.read_array(limits::records_a_message_max);
    for (std::size_t i = 0; i < count && in.is_ok(); ++i) {
        in.expect_array(signed_record_values);
        message.records.push_back(read_signed<core::PeerRecord>(in));
    }
}

template <typename T>
Result<core::Message> finished(Unpacker& in, T message) {
    if (const auto status = in.finish(); !status) {
        return status.error().with_context(WireForm<T>::name);
    }
    return core::Message{std::move(message)};
}

void expect_values(Unpacker& in, std::size_t count, std::size_t wanted) {
    if (count != wanted) in.fail(ErrorCode::malformed, "the wrong number of fields");
}

template <typename T>
Result<core::Message> read_message(Unpacker& in, std::size_t count) {
    expect_values(in, count, 1 + WireForm<T>::fields);
    T message;
    read_fields(in, message);
    check_meaning(in, message);
    return finished(in, std::move(message));
}

template <typename T>
Result<core::Message> read_record(Unpacker& in, std::size_t count) {
    expect_values(in, count, signed_message_values);
    auto record = read_signed<T>(in);
    if (const auto status = in.finish(); !status) {
        return status.error().with_context(WireForm<T>::name);
    }
    return core::Message{std::move(record)};
}

/// Longest array of any message; the exact number is each kind's.
constexpr std::size_t values_max = 16;

}  // namespace

Result<core::Message> decode_control(ByteView bytes) {
    if (bytes.size() > limits::control_message_bytes_max) {
        return Error{
            ErrorCode::too_large, "a control message cannot be read", "it is too long", ""};
    }
    Unpacker in(bytes);
    const std::size_t count = in.read_array(values_max);
    const auto kind = read_enum<WireKind>(in);
    if (const bool is_ok = in.is_ok(); !is_ok) return in.finish().error();
    switch (kind) {
        case WireKind::ping: return read_message<core::Ping>(in, count);
        case WireKind::pong: return read_message<core::Pong>(in, count);
        case WireKind::peer_records: return read_message<core::PeerRecords>(in, count);
        case WireKind::leave: return read_message<core::Leave>(in, count);
        case WireKind::swap_open: return read_message<core::SwapOpen>(in, count);
        case WireKind::swap_ack: return read_message<core::SwapAck>(in, count);
        case WireKind::swap_ready: return read_message<core::SwapReady>(in, count);
        case WireKind::swap_close: return read_message<core::SwapClose>(in, count);
        case WireKind::swap_state: return read_message<core::SwapState>(in, count);
        case WireKind::push: return read_message<core::Push>(in, count);
        case WireKind::push_ack: return read_message<core::PushAck>(in, count);
        case WireKind::job_announcement: return read_record<core::JobAnnouncement>(in, count);
        case WireKind::job_report: return read_record<core::JobReport>(in, count);
        case WireKind::job_control: return read_record<core::JobControl>(in, count);
        case WireKind::job_end: return read_record<core::JobEnd>(in, count);
        case WireKind::final_model: return read_record<core::Final>(in, count);
        case WireKind::state_request: return read_message<core::StateRequest>(in, count);
        case WireKind::state_offer: return read_message<core::StateOffer>(in, count);
        case WireKind::blob_request: return read_message<core::BlobRequest>(in, count);
        case WireKind::report_wish: return read_message<core::ReportWish>(in, count);
        case WireKind::swap_chunk:
        case WireKind::blob_chunk: break;  // bulk frames, never control
    }
    return Error{
        ErrorCode::unsupported,
        "a control message cannot be read",
        "its kind is unknown: " + std::to_string(static_cast<unsigned>(kind)),
        ""};
}

}  // namespace p2p::proto
