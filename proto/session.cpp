#include "proto/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::Bytes;
using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::MutableByteView;
using core::Result;
using core::Status;

namespace {

constexpr std::size_t rekey_record_bytes = record_overhead_bytes + frame_header_bytes;

GreetingConfig greeting_config(const SessionConfig& config, const SecretKey& ephemeral_seed) {
    return {config.network, config.accept_unknown_id, ephemeral_seed};
}

Error broken(std::string why) {
    return {
        ErrorCode::malformed,
        "the other end broke the protocol",
        std::move(why),
        "compare the releases of both ends"};
}

Error not_theirs(std::string why) {
    return {ErrorCode::forged, "the other end is not who it says", std::move(why), ""};
}

Error other_network(const core::NetworkId& own, const core::NetworkId& remote) {
    const auto name = [](const core::NetworkId& id) {
        return id.is_zero() ? std::string("none") : id.text();
    };
    return {
        ErrorCode::wrong_network,
        "the other end belongs to another network",
        "theirs " + name(remote) + ", ours " + name(own),
        "give both ends the same network.id in p2pd.toml and restart (where `p2pctl init` founded "
        "one by "
        "mistake, remove trust/network in its state folder first)"};
}

}  // namespace

Result<Session> Session::dial(
    SessionConfig config,
    const Identity& identity,
    const core::PeerId& remote,
    const SecretKey& ephemeral_seed) {
    const auto remote_static = x25519_public(remote);
    if (!remote_static) return remote_static.error();
    auto greeting =
        Greeting::dial(greeting_config(config, ephemeral_seed), identity, *remote_static);
    Session session(std::move(config), identity, Role::initiator, std::move(greeting));
    session.dialled_ = remote;
    return session;
}

Session Session::dial_unknown(
    SessionConfig config, const Identity& identity, const SecretKey& ephemeral_seed) {
    auto greeting = Greeting::dial(greeting_config(config, ephemeral_seed), identity, std::nullopt);
    return Session(std::move(config), identity, Role::initiator, std::move(greeting));
}

Session Session::accept(
    SessionConfig config, const Identity& identity, const SecretKey& ephemeral_seed) {
    auto greeting = Greeting::accept(greeting_config(config, ephemeral_seed), identity);
    return Session(std::move(config), identity, Role::responder, std::move(greeting));
}

Session::Session(SessionConfig config, const Identity& identity, Role role, Greeting greeting)
    : config_(std::move(config)),
      role_(role),
      greeting_(std::move(greeting)),
      greeting_output_(greeting_->take_output()) {
    P2P_CHECK(config_.rekey_messages >= 2);
    config_.hello.id = identity.id();
}

Status Session::feed(ByteView input) {
    if (failure_) return *failure_;
    counters_.bytes_received += input.size();
    while (!input.empty()) {
        if (Status status = advance(input); !status) {
            end(status.error());
            return status;
        }
    }
    return {};
}

Status Session::advance(ByteView& input) {
    if (stage_ == Stage::greeting) {
        Status status = greeting_->feed(input);
        const Bytes output = greeting_->take_output();
        greeting_output_.insert(greeting_output_.end(), output.begin(), output.end());
        if (!status || !greeting_->is_finished()) return status;
        return on_greeted();
    }
    const std::size_t record_bytes_max = stage_ == Stage::established
                                             ? core::limits::noise_message_bytes_max
                                             : aead_tag_bytes + hello_bytes_max;
    const auto record = records_.next(input, record_bytes_max);
    if (!record) return record.error();
    return record->has_value() ? on_record(**record) : Status{};
}

Status Session::on_greeted() {
    const Handshake& handshake = greeting_->handshake();
    const TransportKeys keys = handshake.split();
    const core::NetworkId remote_network = greeting_->remote_network();
    sealer_.emplace(keys.sending);
    opener_.emplace(keys.receiving);
    handshake_hash_ = handshake.handshake_hash();
    remote_static_ = handshake.remote_static();
    remote_ = dialled_;
    greeting_.reset();  // with it go the ephemeral and the static secret
    stage_ = Stage::introducing;

    if (remote_network != config_.network || config_.network.is_zero()) {
        return other_network(config_.network, remote_network);
    }
    // The accepting end speaks second: its Hello is for those whom its owner lets in.
    if (role_ == Role::initiator) {
        outbox_.push_session_frame(FrameKind::hello, encode(config_.hello));
    }
    return {};
}

Status Session::on_record(ByteView sealed) {
    const std::size_t plain_bytes = sealed.size() - aead_tag_bytes;
    const auto buffer = std::make_shared_for_overwrite<std::uint8_t[]>(plain_bytes);
    const MutableByteView plain(buffer.get(), plain_bytes);
    if (!opener_->open(sealed, plain)) {
        return Error{
            ErrorCode::forged,
            "a record does not open",
            "it was changed, repeated or left out on its way",
            "the session is made anew"};
    }
    ++counters_.records_received;

    FrameReader reader(plain);
    bool is_first = true;
    bool has_messages = false;
    while (!reader.at_end()) {
        const auto frame = reader.next();
        if (!frame) return frame.error();
        const bool is_alone = is_first && reader.at_end();
        if (Status status = on_frame(*frame, is_alone); !status) return status;
        has_messages |= frame->kind == FrameKind::control || frame->kind == FrameKind::bulk;
        is_first = false;
    }
    if (has_messages) opened_.push_back({buffer, plain});
    return {};
}

Status Session::on_frame(const Frame& frame, bool is_alone) {
    switch (frame.kind) {
        case FrameKind::hello: return on_hello(frame.body);
        case FrameKind::confirm: return on_confirm();
        case FrameKind::rekey: return on_rekey(is_alone);
        case FrameKind::control:
        case FrameKind::bulk:
            if (!is_established()) return broken("a message before the link is up");
            ++(frame.kind == FrameKind::control ? counters_.control_received
                                                : counters_.bulk_received);
            return {};
        case FrameKind::close: break;
    }
    const auto close = decode_close(frame.body);
    is_closed_by_remote_ = true;
    return close ? close->reason.with_context("closed by the other end") : close.error();
}

Status Session::on_hello(ByteView body) {
    if (stage_ != Stage::introducing || remote_hello_) return broken("a second Hello");
    const auto hello = decode_hello(body);
    if (!hello) return hello.error();
    if (Status status = check_hello(*hello); !status) return status;
    remote_ = hello->id;
    remote_hello_ = *hello;
    // Ours is said in any case: the other end, too, shall know both ranges of protocols.
    if (role_ == Role::responder) {
        outbox_.push_session_frame(FrameKind::hello, encode(config_.hello));
    }
    const auto protocol = common_protocol(config_.hello, *hello);
    if (!protocol) return protocol.error();
    protocol_ = *protocol;
    outbox_.push_session_frame(FrameKind::confirm, {});
    return {};
}

Status Session::check_hello(const Hello& hello) const {
    if (dialled_ && hello.id != *dialled_) {
        return not_theirs(hello.id.text() + " answered where " + dialled_->text() + " was dialled");
    }
    const auto derived = x25519_public(hello.id);
    if (!derived) return derived.error();
    if (!equal_in_constant_time(*derived, *remote_static_)) {
        return not_theirs("the id of its Hello is not that of its key");
    }
    return {};
}

Status Session::on_confirm() {
    if (stage_ != Stage::introducing || !remote_hello_) return broken("a stray confirmation");
    stage_ = Stage::established;
    return {};
}

Status Session::on_rekey(bool is_alone) {
    if (!is_established() || !is_alone) return broken("a stray rekey");
    opener_->rekey();
    ++counters_.rekeys_received;
    return {};
}

std::optional<SessionEvent> Session::next_event() {
    if (protocol_ != 0 && !established_is_told_ && (is_established() || !opened_.empty())) {
        established_is_told_ = true;
        return Established{*remote_hello_, protocol_};
    }
    while (!opened_.empty()) {
        Opened& record = opened_.front();
        FrameReader reader(record.rest);
        const auto frame = reader.next();
        P2P_CHECK(frame);  // it was read once before it was queued
        record.rest = reader.rest();
        const auto buffer = record.buffer;
        if (record.rest.empty()) opened_.pop_front();
        if (frame->kind == FrameKind::control) return Control{core::to_bytes(frame->body)};
        if (frame->kind == FrameKind::bulk) return Bulk{frame->stream, buffer, frame->body};
    }
    return std::nullopt;
}

Status Session::push_control(Bytes message) {
    if (Status status = can_push(); !status) return status;
    return outbox_.push_control(std::move(message));
}

Status Session::push_bulk(BulkPiece piece) {
    if (Status status = can_push(); !status) return status;
    return outbox_.push_bulk(std::move(piece));
}

Status Session::can_push() const {
    if (is_established()) return {};
    return Error{ErrorCode::conflict, "a message is not sent", "the link is not up", ""};
}

std::size_t Session::take_output(MutableByteView out) {
    P2P_CHECK(out.size() >= output_bytes_min);
    const Bytes greeting = std::exchange(greeting_output_, {});
    std::copy(greeting.begin(), greeting.end(), out.begin());
    std::size_t written = greeting.size();
    for (;;) {
        const std::size_t record_bytes = next_record_bytes();
        if (record_bytes == 0 || written + record_bytes > out.size()) break;
        if (!seal_record(out.subspan(written, record_bytes))) break;
        written += record_bytes;
    }
    counters_.bytes_sent += written;
    return written;
}

Bytes Session::take_output(std::size_t bytes_max) {
    if (!has_output()) return {};
    Bytes out(std::max(bytes_max, output_bytes_min));
    out.resize(take_output(MutableByteView(out)));
    return out;
}

bool Session::has_output() const {
    return !greeting_output_.empty() || next_record_bytes() > 0;
}

bool Session::wants_bulk() const {
    return is_established() && outbox_.bulk_bytes() < config_.bulk_low_water_bytes;
}

void Session::request_rekey() {
    rekey_is_requested_ = true;
}

bool Session::is_rekey_due() const {
    if (!is_established()) return false;
    // The record that says so is the last one under the old key.
    const std::uint64_t under_this_key = sealer_->sealed_count() - sealed_at_rekey_;
    return rekey_is_requested_ || under_this_key + 1 >= config_.rekey_messages;
}

std::size_t Session::next_record_bytes() const {
    if (!sealer_) return 0;
    return is_rekey_due() ? rekey_record_bytes : outbox_.next_record_bytes();
}

bool Session::seal_record(MutableByteView out) {
    const bool is_rekey = is_rekey_due();
    if (!(is_rekey ? seal_rekey(out) : outbox_.seal_record(*sealer_, out))) {
        sealer_.reset();  // so that nothing tries again
        end({ErrorCode::too_large, "the session is used up", "its key has sealed all it may", ""});
        return false;
    }
    ++counters_.records_sent;
    if (is_rekey) {
        sealer_->rekey();
        sealed_at_rekey_ = sealer_->sealed_count();
        rekey_is_requested_ = false;
        ++counters_.rekeys_sent;
    }
    return true;
}

bool Session::seal_rekey(MutableByteView out) {
    std::array<std::uint8_t, frame_header_bytes> frame{};
    write_frame_header(FrameKind::rekey, 0, 0, frame);
    const ByteView pieces[] = {frame};
    return seal_as_record(*sealer_, pieces, out);
}

void Session::refuse(Error reason) {
    if (failure_) return;
    outbox_.clear();
    stop(std::move(reason), /*is_told=*/true);
}

void Session::end(Error error) {
    // A Hello that waits is still said: where protocols differ, it names our range.
    outbox_.clear_messages();
    const bool is_known_there = is_closed_by_remote_ || error.code == ErrorCode::wrong_network;
    const bool is_nobody_there = error.code == ErrorCode::forged;
    stop(std::move(error), !is_known_there && !is_nobody_there);
}

void Session::stop(Error error, bool is_told) {
    if (sealer_ && is_told) outbox_.push_session_frame(FrameKind::close, encode(Close{error}));
    failure_ = std::move(error);
    stage_ = Stage::over;
}

SessionCounters Session::counters() const {
    SessionCounters counters = counters_;
    counters.control_sent = outbox_.counts().control;
    counters.bulk_sent = outbox_.counts().bulk;
    return counters;
}

const Error& Session::failure() const {
    P2P_CHECK(failure_.has_value());
    return *failure_;
}

}  // namespace p2p::proto
