#include "daemon/blob_store.hpp"

#include <algorithm>
#include <utility>

namespace p2p::daemon {

using core::BlobHash;
using core::Bytes;
using core::Error;
using core::ErrorCode;
using core::Status;

void BlobStore::put(BlobHash hash, std::shared_ptr<const Bytes> bytes) {
    Blob& blob = blobs_[hash];
    blob = Blob{};
    blob.bytes = std::move(bytes);
    blob.is_trusted = true;
}

Status BlobStore::store(BlobHash hash, const BlobPiece& piece, std::uint64_t bytes_max) {
    const auto fault = [](ErrorCode code, const char* why) {
        return Error{code, "a piece of a blob was not kept", why, ""};
    };
    if (piece.total > bytes_max)
        return fault(ErrorCode::too_large, "no blob of this job is so large");
    if (piece.offset > piece.total || piece.bytes->size() > piece.total - piece.offset) {
        return fault(ErrorCode::wrong_size, "it lies outside of its blob");
    }
    const auto found = blobs_.find(hash);
    if (found != blobs_.end()) {
        const Blob& there = found->second;
        if (there.bytes) return {};
        if (there.partial->size() != piece.total) {
            return fault(ErrorCode::wrong_size, "it belongs to a blob of another size");
        }
    }

    Blob& blob = blobs_[hash];
    if (!blob.partial) blob.partial = std::make_shared<Bytes>(piece.total);
    std::copy(
        piece.bytes->begin(),
        piece.bytes->end(),
        blob.partial->begin() + static_cast<std::ptrdiff_t>(piece.offset));
    add_range(blob, piece.offset, piece.offset + piece.bytes->size());
    const bool is_whole = piece.total == 0
                          || (blob.held.size() == 1 && blob.held.begin()->first == 0
                              && blob.held.begin()->second == piece.total);
    if (is_whole) blob.bytes = std::exchange(blob.partial, nullptr);
    return {};
}

std::shared_ptr<const Bytes> BlobStore::whole(BlobHash hash) const {
    const auto found = blobs_.find(hash);
    return found == blobs_.end() ? nullptr : found->second.bytes;
}

std::shared_ptr<const Bytes> BlobStore::trusted(BlobHash hash) const {
    const auto found = blobs_.find(hash);
    return found == blobs_.end() || !found->second.is_trusted ? nullptr : found->second.bytes;
}

void BlobStore::set_trusted(BlobHash hash) {
    const auto found = blobs_.find(hash);
    if (found != blobs_.end() && found->second.bytes) found->second.is_trusted = true;
}

/// Joins what touches, so that a whole blob is one range.
void BlobStore::add_range(Blob& blob, std::uint64_t begin, std::uint64_t end) {
    auto& held = blob.held;
    auto at = held.upper_bound(begin);
    if (at != held.begin() && std::prev(at)->second >= begin) --at;
    while (at != held.end() && at->first <= end) {
        begin = std::min(begin, at->first);
        end = std::max(end, at->second);
        at = held.erase(at);
    }
    if (begin < end) held.emplace(begin, end);
}

}  // namespace p2p::daemon
