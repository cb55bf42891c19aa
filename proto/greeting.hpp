#pragma once

// The handshake as bytes on a stream: which pattern, how long, and whose network.
//
//   dialler    suite | length | message 1 ...
//   other end  suite | length | message 2 ...        or one byte that lists its suites
//
// The suite byte is the prologue of the handshake, so both ends know that they meant the same. Each
// message has one possible length, compared before it is read into one buffer of fixed size; a
// first message that does not open is answered by nothing. The payloads are network ids, which are
// compared by session, as is everything that follows.

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/limits.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "proto/handshake.hpp"
#include "proto/keys.hpp"

namespace p2p::proto {

inline constexpr std::uint8_t suite_ik = 0x01;       ///< Noise_IK_25519_ChaChaPoly_BLAKE2b
inline constexpr std::uint8_t suite_xx = 0x02;       ///< Noise_XX_25519_ChaChaPoly_BLAKE2b
inline constexpr std::uint8_t suites_listed = 0x80;  ///< with a bit a suite: these I speak

struct GreetingConfig {
    core::NetworkId network;         ///< ours; zeros without one
    bool accept_unknown_id = false;  ///< whether an accepted connection may be XX
    SecretKey ephemeral_seed;        ///< 32 fresh random bytes, for this greeting alone
};

class Greeting {
  public:
    /// IK where `remote_static` is known, XX otherwise.
    [[nodiscard]] static Greeting dial(
        const GreetingConfig& config, const Identity& identity, std::optional<Key> remote_static);
    [[nodiscard]] static Greeting accept(const GreetingConfig& config, const Identity& identity);

    /// Takes what belongs to the handshake off the front of `input` and leaves the rest.
    /// After a failure only `take_output` may still be called.
    [[nodiscard]] core::Status feed(core::ByteView& input);

    /// Moves out what is to be sent; also after a failure and after the end.
    [[nodiscard]] core::Bytes take_output();

    [[nodiscard]] bool has_output() const { return !output_.empty(); }

    [[nodiscard]] bool is_finished() const { return stage_ == Stage::finished; }

    /// @pre is_finished(), as for all below
    [[nodiscard]] const Handshake& handshake() const;
    [[nodiscard]] const core::NetworkId& remote_network() const;

  private:
    enum class Stage : std::uint8_t {
        suite,    ///< one byte: the dialler's suite, or the other end's answer to ours
        length,   ///< two bytes
        message,  ///< as many as the length said
        finished,
    };

    Greeting(const GreetingConfig& config, const Identity& identity, Role role);

    void start(std::uint8_t suite, std::optional<Key> remote_static);
    [[nodiscard]] core::Status on_suite(std::uint8_t byte);
    [[nodiscard]] core::Status on_length(std::size_t length);
    [[nodiscard]] core::Status on_message(core::ByteView message);
    [[nodiscard]] core::Status write_message();
    void expect(Stage stage, std::size_t bytes);

    GreetingConfig config_;
    Role role_;
    X25519Pair own_static_;
    std::uint8_t suite_ = 0;
    std::optional<Handshake> handshake_;
    std::optional<core::NetworkId> remote_network_;
    Stage stage_ = Stage::suite;
    std::array<std::uint8_t, core::limits::handshake_message_bytes_max> buffer_{};
    std::size_t have_ = 0;  ///< bytes of `buffer_` that have come
    std::size_t need_ = 1;  ///< bytes that the stage waits for
    core::Bytes output_;
};

}  // namespace p2p::proto
