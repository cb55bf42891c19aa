#include "core/codec/edge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/hash.hpp"

namespace p2p::core {

namespace {

// Slices of 32 KiB stay in the first two caches while the passes of an encoding go over them. The
// sums below depend on it, so it is the same for all.
constexpr std::size_t slice_floats = 8192;
static_assert(slice_floats % q8_block_floats == 0);

std::size_t slice_size(std::size_t floats, std::size_t first) {
    return std::min(slice_floats, floats - first);
}

void append(Bytes& bytes, Hash128 hash) {
    const std::size_t at = bytes.size();
    bytes.resize(at + 16);
    store_le(bytes.data() + at, hash.low);
    store_le(bytes.data() + at + 8, hash.high);
}

double kept_share(double error, double told) {
    return told > 0 ? std::clamp(1.0 - error / told, 0.0, 1.0) : 1.0;
}

}  // namespace

EdgeCodec::EdgeCodec(std::size_t floats, bool self_is_low, const Kernels& kernels)
    : floats_(floats),
      self_is_low_(self_is_low),
      kernels_(&kernels) {}

EncodeResult EdgeCodec::encode(
    FloatView snapshot, CodecId codec, bool keyframe, std::uint64_t seed) {
    const Coding coding = normalized({.codec = codec, .keyframe = keyframe});
    P2P_CHECK(snapshot.size() == floats_);
    P2P_CHECK(!own_.has_value());
    P2P_CHECK(!remote_ || remote_->coding == coding);
    P2P_CHECK(!needs_reference(coding) || references_.has_value());

    const FloatView reference = needs_reference(coding) ? FloatView(references_->own) : FloatView{};
    Side side{.coding = coding, .rebuilt = std::vector<float>(floats_), .hash = {}};
    Bytes bytes = start_encoding(coding, floats_, seed);
    std::vector<float> difference(reference.empty() ? 0 : std::min(slice_floats, floats_));
    double told = 0;
    double error = 0;
    for (std::size_t first = 0; first < floats_; first += slice_floats) {
        const std::size_t count = slice_size(floats_, first);
        FloatView telling = snapshot.subspan(first, count);
        if (!reference.empty()) {
            kernels_->scaled_difference(
                telling.data(), reference.data() + first, 1.0F, count, difference.data());
            telling = FloatView(difference).first(count);
        }
        told += kernels_->sum_of_squares(telling.data(), count);
        encode_slice(*kernels_, telling, first, bytes);
        const MutableFloatView rebuilt = MutableFloatView(side.rebuilt).subspan(first, count);
        rebuild_slice(bytes, reference, first, rebuilt);
        error +=
            kernels_->sum_of_squared_differences(snapshot.data() + first, rebuilt.data(), count);
    }
    // A NaN or an infinity on either side makes their difference one.
    if (!std::isfinite(error)) return {.bytes = nullptr, .finite = false, .kept_ratio = 0};

    side.hash = hash128({}, bytes);
    own_ = std::move(side);
    return {
        .bytes = std::make_shared<const Bytes>(std::move(bytes)),
        .finite = true,
        .kept_ratio = kept_share(error, told)};
}

Status EdgeCodec::decode(ByteView bytes, CodecId codec, bool keyframe) {
    const Coding coding = normalized({.codec = codec, .keyframe = keyframe});
    P2P_CHECK(!remote_.has_value());
    P2P_CHECK(!own_ || own_->coding == coding);
    if (needs_reference(coding) && !references_) {
        return Error{
            .code = ErrorCode::conflict,
            .what = "encoded shard refused",
            .why = "it is a difference, and no reference is held for this link",
            .next = "both ends begin again with a keyframe"};
    }
    if (Status status = check_encoding(coding, bytes, floats_); !status) return status;

    const FloatView reference =
        needs_reference(coding) ? FloatView(references_->remote) : FloatView{};
    Side side{.coding = coding, .rebuilt = std::vector<float>(floats_), .hash = hash128({}, bytes)};
    for (std::size_t first = 0; first < floats_; first += slice_floats) {
        const std::size_t count = slice_size(floats_, first);
        rebuild_slice(
            bytes, reference, first, MutableFloatView(side.rebuilt).subspan(first, count));
    }
    remote_ = std::move(side);
    return {};
}

bool EdgeCodec::is_complete() const {
    return own_.has_value() && remote_.has_value();
}

bool EdgeCodec::has_references() const {
    return references_.has_value();
}

SwapStats EdgeCodec::stats() const {
    P2P_CHECK(is_complete());
    const float* own = own_->rebuilt.data();
    const float* remote = remote_->rebuilt.data();
    SwapStats stats{
        .distance = std::sqrt(kernels_->sum_of_squared_differences(own, remote, floats_)),
        .own_norm = std::sqrt(kernels_->sum_of_squares(own, floats_)),
        .remote_norm = std::sqrt(kernels_->sum_of_squares(remote, floats_)),
        .finite = true};
    stats.finite = std::isfinite(stats.own_norm) && std::isfinite(stats.remote_norm);
    return stats;
}

Hash128 EdgeCodec::swap_hash() const {
    P2P_CHECK(is_complete());
    const bool goes_on = needs_reference(own_->coding);
    Bytes said;
    append(said, self_is_low_ ? own_->hash : remote_->hash);
    append(said, self_is_low_ ? remote_->hash : own_->hash);
    return hash128(goes_on ? references_->chain : Hash128{}, said);
}

void EdgeCodec::displacement(float weight, MutableFloatView out) const {
    P2P_CHECK(is_complete());
    P2P_CHECK(out.size() == floats_);
    // a - b and b - a differ in the sign alone, and so do their products with the weight: low gets
    // w * (high - low), high the exact negative.
    kernels_->scaled_difference(
        remote_->rebuilt.data(), own_->rebuilt.data(), weight, floats_, out.data());
}

void EdgeCodec::commit() {
    P2P_CHECK(is_complete());
    if (has_reference(own_->coding.codec)) {
        const Hash128 chain = swap_hash();
        references_ = References{
            .own = std::move(own_->rebuilt), .remote = std::move(remote_->rebuilt), .chain = chain};
    } else {
        references_.reset();
    }
    abandon();
}

void EdgeCodec::abandon() {
    own_.reset();
    remote_.reset();
}

void EdgeCodec::reset() {
    abandon();
    references_.reset();
}

bool EdgeCodec::needs_reference(Coding coding) const {
    return has_reference(coding.codec) && !coding.keyframe;
}

void EdgeCodec::rebuild_slice(
    ByteView encoding, FloatView reference, std::size_t first, MutableFloatView rebuilt) const {
    decode_slice(*kernels_, encoding, first, rebuilt);
    if (reference.empty()) return;
    kernels_->add(reference.data() + first, rebuilt.size(), rebuilt.data());
}

}  // namespace p2p::core
