#include "proto/cipher.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::ByteView;
using core::MutableByteView;

namespace {

std::size_t total_bytes(std::span<const ByteView> pieces) {
    std::size_t total = 0;
    for (const ByteView piece : pieces) {
        total += piece.size();
    }
    return total;
}

void gather(std::span<const ByteView> pieces, MutableByteView out) {
    for (const ByteView piece : pieces) {
        // memmove, since a piece may lie where its ciphertext goes.
        if (!piece.empty()) std::memmove(out.data(), piece.data(), piece.size());
        out = out.subspan(piece.size());
    }
}

/// Seals with OpenSSL, which is slow where a piece ends within a unit of its own: what goes before
/// the last piece is filled up from that to whole units, where the ciphertext goes.
void seal_in_units(
    EvpSealer& evp, std::uint64_t nonce, std::span<const ByteView> pieces, MutableByteView out) {
    const ByteView last = pieces.back();
    const auto before = pieces.first(pieces.size() - 1);
    const std::size_t before_bytes = total_bytes(before);
    const std::size_t missing = (evp_unit_bytes - before_bytes % evp_unit_bytes) % evp_unit_bytes;
    const std::size_t fill_bytes = std::min(missing, last.size());

    gather(before, out);
    const std::array<ByteView, 1> fill{last.first(fill_bytes)};
    gather(fill, out.subspan(before_bytes));
    const std::array<ByteView, 2> in_units{
        out.first(before_bytes + fill_bytes), last.subspan(fill_bytes)};
    evp.seal(nonce, in_units, out);
}

}  // namespace

SecretKey next_key(const SecretKey& key) {
    const std::array<std::uint8_t, 32> zeros{};
    SecretBytes<32 + aead_tag_bytes> sealed;
    sodium_seal(key, std::numeric_limits<std::uint64_t>::max(), {}, zeros, sealed.view());
    SecretKey next;
    std::copy_n(sealed.data(), next.view().size(), next.data());
    return next;
}

bool Sealer::seal(std::span<const ByteView> pieces, MutableByteView out) {
    const std::size_t plain_bytes = total_bytes(pieces);
    P2P_CHECK(out.size() == plain_bytes + aead_tag_bytes);
    if (nonce_ >= core::limits::messages_a_key_max) return false;
    if (plain_bytes < evp_bytes_min) {
        gather(pieces, out);
        sodium_seal(key_, nonce_, {}, out.first(plain_bytes), out);
    } else {
        if (!evp_) evp_.emplace(key_);
        seal_in_units(*evp_, nonce_, pieces, out);
    }
    ++nonce_;
    return true;
}

void Sealer::rekey() {
    key_ = next_key(key_);
    evp_.reset();
}

bool Opener::open(ByteView sealed, MutableByteView out) {
    P2P_CHECK(sealed.size() >= aead_tag_bytes && out.size() == sealed.size() - aead_tag_bytes);
    if (nonce_ >= core::limits::messages_a_key_max) return false;
    bool is_authentic = false;
    if (out.size() < evp_bytes_min) {
        is_authentic = sodium_open(key_, nonce_, {}, sealed, out);
    } else {
        if (!evp_) evp_.emplace(key_);
        is_authentic = evp_->open(nonce_, sealed, out);
    }
    if (is_authentic) ++nonce_;
    return is_authentic;
}

void Opener::rekey() {
    key_ = next_key(key_);
    evp_.reset();
}

}  // namespace p2p::proto
