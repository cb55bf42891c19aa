#pragma once

// One direction of a session's secrecy: a key, a counter of nonces, and when the key must change.
//
// CipherState of Noise (sections 5.1 and 11.3): the nonce counts messages and is never sent, so a
// record that is replayed, dropped or moved does not open. Small records go through libsodium, the
// others through OpenSSL, which gives the same bytes faster. `rekey` changes the key and not the
// counter, as Noise says.
// When to rekey, and telling the other end of it, is left to session.

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "proto/evp.hpp"
#include "proto/sodium.hpp"

namespace p2p::proto {

/// From this size on OpenSSL is faster than libsodium (tools/bench/seal_bench measures it).
inline constexpr std::size_t evp_bytes_min = 128;

/// REKEY of Noise, section 4.2: the first 32 bytes of zeros sealed with the last nonce.
[[nodiscard]] SecretKey next_key(const SecretKey& key);

class Sealer {
  public:
    /// `nonce` is 0 but in tests.
    explicit Sealer(const SecretKey& key, std::uint64_t nonce = 0)
        : key_(key),
          nonce_(nonce) {}

    /// Seals the pieces as one record of their sum + 16 bytes, written to `out`.
    ///
    /// False, and nothing written, once the key has sealed all that it may.
    /// @pre out has that size; a piece may lie where its ciphertext goes, else no overlap
    [[nodiscard]] bool seal(std::span<const core::ByteView> pieces, core::MutableByteView out);

    void rekey();

    /// Records sealed so far, which is the next nonce.
    [[nodiscard]] std::uint64_t sealed_count() const { return nonce_; }

  private:
    SecretKey key_;
    std::uint64_t nonce_;
    std::optional<EvpSealer> evp_;  ///< made when the first large record comes
};

class Opener {
  public:
    explicit Opener(const SecretKey& key, std::uint64_t nonce = 0)
        : key_(key),
          nonce_(nonce) {}

    /// Opens one record into `out`; false where it was not sealed as the next one by the other end.
    /// A failure changes nothing but `out`, and the session must end.
    /// @pre sealed.size() >= 16, out.size() == sealed.size() - 16; no overlap, or the same start
    [[nodiscard]] bool open(core::ByteView sealed, core::MutableByteView out);

    void rekey();

    [[nodiscard]] std::uint64_t opened_count() const { return nonce_; }

  private:
    SecretKey key_;
    std::uint64_t nonce_;
    std::optional<EvpOpener> evp_;
};

}  // namespace p2p::proto
