#include "tools/sim/workbench.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/overload.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/hash.hpp"
#include "core/codec/kernels.hpp"
#include "core/job/sketch.hpp"
#include "core/node/swap_measure.hpp"

namespace p2p::sim {

using core::Bytes;
using core::EdgeKey;
using core::Error;
using core::ErrorCode;
using core::WorkResult;

namespace {

template <typename One, typename... Others>
constexpr bool is_any_of = (std::is_same_v<std::decay_t<One>, Others> || ...);

void append(Bytes& bytes, core::FloatView values) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
    bytes.insert(bytes.end(), begin, begin + values.size_bytes());
}

double norm_of(core::FloatView values) {
    double squares = 0;
    for (const float value : values)
        squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

Error voided() {
    return {ErrorCode::not_found, "what this order is about is gone", "", ""};
}

}  // namespace

core::BlobHash hash_of(const Bytes& bytes) {
    const core::Hash128 hash = core::hash128({}, bytes);
    core::BlobHash id;
    core::store_le(id.bytes.data(), hash.low);
    core::store_le(id.bytes.data() + 8, hash.high);
    return id;
}

WorkDone Workbench::work(const core::WorkOrder& order, Trainer* trainer, const Lives& lives) {
    P2P_CHECK(trainer != nullptr || !touches_parameters(order));
    const Costs& costs = setup_.costs;
    const auto done = [&](WorkResult result, double seconds) {
        return WorkDone{std::move(result), costs.order_seconds + seconds};
    };
    const auto of_floats = [](std::uint64_t floats, double seconds) {
        return static_cast<double>(floats) * seconds;
    };
    return std::visit(
        core::Overload{
            [&](const core::ReadSpec& read) { return done(read_spec(read), 0); },
            [&](const core::Encode& one) {
                return done(
                    encode(one, *trainer),
                    of_floats(one.range.floats, costs.encode_seconds_a_float));
            },
            [&](const core::Decode& one) {
                return done(decode(one), of_floats(one.range.floats, costs.decode_seconds_a_float));
            },
            [&](const core::Apply& one) {
                return done(
                    apply(one, *trainer, lives),
                    of_floats(one.range.floats, costs.apply_seconds_a_float));
            },
            [&](const core::EncodePush& one) {
                return done(
                    encode_push(one, *trainer),
                    of_floats(one.range.floats, costs.encode_seconds_a_float));
            },
            [&](const core::AbsorbPush& one) {
                const double each = costs.decode_seconds_a_float + costs.apply_seconds_a_float;
                return done(absorb_push(one, *trainer), of_floats(one.range.floats, each));
            },
            [&](const core::Evaluate&) {
                return done(trainer->evaluate(2000), costs.evaluate_seconds);
            },
            [&](const core::TakeSketch&) {
                return done(core::Sketched{core::sketch_of(trainer->parameters())}, 0);
            },
            [&](const core::Freeze& one) { return done(freeze(one, *trainer), 0); },
            [&](const core::RecallFinal&) { return done(recall(), 0); },
            [&](const core::CheckBlob& one) { return done(check(one, *trainer), 0); },
            [&](const core::Adopt& one) { return done(adopt(one, *trainer), 0); },
            [&](const auto& one) {
                do_at_once(one);
                return WorkDone{};
            },
            [&](const core::OuterStep& one) {
                return WorkDone{
                    step_outer(one, *trainer),
                    of_floats(trainer->parameters().size(), costs.apply_seconds_a_float)};
            },
            [&](const core::TakeRoundSnapshot& one) {
                take_round_snapshot(one, *trainer);
                return WorkDone{};
            }},
        order);
}

void Workbench::do_at_once(const core::StoreBlob& order) {
    auto& bytes = blobs_[order.hash];
    if (!bytes) bytes = std::make_shared<Bytes>();
    bytes->resize(order.total);
    std::memcpy(bytes->data() + order.offset, order.bytes->data(), order.bytes->size());
}

void Workbench::do_at_once(const core::StoreChunk& order) {
    Bytes& bytes = arriving_[order.edge];
    bytes.resize(order.total);
    std::memcpy(bytes.data() + order.offset, order.bytes->data(), order.bytes->size());
}

void Workbench::do_at_once(const core::DropSwap& order) {
    const auto found = codecs_.find(order.edge);
    if (found != codecs_.end()) found->second->reset();
}

void Workbench::do_at_once(const core::DropEdge& order) {
    codecs_.erase(order.edge);
}

void Workbench::do_at_once(const core::DropBlob& order) {
    blobs_.erase(order.hash);
}

bool Workbench::touches_parameters(const core::WorkOrder& order) {
    return std::visit(
        [](const auto& one) {
            return is_any_of<
                decltype(one),
                core::Encode,
                core::Apply,
                core::EncodePush,
                core::AbsorbPush,
                core::Evaluate,
                core::TakeSketch,
                core::Freeze,
                core::CheckBlob,
                core::Adopt,
                core::OuterStep,
                core::TakeRoundSnapshot>;
        },
        order);
}

// --- swaps ---------------------------------------------------------------------------------------

core::EdgeCodec& Workbench::codec(const EdgeKey& edge, std::uint64_t floats) {
    auto& slot = codecs_[edge];
    if (!slot) {
        slot = std::make_unique<core::EdgeCodec>(
            floats, setup_.self < edge.peer, core::kernels(core::best_kernel_level()));
    }
    return *slot;
}

WorkResult Workbench::encode(const core::Encode& order, Trainer& trainer) {
    const core::FloatView all =
        order.of_round ? core::FloatView(round_[order.edge.job].snapshot) : trainer.parameters();
    const auto view = all.subspan(order.range.offset, order.range.floats);
    core::EdgeCodec& edge = codec(order.edge, order.range.floats);
    if (order.from_initial) edge.start_from(trainer.initial(order.range));
    const auto made =
        edge.encode(view, order.codec, order.keyframe, order.seed, order.theta_factor);
    encoded_[order.edge] = made.bytes;
    return core::Encoded{
        .bytes_total = made.bytes ? made.bytes->size() : 0,
        .finite = made.finite,
        .kept_ratio = made.kept_ratio};
}

WorkResult Workbench::decode(const core::Decode& order) {
    core::EdgeCodec& edge = codec(order.edge, order.range.floats);
    const auto measured = core::decode_and_measure(edge, order, arriving_[order.edge]);
    return measured ? WorkResult(*measured) : WorkResult(measured.error());
}

WorkResult Workbench::apply(const core::Apply& order, Trainer& trainer, const Lives& lives) {
    const auto found = codecs_.find(order.edge);
    if (found == codecs_.end()) return voided();
    std::vector<float> displacement(order.range.floats);
    found->second->displacement(order.weight, displacement);
    trainer.displace(order.range.offset, displacement);
    found->second->commit();
    if (order.of_round) {
        const auto moved =
            core::MutableFloatView(round_[order.edge.job].moved).subspan(order.range.offset);
        std::transform(
            displacement.begin(), displacement.end(), moved.begin(), moved.begin(), std::plus<>());
    }
    if (setup_.audit != nullptr) {
        setup_.audit->on_applied(
            setup_.node, setup_.index->at(order.edge.peer), lives, order, displacement);
    }
    return core::Applied{.displacement_norm = norm_of(displacement)};
}

std::shared_ptr<const Bytes> Workbench::encoded(const EdgeKey& edge) const {
    const auto found = encoded_.find(edge);
    return found == encoded_.end() ? nullptr : found->second;
}

void Workbench::take_round_snapshot(const core::TakeRoundSnapshot& order, Trainer& trainer) {
    Round& round = round_[order.job];
    if (order.goes_on) {
        std::transform(
            round.snapshot.begin(),
            round.snapshot.end(),
            round.moved.begin(),
            round.snapshot.begin(),
            std::plus<>());
    } else {
        const auto values = trainer.parameters();
        round.snapshot.assign(values.begin(), values.end());
    }
    round.moved.assign(round.snapshot.size(), 0.0F);
}

std::optional<WorkResult> Workbench::step_outer(const core::OuterStep& order, Trainer& trainer) {
    const auto live = trainer.parameters();
    auto outer = outer_.find(order.job);
    if (order.restarts || outer == outer_.end()) {
        outer_.insert_or_assign(order.job, core::OuterMomentum(live));
        trainer.mark_outer_step();
        if (order.restarts) return std::nullopt;
        return core::OuterStepped{};
    }
    const auto moved = outer->second.step(live, order.settings);
    trainer.displace(0, moved);
    trainer.mark_outer_step();
    return core::OuterStepped{};
}

// --- blobs ---------------------------------------------------------------------------------------

std::shared_ptr<const Bytes> Workbench::blob(const core::BlobHash& hash) const {
    const auto found = blobs_.find(hash);
    return found == blobs_.end() ? nullptr : found->second;
}

void Workbench::serve(const core::BlobHash& hash, Bytes bytes) {
    blobs_[hash] = std::make_shared<Bytes>(std::move(bytes));
}

/// Parameters, then the optimizer's vectors.
WorkResult Workbench::freeze(const core::Freeze& order, Trainer& trainer) {
    const TrainerState state = trainer.save();
    Bytes bytes;
    append(bytes, state.parameters);
    if (order.with_optimizer) {
        for (const auto& part : state.optimizer)
            append(bytes, part);
    }
    if (lies_ && order.with_optimizer) std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
    const core::Frozen frozen{.hash = hash_of(bytes), .bytes = bytes.size()};
    serve(frozen.hash, std::move(bytes));
    return frozen;
}

WorkResult Workbench::recall() {
    Bytes bytes;
    append(bytes, kept_);
    const core::Frozen frozen{.hash = hash_of(bytes), .bytes = bytes.size()};
    serve(frozen.hash, std::move(bytes));
    return frozen;
}

WorkResult Workbench::check(const core::CheckBlob& order, Trainer& trainer) {
    const auto bytes = blob(order.hash);
    const auto own = trainer.parameters();
    if (!bytes || bytes->size() < own.size_bytes() || hash_of(*bytes) != order.hash) {
        return core::BlobChecked{Error{ErrorCode::forged, "another hash or size", "", ""}};
    }
    std::vector<float> theirs(own.size());
    std::memcpy(theirs.data(), bytes->data(), own.size_bytes());
    std::vector<float> difference(own.size());
    std::transform(theirs.begin(), theirs.end(), own.begin(), difference.begin(), std::minus<>());
    return core::BlobChecked{
        norm_of(difference) / std::max(norm_of(own), 1e-30), core::sketch_of(theirs)};
}

WorkResult Workbench::adopt(const core::Adopt& order, Trainer& trainer) {
    const auto bytes = blob(order.hash);
    if (!bytes) return voided();
    TrainerState state = trainer.save();
    const std::vector<float> old = state.parameters;
    const std::size_t size = state.parameters.size() * sizeof(float);
    std::memcpy(state.parameters.data(), bytes->data(), size);
    std::size_t at = size;
    for (auto& part : state.optimizer) {
        if (at + size > bytes->size()) break;
        std::memcpy(part.data(), bytes->data() + at, size);
        at += size;
    }
    if (at == size) state.optimizer.clear();
    trainer.restore(state, /*with_counts=*/false);
    std::vector<float> moved(old.size());
    std::transform(
        state.parameters.begin(),
        state.parameters.end(),
        old.begin(),
        moved.begin(),
        std::minus<>());
    return core::Adopted{.displacement_norm = norm_of(moved)};
}

WorkResult Workbench::read_spec(const core::ReadSpec& order) {
    const Bytes id(order.job.bytes.begin(), order.job.bytes.end());
    const auto known = setup_.specs->find(order.job);
    if (*order.bytes != id || known == setup_.specs->end()) {
        return core::SpecRead{Error{ErrorCode::forged, "another spec", "", ""}};
    }
    serve(core::BlobHash{order.job.bytes}, lies_ ? Bytes(id.size()) : id);
    return core::SpecRead{known->second};
}

// --- forgetting ----------------------------------------------------------------------------------

void Workbench::drop_job(core::JobId job) {
    const auto is_of_it = [job](const auto& entry) {
        return entry.first.job == job;
    };
    std::erase_if(codecs_, is_of_it);
    std::erase_if(encoded_, is_of_it);
    std::erase_if(arriving_, is_of_it);
    round_.erase(job);
    std::erase_if(pushes_, [job](const auto& each) { return each.first.first == job; });
    outer_.erase(job);
}

void Workbench::drop_all() {
    codecs_.clear();
    encoded_.clear();
    arriving_.clear();
    round_.clear();
    pushes_.clear();
    outer_.clear();
    blobs_.clear();
}

}  // namespace p2p::sim
