#pragma once

// Who we are: one Ed25519 key, its public half as the PeerId, and the X25519 pair of the handshake
// derived from it.
//
// One key to keep and to name, so an operator compares one string (design/WIRE, "Identity").
// Reading and writing the key file, and drawing its seed, is left to the daemon.

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/signature.hpp"
#include "core/base/types.hpp"
#include "proto/sodium.hpp"

namespace p2p::proto {

/// A node's key pair. Its secrets are wiped when it goes; it moves and is never copied.
class Identity {
  public:
    /// The same seed (what the key file holds) gives the same identity.
    [[nodiscard]] static Identity from_seed(const SecretKey& seed);

    Identity(Identity&&) = default;
    Identity& operator=(Identity&&) = default;
    Identity(const Identity&) = delete;
    Identity& operator=(const Identity&) = delete;

    [[nodiscard]] const core::PeerId& id() const { return id_; }

    /// The static pair of the Noise handshake.
    [[nodiscard]] const X25519Pair& x25519_pair() const { return x25519_pair_; }

    [[nodiscard]] core::Signature sign(core::ByteView bytes) const;

  private:
    Identity(Ed25519Pair pair, X25519Pair x25519_pair);

    core::PeerId id_;
    Ed25519Pair pair_;
    X25519Pair x25519_pair_;
};

/// Whether `signer` made `signature` over exactly these bytes.
[[nodiscard]] bool verify(
    const core::PeerId& signer, core::ByteView bytes, const core::Signature& signature);

/// The Noise static key that belongs to `id`; `forged` where the id is no sound public key.
[[nodiscard]] core::Result<Key> x25519_public(const core::PeerId& id);

}  // namespace p2p::proto
