#include "proto/handshake.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::Bytes;
using core::ByteView;
using core::ErrorCode;
using core::Result;

namespace {

std::string_view protocol_name(Pattern pattern) {
    return pattern == Pattern::ik ? "Noise_IK_25519_ChaChaPoly_BLAKE2b"
                                  : "Noise_XX_25519_ChaChaPoly_BLAKE2b";
}

core::Error refused(ErrorCode code, std::string why) {
    return {code, "the handshake failed", std::move(why), ""};
}

void append(Bytes& message, ByteView bytes) {
    message.insert(message.end(), bytes.begin(), bytes.end());
}

ByteView take(ByteView& rest, std::size_t count) {
    const ByteView head = rest.first(count);
    rest = rest.subspan(count);
    return head;
}

Key to_key(ByteView bytes) {
    Key key;
    std::copy(bytes.begin(), bytes.end(), key.begin());
    return key;
}

}  // namespace

std::span<const Handshake::Row> Handshake::rows_of(Pattern pattern) {
    // Section 7.5. Tokens are named from the initiator's side: `es` is its e with the other's s.
    static constexpr std::array e_es_s_ss{Token::e, Token::es, Token::s, Token::ss};
    static constexpr std::array e_ee_se{Token::e, Token::ee, Token::se};
    static constexpr std::array only_e{Token::e};
    static constexpr std::array e_ee_s_es{Token::e, Token::ee, Token::s, Token::es};
    static constexpr std::array s_se{Token::s, Token::se};
    static constexpr std::array<Row, 2> ik{Row(e_es_s_ss), Row(e_ee_se)};
    static constexpr std::array<Row, 3> xx{Row(only_e), Row(e_ee_s_es), Row(s_se)};
    return pattern == Pattern::ik ? std::span<const Row>(ik) : std::span<const Row>(xx);
}

Handshake::Handshake(Pattern pattern, Role role, ByteView prologue, HandshakeKeys keys)
    : pattern_(pattern),
      role_(role),
      keys_(std::move(keys)),
      ephemeral_(x25519_from_secret(keys_.ephemeral_seed)) {
    const bool knows_remote = pattern == Pattern::ik && role == Role::initiator;
    P2P_CHECK(keys_.remote_static.has_value() == knows_remote);

    const ByteView name = core::as_bytes(protocol_name(pattern));
    P2P_CHECK(name.size() <= state_.hash.size());  // so it is padded, not hashed (section 5.2)
    std::copy(name.begin(), name.end(), state_.hash.begin());
    state_.chaining_key = SecretHash(state_.hash);
    state_.mix_hash(prologue);

    state_.remote_static = keys_.remote_static;
    if (pattern == Pattern::ik) {  // the pre-message <- s
        state_.mix_hash(knows_remote ? *keys_.remote_static : keys_.own_static.public_key);
    }
}

Result<Bytes> Handshake::write_message(ByteView payload) {
    P2P_CHECK(is_our_turn());
    State next = state_;
    Bytes message;
    for (const Token token : rows_of(pattern_)[next.messages_done]) {
        if (!write_token(next, token, message)) {
            return refused(ErrorCode::forged, "the other end's key is of small order");
        }
    }
    next.encrypt_and_hash(payload, message);
    ++next.messages_done;
    state_ = std::move(next);
    return message;
}

Result<Bytes> Handshake::read_message(ByteView message) {
    P2P_CHECK(!is_finished() && !is_our_turn());
    if (message.size() < handshake_message_bytes(pattern_, state_.messages_done, 0)) {
        return refused(ErrorCode::wrong_size, "a message is too short");
    }
    State next = state_;
    for (const Token token : rows_of(pattern_)[next.messages_done]) {
        if (!read_token(next, token, message)) {
            return refused(ErrorCode::forged, "a message was not made for us with these keys");
        }
    }
    auto payload = next.decrypt_and_hash(message);
    if (!payload) return refused(ErrorCode::forged, "a payload does not open");
    ++next.messages_done;
    state_ = std::move(next);
    return std::move(*payload);
}

bool Handshake::is_our_turn() const {
    const bool is_initiators = state_.messages_done % 2 == 0;
    return !is_finished() && is_initiators == (role_ == Role::initiator);
}

bool Handshake::is_finished() const {
    return state_.messages_done == rows_of(pattern_).size();
}

const Hash& Handshake::handshake_hash() const {
    P2P_CHECK(is_finished());
    return state_.hash;
}

TransportKeys Handshake::split() const {
    P2P_CHECK(is_finished());
    const auto outputs = hkdf_blake2b(state_.chaining_key.view(), {});
    std::array<SecretKey, 2> keys;  // of the initiator's sending, of the responder's
    for (std::size_t i = 0; i < keys.size(); ++i) {
        std::copy_n(outputs[i].data(), keys[i].view().size(), keys[i].data());
    }
    const std::size_t own = role_ == Role::initiator ? 0 : 1;
    return {.sending = keys[own], .receiving = keys[1 - own]};
}

bool Handshake::write_token(State& state, Token token, Bytes& message) const {
    if (token == Token::e) {
        append(message, ephemeral_.public_key);
        state.mix_hash(ephemeral_.public_key);
        return true;
    }
    if (token == Token::s) {
        state.encrypt_and_hash(keys_.own_static.public_key, message);
        return true;
    }
    return mix_dh(state, token);
}

bool Handshake::read_token(State& state, Token token, ByteView& rest) const {
    if (token == Token::e) {
        state.remote_ephemeral = to_key(take(rest, 32));
        state.mix_hash(*state.remote_ephemeral);
        return true;
    }
    if (token == Token::s) {
        const auto opened = state.decrypt_and_hash(take(rest, 32 + aead_tag_bytes));
        if (!opened) return false;
        state.remote_static = to_key(*opened);
        return true;
    }
    return mix_dh(state, token);
}

bool Handshake::mix_dh(State& state, Token token) const {
    const bool is_initiator = role_ == Role::initiator;
    const bool initiator_uses_e = token == Token::ee || token == Token::es;
    const bool responder_uses_e = token == Token::ee || token == Token::se;
    const bool uses_own_e = is_initiator ? initiator_uses_e : responder_uses_e;
    const bool uses_remote_e = is_initiator ? responder_uses_e : initiator_uses_e;

    const SecretKey& secret = uses_own_e ? ephemeral_.secret : keys_.own_static.secret;
    const auto& remote = uses_remote_e ? state.remote_ephemeral : state.remote_static;
    P2P_CHECK(remote.has_value());
    const auto shared = x25519(secret, *remote);
    if (!shared) return false;
    state.mix_key(shared->view());
    return true;
}

void Handshake::State::mix_hash(ByteView data) {
    hash = blake2b_512({hash, data});
}

void Handshake::State::mix_key(ByteView input_key_material) {
    const auto outputs = hkdf_blake2b(chaining_key.view(), input_key_material);
    chaining_key = outputs[0];
    std::copy_n(outputs[1].data(), key.view().size(), key.data());
    has_key = true;
    nonce = 0;
}

void Handshake::State::encrypt_and_hash(ByteView plain, Bytes& message) {
    const std::size_t start = message.size();
    if (has_key) {
        message.resize(start + plain.size() + aead_tag_bytes);
        sodium_seal(key, nonce++, hash, plain, core::MutableByteView(message).subspan(start));
    } else {
        append(message, plain);
    }
    mix_hash(ByteView(message).subspan(start));
}

std::optional<Bytes> Handshake::State::decrypt_and_hash(ByteView sealed) {
    Bytes plain = core::to_bytes(sealed);
    if (has_key) {
        if (sealed.size() < aead_tag_bytes) return std::nullopt;
        plain.resize(sealed.size() - aead_tag_bytes);
        if (!sodium_open(key, nonce++, hash, sealed, plain)) return std::nullopt;
    }
    mix_hash(sealed);
    return plain;
}

std::size_t handshake_message_bytes(Pattern pattern, std::size_t index, std::size_t payload_bytes) {
    constexpr std::size_t e = 32;
    constexpr std::size_t s = 32 + aead_tag_bytes;
    constexpr std::array<std::size_t, 2> ik{e + s + aead_tag_bytes, e + aead_tag_bytes};
    constexpr std::array<std::size_t, 3> xx{e, e + s + aead_tag_bytes, s + aead_tag_bytes};
    P2P_CHECK(index < handshake_message_count(pattern));
    return payload_bytes + (pattern == Pattern::ik ? ik[index] : xx[index]);
}

}  // namespace p2p::proto
