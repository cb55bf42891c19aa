#include "proto/greeting.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Status;

namespace {

constexpr std::size_t length_bytes = 2;
constexpr std::size_t network_bytes = sizeof(core::NetworkId::bytes);

Pattern pattern_of(std::uint8_t suite) {
    return suite == suite_ik ? Pattern::ik : Pattern::xx;
}

/// XX's first message is in the clear, so the network id waits for the second.
std::size_t payload_bytes(Pattern pattern, std::size_t index) {
    return pattern == Pattern::xx && index == 0 ? 0 : network_bytes;
}

Error failed(ErrorCode code, std::string why, std::string next = "") {
    return {code, "the handshake failed", std::move(why), std::move(next)};
}

Error other_suites(std::uint8_t list) {
    std::string names;
    if ((list & suite_ik) != 0) names += " IK (by peer id)";
    if ((list & suite_xx) != 0) names += " XX (without an id)";
    return failed(
        ErrorCode::unsupported,
        "the other end accepts only:" + (names.empty() ? " suites that we do not know" : names),
        "dial id@host:port, or set network.accept_unknown_id on both ends");
}

}  // namespace

Greeting Greeting::dial(
    const GreetingConfig& config, const Identity& identity, std::optional<Key> remote_static) {
    Greeting greeting(config, identity, Role::initiator);
    greeting.start(remote_static ? suite_ik : suite_xx, remote_static);
    return greeting;
}

Greeting Greeting::accept(const GreetingConfig& config, const Identity& identity) {
    return Greeting(config, identity, Role::responder);
}

Greeting::Greeting(const GreetingConfig& config, const Identity& identity, Role role)
    : config_(config),
      role_(role),
      own_static_(identity.x25519_pair()) {}

Status Greeting::feed(ByteView& input) {
    while (!is_finished() && !input.empty()) {
        const ByteView piece = input.first(std::min(input.size(), need_ - have_));
        std::copy(piece.begin(), piece.end(), buffer_.data() + have_);
        have_ += piece.size();
        input = input.subspan(piece.size());
        if (have_ < need_) break;

        Status status;
        switch (stage_) {
            case Stage::suite: status = on_suite(buffer_[0]); break;
            case Stage::length:
                status = on_length(core::load_le<std::uint16_t>(buffer_.data()));
                break;
            case Stage::message: status = on_message(ByteView(buffer_).first(need_)); break;
            case Stage::finished: break;
        }
        if (!status) return status;
    }
    return {};
}

core::Bytes Greeting::take_output() {
    return std::exchange(output_, {});
}

const Handshake& Greeting::handshake() const {
    P2P_CHECK(is_finished());
    return *handshake_;
}

const core::NetworkId& Greeting::remote_network() const {
    P2P_CHECK(is_finished() && remote_network_.has_value());
    return *remote_network_;
}

void Greeting::start(std::uint8_t suite, std::optional<Key> remote_static) {
    suite_ = suite;
    const std::array<std::uint8_t, 1> prologue{suite};
    HandshakeKeys keys{own_static_, config_.ephemeral_seed, remote_static};
    handshake_.emplace(pattern_of(suite), role_, prologue, std::move(keys));
    if (role_ == Role::initiator) {
        // It cannot fail: a key that the handshake would find weak was refused with its id.
        P2P_CHECK(write_message());
    }
}

Status Greeting::on_suite(std::uint8_t byte) {
    if (role_ == Role::initiator) {
        if ((byte & suites_listed) != 0) return other_suites(byte);
        if (byte != suite_) return failed(ErrorCode::malformed, "the answer is none of p2ptrain");
        expect(Stage::length, length_bytes);
        return {};
    }
    const bool is_spoken = byte == suite_ik || (byte == suite_xx && config_.accept_unknown_id);
    if (!is_spoken) {
        const std::uint8_t xx = config_.accept_unknown_id ? suite_xx : std::uint8_t{0};
        output_.push_back(static_cast<std::uint8_t>(suites_listed | suite_ik | xx));
        return failed(ErrorCode::unsupported, "suite " + std::to_string(byte) + " is not accepted");
    }
    start(byte, std::nullopt);
    expect(Stage::length, length_bytes);
    return {};
}

Status Greeting::on_length(std::size_t length) {
    const std::size_t index = handshake_->messages_done();
    const Pattern pattern = pattern_of(suite_);
    const std::size_t expected =
        handshake_message_bytes(pattern, index, payload_bytes(pattern, index));
    P2P_CHECK(expected <= buffer_.size());
    if (length != expected) {
        return failed(ErrorCode::wrong_size, "a message of " + std::to_string(length) + " bytes");
    }
    expect(Stage::message, length);
    return {};
}

Status Greeting::on_message(ByteView message) {
    const auto payload = handshake_->read_message(message);
    if (!payload) return payload.error();
    if (!payload->empty()) remote_network_ = core::NetworkId::from_bytes(*payload);
    expect(Stage::length, length_bytes);
    if (handshake_->is_our_turn()) {
        if (Status status = write_message(); !status) return status;
    }
    if (handshake_->is_finished()) expect(Stage::finished, 0);
    return {};
}

Status Greeting::write_message() {
    const std::size_t index = handshake_->messages_done();
    const ByteView network = config_.network.bytes;
    const auto message =
        handshake_->write_message(network.first(payload_bytes(pattern_of(suite_), index)));
    if (!message) return message.error();
    // The suite goes before the first message of each end: chosen by the one, repeated by the
    // other.
    if (index < 2) output_.push_back(suite_);
    std::array<std::uint8_t, length_bytes> length{};
    core::store_le(length.data(), static_cast<std::uint16_t>(message->size()));
    output_.insert(output_.end(), length.begin(), length.end());
    output_.insert(output_.end(), message->begin(), message->end());
    return {};
}

void Greeting::expect(Stage stage, std::size_t bytes) {
    stage_ = stage;
    have_ = 0;
    need_ = bytes;
}

}  // namespace p2p::proto
