#include "proto/meaning.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/limits.hpp"
#include "core/job/spec.hpp"
#include "proto/hello.hpp"

namespace p2p::proto {

namespace limits = core::limits;

namespace {

constexpr std::string_view sound;

/// Printable, and without the C1 controls either (U+0080 to U+009F): some terminals obey them.
bool is_plain_text(std::string_view text) {
    if (!is_printable(text)) return false;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        const bool is_lead = static_cast<unsigned char>(text[i]) == 0xc2;
        if (is_lead && static_cast<unsigned char>(text[i + 1]) < 0xa0) return false;
    }
    return true;
}

bool is_name(std::string_view text) {
    return text.size() <= limits::name_bytes_max && is_plain_text(text);
}

bool is_node_count(std::uint64_t count) {
    return count <= limits::count_node_max;
}

bool is_mesh_count(std::uint64_t count) {
    return count <= limits::count_mesh_max;
}

/// Neither negative nor NaN nor infinite.
bool is_measure(double value) {
    return std::isfinite(value) && value >= 0;
}

bool is_ratio(double value) {
    return value >= 0 && value <= 1;
}

bool is_known(core::SwapReason reason) {
    return reason <= core::SwapReason::ascent;
}

bool is_known(core::JobState state) {
    return state >= core::JobState::waiting && state <= core::JobState::failed;
}

bool is_sound(const core::SwapKey& key) {
    return key.n.value >= 1 && is_mesh_count(key.n.value);
}

constexpr std::string_view key_fault = "a swap whose number is none";

/// The n up to which references stand may be at most this swap's, or stands for the job's first
/// parameters.
bool is_reference(core::SwapNumber reference, const core::SwapKey& key) {
    return reference <= key.n || reference == core::initial_reference;
}

}  // namespace

bool is_host_port(std::string_view address) {
    if (address.size() > limits::address_bytes_max) return false;
    const std::size_t colon = address.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto host = address.substr(0, colon);
    const auto port = address.substr(colon + 1);

    const auto is_digit = [](char c) {
        return c >= '0' && c <= '9';
    };
    if (port.empty() || port.size() > 5 || port[0] == '0') return false;
    if (!std::all_of(port.begin(), port.end(), is_digit)) return false;
    std::uint32_t number = 0;
    for (const char digit : port) {
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    if (number > 65'535) return false;

    const auto is_hex = [&](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (host.front() == '[') {
        const auto inner = host.substr(1, host.size() - 2);
        return host.back() == ']' && inner.find(':') != std::string_view::npos
               && std::all_of(inner.begin(), inner.end(), [&](char c) {
                      return is_hex(c) || c == ':' || c == '.';
                  });
    }
    return std::all_of(host.begin(), host.end(), [&](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'
               || c == '-' || c == '_';
    });
}

std::string_view fault_in(const core::Ping& /*message*/) {
    return sound;
}

std::string_view fault_in(const core::Pong& /*message*/) {
    return sound;
}

std::string_view fault_in(const core::PeerRecord& record) {
    const auto& addresses = record.addresses;
    if (!is_name(record.name) || !is_name(record.site)) return "a name or site that is no name";
    if (!is_name(record.release)) return "a release that is no name";
    if (addresses.size() > limits::addresses_a_peer_max) return "too many addresses";
    const bool are_sound = std::all_of(addresses.begin(), addresses.end(), is_host_port);
    return are_sound ? sound : "an address that is no host:port";
}

std::string_view fault_in(const core::PeerRecords& message) {
    const bool is_too_many = message.records.size() > limits::records_a_message_max;
    return is_too_many ? "too many records" : sound;
}

std::string_view fault_in(const core::Leave& message) {
    return is_name(message.reason) ? sound : "a reason that is no short text";
}

std::string_view fault_in(const core::SwapOpen& message) {
    if (!is_sound(message.key)) return key_fault;
    if (!is_mesh_count(message.round.value)) return "a round out of range";
    if (!core::is_known_codec(static_cast<std::uint8_t>(message.codec))) return "an unknown codec";
    if (!is_reference(message.reference, message.key)) return "a reference to a later swap";
    if (!(message.gamma > 0 && message.gamma <= 1)) return "a gamma outside (0, 1]";
    if (!(message.share > 0 && message.share <= 0.75F)) return "a share outside (0, 0.75]";
    return sound;
}

std::string_view fault_in(const core::SwapChunk& message) {
    if (!is_sound(message.key)) return key_fault;
    if (message.total == 0 || message.total > limits::swap_value_bytes_max) {
        return "a total out of range";
    }
    if (message.offset >= message.total) return "a chunk past the total";
    if (message.offset % limits::chunk_bytes_max != 0) return "a chunk at no chunk's place";
    const auto wanted =
        std::min<std::uint64_t>(limits::chunk_bytes_max, message.total - message.offset);
    return message.bytes->size() == wanted ? sound : "a chunk of the wrong size";
}

std::string_view fault_in(const core::SwapAck& message) {
    return is_mesh_count(message.received.value) ? sound : "a byte count out of range";
}

std::string_view fault_in(const core::SwapReady& message) {
    if (!is_sound(message.key)) return key_fault;
    return is_known(message.why) ? sound : "an unknown reason";
}

std::string_view fault_in(const core::SwapClose& message) {
    if (!is_sound(message.key)) return key_fault;
    return is_known(message.why) ? sound : "an unknown reason";
}

std::string_view fault_in(const core::SwapState& message) {
    if (!is_sound(message.key)) return key_fault;
    if (message.stage > core::SwapStage::applied) return "an unknown stage";
    if (!is_known(message.last)) return "an unknown reason";
    if (!is_reference(message.reference, message.key)) return "a reference to a later swap";
    const bool is_long = message.chunks_held.size() > limits::chunk_bitmap_bytes_max;
    return is_long ? "a bitmap of more chunks than a swap has" : sound;
}

std::string_view fault_in(const core::Push& message) {
    constexpr double weight_max = 4294967296;  // more than all members of the largest mesh have
    if (!is_sound(message.key)) return key_fault;
    const bool is_kind =
        message.kind >= core::PushKind::half && message.kind <= core::PushKind::update;
    if (!is_kind) return "an unknown kind of push";
    if (!core::is_known_codec(static_cast<std::uint8_t>(message.codec))) return "an unknown codec";
    if (!(message.weight > 0 && message.weight <= weight_max)) return "a weight out of range";
    const bool fits =
        message.bytes.value > 0 && message.bytes.value <= limits::swap_value_bytes_max;
    return fits ? sound : "a size out of range";
}

std::string_view fault_in(const core::PushAck& message) {
    if (!is_sound(message.key)) return key_fault;
    return is_known(message.why) ? sound : "an unknown reason";
}

std::string_view fault_in(const core::JobAnnouncement& record) {
    if (!core::is_job_name(record.name)) return "a name that is no job's";
    const auto bytes = record.spec_bytes.value;
    return bytes > 0 && bytes <= limits::job_spec_bytes_max ? sound : "a spec size out of range";
}

std::string_view fault_in(const core::JobReport& record) {
    if (!is_known(record.state)) return "an unknown job state";
    if (!is_node_count(record.steps.value) || !is_node_count(record.samples.value)
        || !is_node_count(record.swaps) || !is_mesh_count(record.bytes_sent)) {
        return "a count out of range";
    }
    if (!is_measure(record.samples_per_second) || !is_measure(record.distance_ratio)) {
        return "a rate or distance out of range";
    }
    if (!std::isfinite(record.train_loss) || !std::isfinite(record.eval_loss)) {
        return "a loss that is no number";
    }
    if (!is_ratio(record.accuracy) || !is_ratio(record.utilization))
        return "a ratio outside [0, 1]";
    if (record.sketch && !core::is_sketch(*record.sketch)) return "a sketch that is no numbers";
    const auto time = record.training_time;
    const bool is_time = time >= core::Duration::zero() && time <= limits::training_time_max;
    return is_time ? sound : "a training time out of range";
}

std::string_view fault_in(const core::JobControl& record) {
    return record.action == core::JobControl::Action::stop ? sound : "an unknown action";
}

std::string_view fault_in(const core::JobEnd& record) {
    const bool is_known_reason =
        record.reason >= core::EndReason::total && record.reason <= core::EndReason::stop;
    if (!is_known_reason) return "an unknown reason";
    return is_mesh_count(record.progress.value) ? sound : "a progress out of range";
}

std::string_view fault_in(const core::Final& record) {
    if (record.hash.is_zero()) return "a model without a hash";
    if (record.bytes.value == 0 || record.bytes.value > limits::blob_bytes_max) {
        return "a size out of range";
    }
    return is_mesh_count(record.progress.value) ? sound : "a progress out of range";
}

std::string_view fault_in(const core::StateRequest& /*message*/) {
    return sound;
}

std::string_view fault_in(const core::ReportWish& message) {
    const bool is_route = message.route == core::ReportRoute::refuse
                          || message.route == core::ReportRoute::want
                          || message.route == core::ReportRoute::have;
    if (!is_route) return "an unknown route";
    const std::size_t count = message.authors.size();
    return count > 0 && count <= limits::wish_authors_max ? sound : "a number of authors";
}

std::string_view fault_in(const core::StateOffer& message) {
    if (message.bytes.value > limits::blob_bytes_max) return "a size out of range";
    if (message.busy_for < core::Duration::zero() || message.busy_for > limits::busy_max) {
        return "a wait out of range";
    }
    return is_mesh_count(message.progress.value) ? sound : "a progress out of range";
}

std::string_view fault_in(const core::BlobRequest& message) {
    return message.offset <= limits::blob_bytes_max ? sound : "an offset out of range";
}

std::string_view fault_in(const core::BlobChunk& message) {
    if (message.total > limits::blob_bytes_max) return "a total out of range";
    if (message.offset > limits::blob_bytes_max) return "an offset out of range";
    if (message.total == 0)
        return message.bytes->empty() ? sound : "bytes of a blob that is not held";
    if (message.offset >= message.total) return "a chunk past the total";
    const std::uint64_t size = message.bytes->size();
    if (size == 0 || size > limits::chunk_bytes_max) return "a chunk of the wrong size";
    return size <= message.total - message.offset ? sound : "a chunk past the total";
}

}  // namespace p2p::proto
