// The arithmetic that Mixers ask for in a MixWorld (mix_world.hpp), on real codecs and vectors.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/node/swap_measure.hpp"
#include "tests/support/mix_world.hpp"

namespace p2p::test {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

void MixWorld::order(std::size_t node, SwapOrder& order) {
    Member& member = members_[node];
    if (const auto* taken = std::get_if<TakeRoundSnapshot>(&order)) {
        take_round_snapshot(node, taken->goes_on);
    } else if (const auto* outer = std::get_if<OuterStep>(&order)) {
        step_outer(node, *outer);
    } else if (auto* encode = std::get_if<Encode>(&order)) {
        const auto& source = encode->of_round && !member.round_snapshot.empty()
                                 ? member.round_snapshot
                                 : member.replica;
        const FloatView view(source.data() + encode->range.offset, encode->range.floats);
        EdgeCodec& edge = codec(node, encode->edge, encode->range.floats);
        if (encode->from_initial) {
            edge.start_from(std::vector<float>(encode->range.floats, options_.initial(node)));
        }
        const auto made =
            edge.encode(view, encode->codec, encode->keyframe, encode->seed, encode->theta_factor);
        member.encoded[encode->edge] = made.bytes;
        answer(
            node,
            encode->edge,
            Encoded{
                .bytes_total = made.bytes ? made.bytes->size() : 0,
                .finite = made.finite,
                .kept_ratio = made.kept_ratio});
    } else if (auto* chunk = std::get_if<StoreChunk>(&order)) {
        Bytes& bytes = member.arriving[chunk->edge];
        bytes.resize(chunk->total);
        std::copy(
            chunk->bytes->begin(),
            chunk->bytes->end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(chunk->offset));
    } else if (auto* decode = std::get_if<Decode>(&order)) {
        EdgeCodec& edge = codec(node, decode->edge, decode->range.floats);
        const auto measured = decode_and_measure(edge, *decode, member.arriving[decode->edge]);
        if (measured) answer(node, decode->edge, *measured);
        if (!measured) answer(node, decode->edge, measured.error());
    } else if (auto* wanted = std::get_if<Apply>(&order)) {
        member.trainer_box.emplace_back([this, node, wanted = *wanted] { apply(node, wanted); });
    } else if (auto* drop = std::get_if<DropSwap>(&order)) {
        if (auto found = member.codecs.find(drop->edge); found != member.codecs.end()) {
            found->second->reset();
        }
    } else if (auto* gone = std::get_if<DropEdge>(&order)) {
        member.codecs.erase(gone->edge);
    }
}

/// Counts as a step of the node: the mean moves by it.
void MixWorld::step_outer(std::size_t node, const OuterStep& order) {
    Member& member = members_[node];
    if (order.restarts) {
        member.outer.emplace(member.replica);
        return;
    }
    const auto moved = member.outer->step(member.replica, order.settings);
    for (std::size_t k = 0; k < moved.size(); ++k) {
        const float before = member.replica[k];
        member.replica[k] += moved[k];
        steps_sum_[k] += static_cast<double>(member.replica[k]) - static_cast<double>(before);
    }
    later(draw({}, options_.work_max), [this, node, life = member.life] {
        if (members_[node].life != life) return;
        MixingOutputs outputs;
        members_[node].mixer->on_outer_stepped(now, outputs);
        carry_out(node, outputs);
    });
}

void MixWorld::take_round_snapshot(std::size_t node, bool goes_on) {
    Member& member = members_[node];
    if (!goes_on) {
        member.round_snapshot = member.replica;
    } else {
        for (std::size_t i = 0; i < member.round_snapshot.size(); ++i)
            member.round_snapshot[i] += member.round_moved[i];
    }
    member.round_moved.assign(member.round_snapshot.size(), 0.0F);
}

void MixWorld::apply(std::size_t node, const Apply& apply) {
    Member& member = members_[node];
    const auto found = member.codecs.find(apply.edge);
    if (found == member.codecs.end()) return;  // the edge was voided meanwhile
    std::vector<float> displacement(apply.range.floats);
    found->second->displacement(apply.weight, displacement);
    double squares = 0;
    for (std::uint64_t i = 0; i < apply.range.floats; ++i) {
        member.replica[apply.range.offset + i] += displacement[i];
        squares += static_cast<double>(displacement[i]) * static_cast<double>(displacement[i]);
    }
    found->second->commit();
    for (std::uint64_t i = 0; i < apply.range.floats && apply.of_round; ++i)
        member.round_moved[apply.range.offset + i] += displacement[i];

    const std::size_t other = index_of(apply.edge.peer);
    const std::size_t low = std::min(node, other);
    const std::size_t high = std::max(node, other);
    const SwapName name{
        low,
        high,
        apply.edge.shard.value,
        apply.n.value,
        members_[low].incarnation.value,
        members_[high].incarnation.value};
    if (const auto first = owed_.find(name); first != owed_.end()) {
        for (std::size_t i = 0; i < displacement.size(); ++i) {
            if (first->second.displacement[i] == displacement[i]) continue;
            ++unequal_rebuilds;
            break;
        }
        owed_.erase(first);
    } else {
        std::vector<float> negated = displacement;
        for (float& value : negated)
            value = -value;
        owed_[name] = {.by = other, .offset = apply.range.offset, .displacement = negated};
    }
    answer(node, apply.edge, Applied{.displacement_norm = std::sqrt(squares)});
}

}  // namespace p2p::test
