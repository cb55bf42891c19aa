#include "proto/keys.hpp"

#include <utility>

namespace p2p::proto {

Identity Identity::from_seed(const SecretKey& seed) {
    Ed25519Pair pair = ed25519_from_seed(seed);
    X25519Pair x25519_pair = x25519_from_ed25519(pair);
    return Identity(std::move(pair), std::move(x25519_pair));
}

Identity::Identity(Ed25519Pair pair, X25519Pair x25519_pair)
    : id_{pair.public_key},
      pair_(std::move(pair)),
      x25519_pair_(std::move(x25519_pair)) {}

core::Signature Identity::sign(core::ByteView bytes) const {
    return ed25519_sign(pair_, bytes);
}

bool verify(const core::PeerId& signer, core::ByteView bytes, const core::Signature& signature) {
    return ed25519_verify(signer.bytes, bytes, signature);
}

core::Result<Key> x25519_public(const core::PeerId& id) {
    if (const auto converted = x25519_from_ed25519(id.bytes)) return *converted;
    return core::Error{
        core::ErrorCode::forged,
        "peer id " + id.text() + " is refused",
        "it is no sound Ed25519 public key",
        "copy the id again from `p2pctl id` on that node"};
}

}  // namespace p2p::proto
