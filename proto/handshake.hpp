#pragma once

// Noise_IK_25519_ChaChaPoly_BLAKE2b and Noise_XX_25519_ChaChaPoly_BLAKE2b, message by message.
//
// Written to be read beside the Noise specification (revision 34), whose words it uses: MixHash,
// MixKey, EncryptAndHash, and a pattern as rows of tokens. Every message works on a copy of the
// state and commits at its end, so one that is half verified changes nothing.
// Bytes on a stream, payloads and what a static key means are left to greeting and session.

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "proto/sodium.hpp"

namespace p2p::proto {

enum class Pattern : std::uint8_t {
    ik,  ///< the initiator knows the responder's static key; two messages
    xx,  ///< nobody knows anybody; three messages
};

enum class Role : std::uint8_t { initiator, responder };

struct HandshakeKeys {
    X25519Pair own_static;
    SecretKey ephemeral_seed;          ///< 32 fresh random bytes; the ephemeral secret key
    std::optional<Key> remote_static;  ///< of an initiator of IK, and of nobody else
};

/// What both ends share when a handshake is finished.
struct TransportKeys {
    SecretKey sending;
    SecretKey receiving;
};

class Handshake {
  public:
    /// `prologue` is what both ends must already agree on; it is authenticated, not sent.
    /// @pre keys.remote_static is set exactly for an initiator of IK
    Handshake(Pattern pattern, Role role, core::ByteView prologue, HandshakeKeys keys);

    /// Our next message. `forged` where a key of the other end is weak.
    /// @pre it is our turn
    [[nodiscard]] core::Result<core::Bytes> write_message(core::ByteView payload);

    /// The payload of the other end's next message; `wrong_size` or `forged` otherwise.
    /// @pre it is the other end's turn
    [[nodiscard]] core::Result<core::Bytes> read_message(core::ByteView message);

    [[nodiscard]] bool is_our_turn() const;
    [[nodiscard]] bool is_finished() const;

    /// Messages of both ends so far: the index of the next one.
    [[nodiscard]] std::size_t messages_done() const { return state_.messages_done; }

    /// The static key of the other end, once a message brought it (or it was known).
    [[nodiscard]] const std::optional<Key>& remote_static() const { return state_.remote_static; }

    /// Names this session among all; the same at both ends. @pre is_finished()
    [[nodiscard]] const Hash& handshake_hash() const;

    /// @pre is_finished()
    [[nodiscard]] TransportKeys split() const;

  private:
    enum class Token : std::uint8_t { e, s, ee, es, se, ss };

    /// SymmetricState and the keys learnt so far: all that a message changes.
    struct State {
        Hash hash{};              ///< h
        SecretHash chaining_key;  ///< ck
        SecretKey key;            ///< k
        bool has_key = false;     ///< k is not empty
        std::uint64_t nonce = 0;  ///< n
        std::optional<Key> remote_static;
        std::optional<Key> remote_ephemeral;
        std::size_t messages_done = 0;

        void mix_hash(core::ByteView data);
        void mix_key(core::ByteView input_key_material);
        void encrypt_and_hash(core::ByteView plain, core::Bytes& message);
        [[nodiscard]] std::optional<core::Bytes> decrypt_and_hash(core::ByteView sealed);
    };

    using Row = std::span<const Token>;

    [[nodiscard]] static std::span<const Row> rows_of(Pattern pattern);
    [[nodiscard]] bool mix_dh(State& state, Token token) const;
    [[nodiscard]] bool write_token(State& state, Token token, core::Bytes& message) const;
    [[nodiscard]] bool read_token(State& state, Token token, core::ByteView& rest) const;

    Pattern pattern_;
    Role role_;
    HandshakeKeys keys_;
    X25519Pair ephemeral_;
    State state_;
};

/// The length of each message with a payload of `payload_bytes`, for who must know it before it is
/// read. @pre index < 2 for IK, 3 for XX
[[nodiscard]] std::size_t handshake_message_bytes(
    Pattern pattern, std::size_t index, std::size_t payload_bytes);

[[nodiscard]] constexpr std::size_t handshake_message_count(Pattern pattern) {
    return pattern == Pattern::ik ? 2 : 3;
}

}  // namespace p2p::proto
