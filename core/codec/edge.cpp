#include "core/codec/edge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/form_modulo.hpp"
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

/// What is told is a part, and the rest stands in what both ends hold.
bool builds_on_last(Coding coding) {
    return has_keyframe(coding.codec) && !coding.keyframe;
}

bool needs_reference(Coding coding) {
    return has_reference(coding.codec) && !coding.keyframe;
}

bool is_modulo(Coding coding) {
    return modulo_bits(coding.codec) > 0 && !coding.keyframe;
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
    FloatView snapshot, CodecId codec, bool keyframe, std::uint64_t seed, float theta_factor) {
    const Coding coding = normalized({.codec = codec, .keyframe = keyframe});
    P2P_CHECK(snapshot.size() == floats_);
    P2P_CHECK(!own_.has_value());
    P2P_CHECK(!remote_ || remote_->coding == coding);
    P2P_CHECK(!builds_on_last(coding) || can_continue(codec));

    Side side{.coding = coding, .rebuilt = std::vector<float>(floats_)};
    double told = 0;
    double error = 0;
    Bytes bytes;
    if (is_modulo(coding)) {
        told = kernels_->sum_of_squares(snapshot.data(), floats_);
        if (!std::isfinite(told)) return {.bytes = nullptr, .finite = false, .kept_ratio = 0};
        side.theta_factor = theta_factor;
        side.snapshot.assign(snapshot.begin(), snapshot.end());
        bytes = start_encoding(coding, floats_, modulo_seed(theta_factor));
        encode_modulo(*kernels_, snapshot, modulo_base(), bytes, side.rebuilt);
        error = kernels_->sum_of_squared_differences(snapshot.data(), side.rebuilt.data(), floats_);
    } else {
        bytes = start_encoding(coding, floats_, seed);
        error = encode_slices(snapshot, bytes, side, told);
    }
    // Of what there was to tell, or of what was rebuilt.
    if (!std::isfinite(error)) return {.bytes = nullptr, .finite = false, .kept_ratio = 0};

    side.hash = hash128({}, bytes);
    own_ = std::move(side);
    measure_spreads();
    return {
        .bytes = std::make_shared<const Bytes>(std::move(bytes)),
        .finite = true,
        .kept_ratio = kept_share(error, told)};
}

/// The squared error of what is rebuilt; `told` gets the squares of what there was to tell. Not
/// finite where that was not: what some forms make of a NaN is no encoding, so it stops there.
double EdgeCodec::encode_slices(FloatView snapshot, Bytes& bytes, Side& side, double& told) {
    const FloatView reference =
        needs_reference(side.coding) ? FloatView(history_->own) : FloatView{};
    std::vector<float> difference(reference.empty() ? 0 : std::min(slice_floats, floats_));
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
        if (!std::isfinite(told)) return told;
        encode_slice(*kernels_, telling, first, bytes);
        const MutableFloatView rebuilt = MutableFloatView(side.rebuilt).subspan(first, count);
        rebuild_slice(bytes, reference, first, rebuilt);
        error +=
            kernels_->sum_of_squared_differences(snapshot.data() + first, rebuilt.data(), count);
    }
    return error;
}

Status EdgeCodec::decode(ByteView bytes, CodecId codec, bool keyframe) {
    const Coding coding = normalized({.codec = codec, .keyframe = keyframe});
    P2P_CHECK(!remote_.has_value());
    P2P_CHECK(!own_ || own_->coding == coding);
    const bool has_base = !builds_on_last(coding) || can_continue(codec);
    if (!has_base || (is_modulo(coding) && !own_)) {
        return Error{
            .code = ErrorCode::conflict,
            .what = "encoded shard refused",
            .why = has_base ? "it is near to the own value, and that is not there yet"
                            : "it builds on the swap before, and nothing is held of that",
            .next = "both ends begin again with a keyframe"};
    }
    if (Status status = check_encoding(coding, bytes, floats_); !status) return status;

    Side side{.coding = coding, .rebuilt = std::vector<float>(floats_), .hash = hash128({}, bytes)};
    if (Status status = rebuild(bytes, side); !status) return status;
    remote_ = std::move(side);
    measure_spreads();
    return {};
}

/// The other end's value, from bytes that were checked.
Status EdgeCodec::rebuild(ByteView bytes, Side& side) const {
    if (!is_modulo(side.coding)) {
        const FloatView reference =
            needs_reference(side.coding) ? FloatView(history_->remote) : FloatView{};
        for (std::size_t first = 0; first < floats_; first += slice_floats) {
            const std::size_t count = slice_size(floats_, first);
            rebuild_slice(
                bytes, reference, first, MutableFloatView(side.rebuilt).subspan(first, count));
        }
        return {};
    }
    side.theta_factor = modulo_terms(bytes).factor;
    if (decode_modulo(*kernels_, bytes, own_->snapshot, modulo_base(), side.rebuilt)) return {};
    return Error{
        .code = ErrorCode::forged,
        .what = "encoded shard refused",
        .why = "the two ends are further apart than theta: a digest does not fit",
        .next = "both ends begin again with a keyframe and a larger theta"};
}

ModuloBase EdgeCodec::modulo_base() const {
    return {.spreads = history_->spreads, .phase = static_cast<std::uint32_t>(history_->chain.low)};
}

/// Before the swap is applied, since this takes a pass over both values and commit() must not.
void EdgeCodec::measure_spreads() {
    if (!is_complete() || modulo_bits(own_->coding.codec) == 0) return;
    const ThetaTerms terms{.bits = modulo_bits(own_->coding.codec), .factor = own_->theta_factor};
    const FloatView own = own_->rebuilt;
    const FloatView remote = remote_->rebuilt;
    next_spreads_ =
        own_->coding.keyframe
            ? spreads_of_keyframe(*kernels_, terms.bits, own, remote)
            : spreads_after(
                *kernels_, terms, remote_->theta_factor, history_->spreads, own, remote);
}

bool is_theta_exceeded(const Status& status) {
    return !status && status.error().code == ErrorCode::forged;
}

void EdgeCodec::start_from(FloatView initial) {
    P2P_CHECK(initial.size() == floats_ && !own_ && !remote_);
    const std::vector<float> values(initial.begin(), initial.end());
    const ByteView bytes(
        reinterpret_cast<const std::uint8_t*>(values.data()), floats_ * sizeof(float));
    history_ = History{.own = values, .remote = values, .spreads = {}, .chain = hash128({}, bytes)};
}

bool EdgeCodec::is_complete() const {
    return own_.has_value() && remote_.has_value();
}

bool EdgeCodec::has_references() const {
    return history_ && history_->spreads.empty();
}

bool EdgeCodec::can_continue(CodecId codec) const {
    if (!history_) return false;
    if (has_reference(codec)) return history_->own.size() == floats_;
    return modulo_bits(codec) > 0 && history_->spreads.size() == modulo_block_count(floats_);
}

SwapStats EdgeCodec::stats() const {
    P2P_CHECK(is_complete());
    const float* own = own_->rebuilt.data();
    const float* remote = remote_->rebuilt.data();
    SwapStats stats{
        .distance = std::sqrt(kernels_->sum_of_squared_differences(own, remote, floats_)),
        .own_norm = std::sqrt(kernels_->sum_of_squares(own, floats_)),
        .remote_norm = std::sqrt(kernels_->sum_of_squares(remote, floats_)),
        .finite = true,
        .remote_theta_factor = remote_->theta_factor};
    stats.finite = std::isfinite(stats.own_norm) && std::isfinite(stats.remote_norm);
    return stats;
}

Hash128 EdgeCodec::swap_hash() const {
    P2P_CHECK(is_complete());
    const bool goes_on = builds_on_last(own_->coding);
    Bytes said;
    append(said, self_is_low_ ? own_->hash : remote_->hash);
    append(said, self_is_low_ ? remote_->hash : own_->hash);
    return hash128(goes_on ? history_->chain : Hash128{}, said);
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
    const Hash128 chain = swap_hash();
    if (has_reference(own_->coding.codec)) {
        history_ = History{
            .own = std::move(own_->rebuilt),
            .remote = std::move(remote_->rebuilt),
            .spreads = {},
            .chain = chain};
    } else if (has_keyframe(own_->coding.codec)) {
        history_ =
            History{.own = {}, .remote = {}, .spreads = std::move(next_spreads_), .chain = chain};
    } else {
        history_.reset();
    }
    abandon();
}

void EdgeCodec::abandon() {
    own_.reset();
    remote_.reset();
    next_spreads_.clear();
}

void EdgeCodec::reset() {
    abandon();
    history_.reset();
}

void EdgeCodec::rebuild_slice(
    ByteView encoding, FloatView reference, std::size_t first, MutableFloatView rebuilt) const {
    decode_slice(*kernels_, encoding, first, rebuilt);
    if (reference.empty()) return;
    kernels_->add(reference.data() + first, rebuilt.size(), rebuilt.data());
}

}  // namespace p2p::core
