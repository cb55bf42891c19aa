#include "proto/encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "proto/meaning.hpp"
#include "proto/msgpack.hpp"
#include "proto/wire_kinds.hpp"

namespace p2p::proto {

using core::Bytes;
namespace limits = core::limits;

namespace {

template <typename Enum>
std::uint64_t number(Enum value) {
    return static_cast<std::uint64_t>(value);
}

std::uint64_t nanoseconds(core::Duration duration) {
    return static_cast<std::uint64_t>(duration.count());
}

void write_key(Packer& out, const core::SwapKey& key) {
    out.binary(key.job.bytes).uint(key.shard.value).uint(key.n.value);
}

// The fields of each message, in the order of decode.cpp.

void write_fields(Packer& out, const core::Ping& message) {
    out.uint(message.nonce);
}

void write_fields(Packer& out, const core::Pong& message) {
    out.uint(message.nonce);
}

void write_fields(Packer& out, const core::PeerRecord& record) {
    out.binary(record.id.bytes)
        .uint(record.incarnation.value)
        .uint(record.version)
        .text(record.name)
        .text(record.site)
        .array(record.addresses.size());
    for (const auto& address : record.addresses) {
        out.text(address);
    }
    out.text(record.release);
}

void write_fields(Packer& out, const core::Leave& message) {
    out.text(message.reason);
}

void write_fields(Packer& out, const core::SwapOpen& message) {
    write_key(out, message.key);
    out.uint(message.round.value)
        .uint(number(message.codec))
        .uint(message.reference.value)
        .f64(static_cast<double>(message.gamma))
        .f64(static_cast<double>(message.share));
}

void write_fields(Packer& out, const core::SwapAck& message) {
    out.uint(message.received.value);
}

void write_fields(Packer& out, const core::SwapReady& message) {
    write_key(out, message.key);
    out.uint(message.hash.low).uint(message.hash.high).uint(number(message.why));
}

void write_fields(Packer& out, const core::SwapClose& message) {
    write_key(out, message.key);
    out.uint(number(message.why));
}

void write_fields(Packer& out, const core::SwapState& message) {
    write_key(out, message.key);
    out.uint(number(message.stage))
        .uint(message.hash.low)
        .uint(message.hash.high)
        .uint(number(message.last))
        .uint(message.reference.value)
        .binary(message.chunks_held);
}

void write_fields(Packer& out, const core::Push& message) {
    write_key(out, message.key);
    out.uint(number(message.kind))
        .uint(number(message.codec))
        .f64(message.weight)
        .binary(message.hash.bytes)
        .uint(message.bytes.value);
}

void write_fields(Packer& out, const core::PushAck& message) {
    write_key(out, message.key);
    out.uint(number(message.why));
}

void write_fields(Packer& out, const core::JobAnnouncement& record) {
    out.binary(record.job.bytes).text(record.name).uint(record.spec_bytes.value);
}

/// Cells in order, little end first; nothing where there is none.
Bytes sketch_bytes(const std::optional<core::Sketch>& sketch) {
    if (!sketch) return {};
    Bytes bytes(2 * core::Sketch::cells);
    for (std::size_t cell = 0; cell < core::Sketch::cells; ++cell)
        core::store_le(bytes.data() + 2 * cell, sketch->half[cell]);
    return bytes;
}

void write_fields(Packer& out, const core::JobReport& record) {
    out.binary(record.job.bytes)
        .uint(record.incarnation.value)
        .uint(record.sequence)
        .uint(number(record.state))
        .uint(record.steps.value)
        .uint(record.samples.value)
        .f64(record.samples_per_second)
        .f64(record.train_loss)
        .f64(record.eval_loss)
        .f64(record.accuracy)
        .f64(record.distance_ratio)
        .uint(record.swaps)
        .f64(record.utilization)
        .uint(record.bytes_sent)
        .uint(nanoseconds(record.training_time))
        .uint(record.batch_hash)
        .boolean(record.settled)
        .binary(record.final_hash.bytes)
        .binary(sketch_bytes(record.sketch));
}

void write_fields(Packer& out, const core::JobControl& record) {
    out.binary(record.job.bytes).uint(number(record.action));
}

void write_fields(Packer& out, const core::JobEnd& record) {
    out.binary(record.job.bytes).uint(number(record.reason)).uint(record.progress.value);
}

void write_fields(Packer& out, const core::Final& record) {
    out.binary(record.job.bytes)
        .binary(record.hash.bytes)
        .uint(record.bytes.value)
        .uint(record.progress.value);
}

void write_fields(Packer& out, const core::StateRequest& message) {
    out.binary(message.job.bytes);
}

void write_fields(Packer& out, const core::ReportWish& message) {
    out.binary(message.job.bytes).uint(number(message.route)).array(message.authors.size());
    for (const core::PeerId& author : message.authors)
        out.binary(author.bytes);
}

void write_fields(Packer& out, const core::StateOffer& message) {
    out.binary(message.job.bytes)
        .binary(message.hash.bytes)
        .uint(message.bytes.value)
        .uint(nanoseconds(message.busy_for))
        .uint(message.progress.value);
}

void write_fields(Packer& out, const core::BlobRequest& message) {
    out.binary(message.hash.bytes).uint(message.offset);
}

template <typename T>
Bytes content_of(const T& value) {
    P2P_CHECK(fault_in(value).empty());
    Packer out;
    out.array(WireForm<T>::fields);
    write_fields(out, value);
    Bytes content = core::to_bytes(core::as_bytes(signed_domain));
    const auto name = core::as_bytes(WireForm<T>::name);
    content.insert(content.end(), name.begin(), name.end());
    content.insert(content.end(), out.bytes().begin(), out.bytes().end());
    return content;
}

/// Own measures may be anything that arithmetic gives; what is told to others is always a number.
double told(double measure) {
    return std::isfinite(measure) ? measure : std::numeric_limits<double>::max();
}

double told_ratio(double ratio) {
    return std::isfinite(ratio) ? std::clamp(ratio, 0.0, 1.0) : 0.0;
}

template <typename T>
T as_told(T value) {
    return value;
}

core::JobReport as_told(core::JobReport report) {
    report.samples_per_second = std::max(0.0, told(report.samples_per_second));
    report.train_loss = told(report.train_loss);
    report.eval_loss = told(report.eval_loss);
    report.distance_ratio = std::max(0.0, told(report.distance_ratio));
    report.accuracy = told_ratio(report.accuracy);
    report.utilization = told_ratio(report.utilization);
    return report;
}

core::PeerRecord as_told(core::PeerRecord record) {
    while (!record.addresses.empty() && content_of(record).size() > limits::signed_bytes_max) {
        record.addresses.pop_back();
    }
    return record;
}

template <typename T>
core::Signed<T> signed_by(T value, const Identity& self) {
    value = as_told(std::move(value));
    Bytes content = content_of(value);
    P2P_CHECK(content.size() <= limits::signed_bytes_max);
    const core::Signature signature = self.sign(content);
    return {self.id(), std::move(value), std::move(content), signature};
}

void write_signed(
    Packer& out,
    const core::PeerId& author,
    const Bytes& content,
    const core::Signature& signature) {
    out.binary(author.bytes).binary(content).binary(signature);
}

template <typename T>
void write_signed(Packer& out, const core::Signed<T>& record, const Identity& self) {
    if (!record.signed_bytes.empty()) {
        P2P_CHECK(record.signed_bytes.size() <= limits::signed_bytes_max);
        write_signed(out, record.author, record.signed_bytes, record.signature);
        return;
    }
    P2P_CHECK(record.author == self.id());
    const auto own = signed_by(record.value, self);
    write_signed(out, own.author, own.signed_bytes, own.signature);
}

/// One overload a form of message.
struct Writer {
    const Identity& self;
    Packer out{};

    template <typename T>
    void operator()(const T& message) {
        P2P_CHECK(fault_in(message).empty());
        out.array(1 + WireForm<T>::fields).uint(number(WireForm<T>::kind));
        write_fields(out, message);
    }

    template <typename T>
    void operator()(const core::Signed<T>& record) {
        out.array(signed_message_values).uint(number(WireForm<T>::kind));
        write_signed(out, record, self);
    }

    void operator()(const core::PeerRecords& message) {
        P2P_CHECK(fault_in(message).empty());
        out.array(1 + WireForm<core::PeerRecords>::fields).uint(number(WireKind::peer_records));
        out.array(message.records.size());
        for (const auto& record : message.records) {
            P2P_CHECK(record.value.id == record.author);
            out.array(signed_record_values);
            write_signed(out, record, self);
        }
    }

    void operator()(const core::SwapChunk& /*chunk*/) { refuse_bulk(); }

    void operator()(const core::BlobChunk& /*chunk*/) { refuse_bulk(); }

    static void refuse_bulk() {
        constexpr bool is_control_message = false;
        P2P_CHECK(is_control_message);
    }
};

std::uint8_t* store_id(std::uint8_t* at, const std::array<std::uint8_t, 32>& id) {
    return std::copy(id.begin(), id.end(), at);
}

}  // namespace

Bytes encode_control(const core::Message& message, const Identity& self) {
    Writer writer{self};
    std::visit(writer, message);
    Bytes bytes = writer.out.take();
    P2P_CHECK(bytes.size() <= limits::control_message_bytes_max);
    return bytes;
}

Bytes encode_swap_chunk_header(
    const core::SwapKey& key, std::uint64_t offset, std::uint64_t total) {
    P2P_CHECK(offset < total && total <= limits::swap_value_bytes_max);
    P2P_CHECK(offset % limits::chunk_bytes_max == 0);
    Bytes header(swap_chunk_header_bytes);
    std::uint8_t* at = header.data();
    *at++ = static_cast<std::uint8_t>(WireKind::swap_chunk);
    at = store_id(at, key.job.bytes);
    core::store_le(at, key.shard.value);
    core::store_le(at + 4, key.n.value);
    core::store_le(at + 12, offset);
    core::store_le(at + 20, total);
    return header;
}

Bytes encode_blob_chunk_header(
    const core::BlobHash& hash, std::uint64_t offset, std::uint64_t total) {
    P2P_CHECK(total <= limits::blob_bytes_max && (total == 0 || offset < total));
    Bytes header(blob_chunk_header_bytes);
    std::uint8_t* at = header.data();
    *at++ = static_cast<std::uint8_t>(WireKind::blob_chunk);
    at = store_id(at, hash.bytes);
    core::store_le(at, offset);
    core::store_le(at + 8, total);
    return header;
}

core::Signed<core::PeerRecord> sign(core::PeerRecord value, const Identity& self) {
    P2P_CHECK(value.id == self.id());
    return signed_by(std::move(value), self);
}

core::Signed<core::JobAnnouncement> sign(core::JobAnnouncement value, const Identity& self) {
    return signed_by(std::move(value), self);
}

core::Signed<core::JobReport> sign(core::JobReport value, const Identity& self) {
    return signed_by(std::move(value), self);
}

core::Signed<core::JobControl> sign(core::JobControl value, const Identity& self) {
    return signed_by(std::move(value), self);
}

core::Signed<core::JobEnd> sign(core::JobEnd value, const Identity& self) {
    return signed_by(std::move(value), self);
}

core::Signed<core::Final> sign(core::Final value, const Identity& self) {
    return signed_by(std::move(value), self);
}

}  // namespace p2p::proto
