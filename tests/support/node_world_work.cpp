// The work of a NodeWorld's machines: what the daemon's driver, workers and trainers do, at once.
// Apart from node_world.cpp for its length only.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/codec/hash.hpp"
#include "core/codec/kernels.hpp"
#include "tests/support/node_world.hpp"

namespace p2p::test {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

namespace {

/// The world's own hash of blobs; the daemon's is BLAKE2b.
BlobHash hash_of(const Bytes& bytes) {
    const Hash128 hash = hash128({}, bytes);
    BlobHash id;
    store_le(id.bytes.data(), hash.low);
    store_le(id.bytes.data() + 8, hash.high);
    return id;
}

}  // namespace

void NodeWorld::carry_out(std::size_t node, Effects& effects) {
    Machine& machine = machines_[node];
    for (Effect& effect : effects) {
        if (auto* send = std::get_if<Send>(&effect)) {
            deliver(node, index_of(send->to), send->message);
        } else if (auto* chunk = std::get_if<SendChunk>(&effect)) {
            const auto& bytes = machine.encoded.at(chunk->edge);
            const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(chunk->offset);
            deliver(
                node,
                index_of(chunk->edge.peer),
                SwapChunk{
                    .key = {chunk->edge.job, chunk->edge.shard, chunk->n},
                    .offset = chunk->offset,
                    .total = chunk->total,
                    .bytes = std::make_shared<const Bytes>(begin, begin + chunk->length)});
        } else if (auto* blob = std::get_if<SendBlob>(&effect)) {
            const Bytes& bytes = machine.blobs[blob->hash];
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(blob->offset);
            deliver(
                node,
                index_of(blob->to),
                BlobChunk{
                    .hash = blob->hash,
                    .offset = blob->offset,
                    .total = blob->length == 0 ? 0 : bytes.size(),
                    .bytes = std::make_shared<const Bytes>(begin, begin + blob->length)});
        } else if (auto* dial = std::get_if<Connect>(&effect)) {
            connect(node, index_of(dial->peer));
        } else if (auto* hang_up = std::get_if<Disconnect>(&effect)) {
            disconnect(node, index_of(hang_up->peer), hang_up->why.text());
        } else if (auto* work = std::get_if<Work>(&effect)) {
            carry(node, *work);
        } else if (auto* say = std::get_if<Say>(&effect)) {
            notices.push_back(say->notice);
        } else if (auto* reply = std::get_if<Reply>(&effect)) {
            machine.replies.emplace(reply->command, reply->result);
        } else {
            carry_training(node, effect);
        }
    }
    if (const auto next = machine.node->next_wakeup()) {
        const Duration delay = std::max(*next - now, Duration{1});
        at_node(node, delay, [this, node, wanted = *next](Effects& more) {
            const auto due = machines_[node].node->next_wakeup();
            if (due && *due <= now && wanted <= now) machines_[node].node->on_wakeup(now, more);
        });
    }
}

void NodeWorld::carry_training(std::size_t node, Effect& effect) {
    Machine& machine = machines_[node];
    if (auto* begin = std::get_if<StartTraining>(&effect)) {
        machine.spec = begin->spec;
        machine.job = begin->job;
        machine.is_training = true;
        if (machine.replica.empty()) machine.replica.assign(options_.floats, 3.0F);
        at_node(node, {}, [this, node](Effects& more) {
            Machine& self = machines_[node];
            self.node->on_trainer(
                now,
                {.job = self.job,
                 .status = {},
                 .set_samples = {},
                 .steps = self.steps,
                 .samples = self.samples,
                 .samples_mesh = {}},
                more);
        });
    } else if (auto* pace = std::get_if<Pace>(&effect)) {
        machine.pace = *pace;
    } else if (std::holds_alternative<EndTraining>(effect)) {
        machine.has_ended = true;
    } else if (const auto* drop = std::get_if<DropTraining>(&effect)) {
        const auto is_of_it = [&](const auto& entry) {
            return entry.first.job == drop->job;
        };
        std::erase_if(machine.codecs, is_of_it);
        std::erase_if(machine.encoded, is_of_it);
        std::erase_if(machine.arriving, is_of_it);
        machine.replica.clear();
        machine.steps = {};
        machine.samples = {};
        machine.is_training = false;
        machine.has_ended = false;
    } else if (auto* save = std::get_if<Save>(&effect)) {
        machine.saved = machine.replica;
        machine.saved_steps = machine.steps;
        machine.saved_samples = machine.samples;
        at_node(node, {}, [this, node, job = save->job](Effects& more) {
            machines_[node].node->on_saved(now, job, {}, more);
        });
    }
}

EdgeCodec& NodeWorld::codec(Machine& machine, const EdgeKey& edge, std::uint64_t floats) {
    auto& slot = machine.codecs[edge];
    if (!slot) {
        slot = std::make_shared<EdgeCodec>(
            floats, machine.id < edge.peer, kernels(best_kernel_level()));
    }
    return *slot;
}

Bytes NodeWorld::frozen(const Machine& machine) const {
    Bytes bytes(machine.replica.size() * sizeof(float));
    std::memcpy(bytes.data(), machine.replica.data(), bytes.size());
    return bytes;
}

WorkResult NodeWorld::apply(Machine& machine, const Apply& apply) {
    const auto found = machine.codecs.find(apply.edge);
    if (found == machine.codecs.end()) return Error{ErrorCode::not_found, "voided", "", ""};
    std::vector<float> displacement(apply.range.floats);
    found->second->displacement(apply.weight, displacement);
    double squares = 0;
    for (std::uint64_t i = 0; i < apply.range.floats; ++i) {
        machine.replica[apply.range.offset + i] += displacement[i];
        squares += static_cast<double>(displacement[i]) * static_cast<double>(displacement[i]);
    }
    found->second->commit();
    return Applied{.displacement_norm = std::sqrt(squares)};
}

bool NodeWorld::carry_replica(Machine& machine, WorkOrder& order, WorkResult& result) {
    bool answers = true;
    if (std::holds_alternative<Evaluate>(order)) {
        result = Evaluated{.has_test_set = true, .loss = 0.5, .accuracy = 0.9};
    } else if (std::holds_alternative<TakeSketch>(order)) {
        result = Sketched{sketch_of(machine.replica)};
    } else if (const auto* freeze = std::get_if<Freeze>(&order)) {
        const bool lies = machine.gives_zeros && freeze->with_optimizer;
        const Bytes bytes = lies ? Bytes(machine.replica.size() * sizeof(float)) : frozen(machine);
        machine.blobs[hash_of(bytes)] = bytes;
        result = Frozen{.hash = hash_of(bytes), .bytes = bytes.size()};
    } else if (auto* store = std::get_if<StoreBlob>(&order)) {
        answers = false;
        Bytes& bytes = machine.blobs[store->hash];
        bytes.resize(store->total);
        std::memcpy(bytes.data() + store->offset, store->bytes->data(), store->bytes->size());
    } else if (auto* check = std::get_if<CheckBlob>(&order)) {
        const Bytes& bytes = machine.blobs[check->hash];
        double squares = 0;
        double norm = 0;
        std::vector<float> values(machine.replica.size());
        std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), values.size() * 4));
        for (std::size_t i = 0; i < values.size(); ++i) {
            squares += std::pow(static_cast<double>(values[i] - machine.replica[i]), 2);
            norm += std::pow(static_cast<double>(machine.replica[i]), 2);
        }
        result = hash_of(bytes) == check->hash
                     ? BlobChecked{std::sqrt(squares / norm), sketch_of(values)}
                     : BlobChecked{Error{ErrorCode::forged, "another hash", "", ""}};
    } else if (auto* adopt = std::get_if<Adopt>(&order)) {
        const Bytes& bytes = machine.blobs[adopt->hash];
        std::memcpy(machine.replica.data(), bytes.data(), bytes.size());
        result = Adopted{.displacement_norm = 0};
    } else {
        answers = false;  // TakeRoundSnapshot, DropBlob
    }
    return answers;
}

SpecRead NodeWorld::read_spec(Machine& machine, const ReadSpec& order) {
    const Bytes id(order.job.bytes.begin(), order.job.bytes.end());
    if (*order.bytes != id) return {Error{ErrorCode::forged, "another spec", "", ""}};
    machine.blobs[BlobHash{order.job.bytes}] = machine.gives_zeros ? Bytes(id.size()) : id;
    return {specs_.at(order.job)};
}

void NodeWorld::carry(std::size_t node, Work& work) {
    Machine& machine = machines_[node];
    WorkResult result = Error{ErrorCode::unsupported, "not in this world", "", ""};
    bool answers = true;
    if (auto* read = std::get_if<ReadSpec>(&work.order)) {
        result = read_spec(machine, *read);
    } else if (auto* encode = std::get_if<Encode>(&work.order)) {
        const FloatView view(machine.replica.data() + encode->range.offset, encode->range.floats);
        const auto made = codec(machine, encode->edge, encode->range.floats)
                              .encode(view, encode->codec, encode->keyframe, encode->seed);
        machine.encoded[encode->edge] = made.bytes;
        result = Encoded{
            .bytes_total = made.bytes->size(),
            .finite = made.finite,
            .kept_ratio = made.kept_ratio};
    } else if (auto* chunk = std::get_if<StoreChunk>(&work.order)) {
        answers = false;
        machine.arriving[chunk->edge].resize(chunk->total);
        std::memcpy(
            machine.arriving[chunk->edge].data() + chunk->offset,
            chunk->bytes->data(),
            chunk->bytes->size());
    } else if (auto* decode = std::get_if<Decode>(&work.order)) {
        EdgeCodec& edge = codec(machine, decode->edge, decode->range.floats);
        Decoded decoded;
        decoded.well_formed =
            edge.decode(machine.arriving[decode->edge], decode->codec, decode->keyframe).is_ok();
        if (decoded.well_formed) {
            const SwapStats stats = edge.stats();
            decoded.finite = stats.finite;
            decoded.distance = stats.distance;
            decoded.own_norm = stats.own_norm;
            decoded.remote_norm = stats.remote_norm;
            decoded.hash = edge.swap_hash();
        }
        result = decoded;
    } else if (auto* wanted = std::get_if<Apply>(&work.order)) {
        result = apply(machine, *wanted);
    } else if (auto* drop = std::get_if<DropSwap>(&work.order)) {
        answers = false;
        if (machine.codecs.contains(drop->edge)) machine.codecs[drop->edge]->reset();
    } else if (auto* gone = std::get_if<DropEdge>(&work.order)) {
        answers = false;
        machine.codecs.erase(gone->edge);
    } else {
        answers = carry_replica(machine, work.order, result);
    }
    if (!answers) return;
    at_node(
        node,
        std::chrono::milliseconds{1},
        [this, node, ticket = work.ticket, result](Effects& more) {
            machines_[node].node->on_worked(now, ticket, result, more);
        });
}

}  // namespace p2p::test
