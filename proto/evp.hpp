#pragma once

// The one door to OpenSSL: ChaCha20-Poly1305 for bulk, since its code is two to three times faster
// than libsodium's.
//
// The bytes are the same as `sodium_seal` gives with no associated data, which a test holds. A
// context is set up once a key and reused, so that a record costs no allocation.
// Which records go this way, and the count of nonces, is left to cipher.

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "proto/sodium.hpp"

struct evp_cipher_ctx_st;  // OpenSSL's EVP_CIPHER_CTX
struct evp_md_ctx_st;      // OpenSSL's EVP_MD_CTX

namespace p2p::proto {

/// Pieces that end on a multiple of this are sealed fastest.
inline constexpr std::size_t evp_unit_bytes = 128;

struct EvpContextDelete {
    void operator()(evp_cipher_ctx_st* context) const;
};

using EvpContext = std::unique_ptr<evp_cipher_ctx_st, EvpContextDelete>;

class EvpSealer {
  public:
    explicit EvpSealer(const SecretKey& key);

    /// Seals the pieces as if they stood one after the other, and appends the tag.
    /// @pre out.size() == sum of the pieces + 16; a piece may lie where its ciphertext goes
    void seal(
        std::uint64_t nonce, std::span<const core::ByteView> pieces, core::MutableByteView out);

  private:
    EvpContext context_;
};

class EvpOpener {
  public:
    explicit EvpOpener(const SecretKey& key);

    /// False where the tag does not fit; `out` is then zeros.
    /// @pre sealed.size() >= 16 and out.size() == sealed.size() - 16; no partial overlap
    [[nodiscard]] bool open(std::uint64_t nonce, core::ByteView sealed, core::MutableByteView out);

  private:
    EvpContext context_;
};

/// SHA-256 of what is fed, as `sha256sum` prints it: manifests of checkpoints are checked by hand.
class Sha256 {
  public:
    Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    ~Sha256();

    void feed(core::ByteView bytes);

    /// The digest of all that was fed; nothing may be fed after it.
    [[nodiscard]] Key finish();

  private:
    evp_md_ctx_st* context_;
};

}  // namespace p2p::proto
