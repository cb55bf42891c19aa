#include "proto/sodium.hpp"

#include <algorithm>

#include <sodium.h>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::ByteView;
using core::MutableByteView;

namespace {

/// libsodium picks the fastest code for this processor once; before that it is right but slow.
void ensure_ready() {
    static const bool is_ready = sodium_init() >= 0;
    P2P_CHECK(is_ready);
}

struct HashState {
    crypto_generichash_blake2b_state state;

    explicit HashState(std::size_t size) {
        ensure_ready();
        crypto_generichash_blake2b_init(&state, nullptr, 0, size);
    }

    ~HashState() { sodium_memzero(&state, sizeof state); }

    HashState(const HashState&) = delete;
    HashState& operator=(const HashState&) = delete;

    void update(ByteView bytes) {
        crypto_generichash_blake2b_update(&state, bytes.data(), bytes.size());
    }

    void finish(MutableByteView out) {
        crypto_generichash_blake2b_final(&state, out.data(), out.size());
    }
};

}  // namespace

void wipe(MutableByteView bytes) {
    sodium_memzero(bytes.data(), bytes.size());
}

Ed25519Pair ed25519_from_seed(const SecretKey& seed) {
    ensure_ready();
    Ed25519Pair pair;
    crypto_sign_ed25519_seed_keypair(pair.public_key.data(), pair.secret.data(), seed.data());
    return pair;
}

core::Signature ed25519_sign(const Ed25519Pair& pair, ByteView bytes) {
    core::Signature signature;
    crypto_sign_ed25519_detached(
        signature.data(), nullptr, bytes.data(), bytes.size(), pair.secret.data());
    return signature;
}

bool ed25519_verify(const Key& public_key, ByteView bytes, const core::Signature& signature) {
    ensure_ready();
    return crypto_sign_ed25519_verify_detached(
               signature.data(), bytes.data(), bytes.size(), public_key.data())
           == 0;
}

std::optional<Key> x25519_from_ed25519(const Key& public_key) {
    ensure_ready();
    // The conversion alone lets a y above the prime pass, so one key would have two names.
    if (crypto_core_ed25519_is_valid_point(public_key.data()) != 1) return std::nullopt;
    Key converted;
    if (crypto_sign_ed25519_pk_to_curve25519(converted.data(), public_key.data()) != 0) {
        return std::nullopt;
    }
    return converted;
}

X25519Pair x25519_from_ed25519(const Ed25519Pair& pair) {
    SecretKey secret;
    crypto_sign_ed25519_sk_to_curve25519(secret.data(), pair.secret.data());
    return x25519_from_secret(secret);
}

X25519Pair x25519_from_secret(const SecretKey& secret) {
    ensure_ready();
    X25519Pair pair{.public_key = {}, .secret = secret};
    P2P_CHECK(crypto_scalarmult_curve25519_base(pair.public_key.data(), secret.data()) == 0);
    return pair;
}

std::optional<SecretKey> x25519(const SecretKey& secret, const Key& public_key) {
    ensure_ready();
    SecretKey shared;
    if (crypto_scalarmult_curve25519(shared.data(), secret.data(), public_key.data()) != 0) {
        return std::nullopt;
    }
    return shared;
}

void sodium_seal(
    const SecretKey& key,
    std::uint64_t nonce,
    ByteView associated,
    ByteView plain,
    MutableByteView out) {
    ensure_ready();
    P2P_CHECK(out.size() == plain.size() + aead_tag_bytes);
    const auto full_nonce = aead_nonce(nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(
        out.data(),
        nullptr,
        plain.data(),
        plain.size(),
        associated.data(),
        associated.size(),
        nullptr,
        full_nonce.data(),
        key.data());
}

bool sodium_open(
    const SecretKey& key,
    std::uint64_t nonce,
    ByteView associated,
    ByteView sealed,
    MutableByteView out) {
    ensure_ready();
    P2P_CHECK(sealed.size() >= aead_tag_bytes && out.size() == sealed.size() - aead_tag_bytes);
    const auto full_nonce = aead_nonce(nonce);
    return crypto_aead_chacha20poly1305_ietf_decrypt(
               out.data(),
               nullptr,
               nullptr,
               sealed.data(),
               sealed.size(),
               associated.data(),
               associated.size(),
               full_nonce.data(),
               key.data())
           == 0;
}

std::array<std::uint8_t, 12> aead_nonce(std::uint64_t counter) {
    std::array<std::uint8_t, 12> nonce{};
    core::store_le(nonce.data() + 4, counter);
    return nonce;
}

Hash blake2b_512(std::initializer_list<ByteView> parts) {
    Hash hash;
    HashState state(hash.size());
    for (const ByteView part : parts) {
        state.update(part);
    }
    state.finish(hash);
    return hash;
}

Key blake2b_256(ByteView bytes) {
    Key digest;
    HashState state(digest.size());
    state.update(bytes);
    state.finish(digest);
    return digest;
}

SecretHash hmac_blake2b(ByteView key, std::initializer_list<ByteView> parts) {
    constexpr std::size_t block_bytes = 128;
    P2P_CHECK(key.size() <= block_bytes);
    SecretBytes<block_bytes> pad;
    std::copy(key.begin(), key.end(), pad.data());
    for (std::uint8_t& byte : pad.view()) {
        byte ^= 0x36U;
    }
    SecretHash hash;
    HashState inner(hash.view().size());
    inner.update(pad.view());
    for (const ByteView part : parts) {
        inner.update(part);
    }
    inner.finish(hash.view());

    for (std::uint8_t& byte : pad.view()) {
        byte ^= 0x36U ^ 0x5cU;
    }
    HashState outer(hash.view().size());
    outer.update(pad.view());
    outer.update(hash.view());
    outer.finish(hash.view());
    return hash;
}

std::array<SecretHash, 2> hkdf_blake2b(ByteView chaining_key, ByteView input_key_material) {
    constexpr std::array<std::uint8_t, 1> one{1};
    constexpr std::array<std::uint8_t, 1> two{2};
    const SecretHash temp = hmac_blake2b(chaining_key, {input_key_material});
    const SecretHash first = hmac_blake2b(temp.view(), {one});
    const SecretHash second = hmac_blake2b(temp.view(), {first.view(), two});
    return {first, second};
}

bool equal_in_constant_time(ByteView a, ByteView b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(MutableByteView out) {
    ensure_ready();
    randombytes_buf(out.data(), out.size());
}

}  // namespace p2p::proto
