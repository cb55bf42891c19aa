#pragma once

// The one door to libsodium: primitives under the names that Noise and our keys use.
//
// Functions of bytes and nothing else: no state, no policy, and no randomness but in `fill_random`,
// which only the daemon and tools call (proto takes its seeds as arguments, so tests replay).
// What is done with the primitives is left to keys, handshake and cipher.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/signature.hpp"

namespace p2p::proto {

using Key = std::array<std::uint8_t, 32>;   ///< a public key, or a digest of that size
using Hash = std::array<std::uint8_t, 64>;  ///< BLAKE2b-512; HASHLEN of Noise

inline constexpr std::size_t aead_tag_bytes = 16;

/// Overwrites in a way that the compiler may not drop.
void wipe(core::MutableByteView bytes);

/// Bytes that are wiped when they go. Copies are allowed (a handshake works on one) and wiped too.
template <std::size_t Size>
class SecretBytes {
  public:
    SecretBytes() = default;

    explicit SecretBytes(const std::array<std::uint8_t, Size>& bytes)
        : bytes_(bytes) {}

    SecretBytes(const SecretBytes&) = default;
    SecretBytes& operator=(const SecretBytes&) = default;

    ~SecretBytes() { wipe(bytes_); }

    [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }

    [[nodiscard]] std::uint8_t* data() { return bytes_.data(); }

    [[nodiscard]] core::ByteView view() const { return bytes_; }

    [[nodiscard]] core::MutableByteView view() { return bytes_; }

  private:
    std::array<std::uint8_t, Size> bytes_{};
};

using SecretKey = SecretBytes<32>;
using SecretHash = SecretBytes<64>;

struct Ed25519Pair {
    Key public_key{};
    SecretBytes<64> secret;  ///< seed and public key, as libsodium keeps it
};

struct X25519Pair {
    Key public_key{};
    SecretKey secret;
};

[[nodiscard]] Ed25519Pair ed25519_from_seed(const SecretKey& seed);
[[nodiscard]] core::Signature ed25519_sign(const Ed25519Pair& pair, core::ByteView bytes);
[[nodiscard]] bool ed25519_verify(
    const Key& public_key, core::ByteView bytes, const core::Signature& signature);

/// The X25519 form of an Ed25519 public key; nothing where it is no canonical point of the main
/// subgroup (a weak key makes shared secrets that everybody knows).
[[nodiscard]] std::optional<Key> x25519_from_ed25519(const Key& public_key);
[[nodiscard]] X25519Pair x25519_from_ed25519(const Ed25519Pair& pair);
[[nodiscard]] X25519Pair x25519_from_secret(const SecretKey& secret);

/// DH of Noise; nothing where the shared secret would be zero (a point of small order).
[[nodiscard]] std::optional<SecretKey> x25519(const SecretKey& secret, const Key& public_key);

/// ChaCha20-Poly1305 with Noise's nonce (four zero bytes, then the counter in little-endian).
/// @pre out.size() == plain.size() + 16; `out` may start where `plain` does
void sodium_seal(
    const SecretKey& key,
    std::uint64_t nonce,
    core::ByteView associated,
    core::ByteView plain,
    core::MutableByteView out);

/// False where the tag does not fit; `out` is then zeros.
/// @pre sealed.size() >= 16 and out.size() == sealed.size() - 16; `out` may start where `sealed`
/// does
[[nodiscard]] bool sodium_open(
    const SecretKey& key,
    std::uint64_t nonce,
    core::ByteView associated,
    core::ByteView sealed,
    core::MutableByteView out);

/// The 12 bytes of Noise's nonce.
[[nodiscard]] std::array<std::uint8_t, 12> aead_nonce(std::uint64_t counter);

/// BLAKE2b-512 over the parts one after the other.
[[nodiscard]] Hash blake2b_512(std::initializer_list<core::ByteView> parts);

/// BLAKE2b-256 without a key: job ids, blob hashes, network ids.
[[nodiscard]] Key blake2b_256(core::ByteView bytes);

/// HMAC-BLAKE2b (RFC 2104 with a block of 128 bytes), as Noise section 4.3 defines it.
[[nodiscard]] SecretHash hmac_blake2b(
    core::ByteView key, std::initializer_list<core::ByteView> parts);

/// Noise section 4.3: two outputs of 64 bytes.
[[nodiscard]] std::array<SecretHash, 2> hkdf_blake2b(
    core::ByteView chaining_key, core::ByteView input_key_material);

/// Whether they are equal, in a time that tells nothing about where they differ.
[[nodiscard]] bool equal_in_constant_time(core::ByteView a, core::ByteView b);

/// Entropy of the system. For the daemon and tools; nothing in proto draws it.
void fill_random(core::MutableByteView out);

}  // namespace p2p::proto
