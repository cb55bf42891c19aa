// See push_world.hpp.

#include "tests/support/push_world.hpp"

#include <algorithm>
#include <cmath>

namespace p2p::test {

using core::MixingOutputs;

namespace {

std::uint64_t size_of(core::CodecId codec, std::size_t floats, bool keyframe) {
    return core::encoded_bytes(codec, floats, keyframe);
}

const core::Kernels& kernels() {
    return core::kernels(core::best_kernel_level());
}

core::BlobHash hash_of(const core::Bytes& bytes) {
    const core::Hash128 hash = core::hash128({}, bytes);
    core::BlobHash id;
    core::store_le(id.bytes.data(), hash.low);
    core::store_le(id.bytes.data() + 8, hash.high);
    return id;
}

}  // namespace

core::PeerId PushWorld::id(std::size_t i) {
    core::PeerId peer;
    peer.bytes[0] = static_cast<std::uint8_t>(i + 1);
    return peer;
}

PushWorld::PushWorld(PushWorldOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      nodes_(options_.nodes) {
    const bool starts_alike = options_.recipe.exchange.kind == core::Exchange::gather;
    const std::vector<core::TensorInfo> tensors{
        {.name = "x", .shape = {options_.floats}, .offset = 0}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node& node = nodes_[i];
        node.rng = rng_.split(i);
        node.pusher = std::make_unique<core::Pusher>(
            core::PusherConfig{
                .job = {},
                .layout = core::Layout(tensors, 250),
                .recipe = options_.recipe,
                .seed = core::mix_key(options_.seed, i),
                .encoded_bytes = &size_of},
            rng_.split(100 + i));
        core::Rng start = starts_alike ? core::Rng(7) : rng_.split(200 + i);
        for (std::uint64_t k = 0; k < options_.floats; ++k)
            node.replica.push_back(static_cast<float>(3 + start.normal()));
    }
    for (std::size_t a = 0; a < nodes_.size(); ++a) {
        for (std::size_t b = a + 1; b < nodes_.size(); ++b)
            mend_link(a, b);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        MixingOutputs out;
        nodes_[i].pusher->start(now_, {}, out);
        carry(i, out);
    }
}

bool PushWorld::is_cut(std::size_t a, std::size_t b) const {
    return cut_.contains({std::min(a, b), std::max(a, b)});
}

void PushWorld::later(Event event) {
    const auto delay = std::chrono::microseconds{1 + rng_.below(30'000)};
    events_.emplace(now_ + delay, std::move(event));
}

void PushWorld::break_link(std::size_t a, std::size_t b) {
    if (!cut_.insert({a, b}).second) return;
    ++sessions_[{a, b}];
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
        MixingOutputs out;
        nodes_[one].pusher->on_unlinked(now_, id(other), out);
        carry(one, out);
    }
}

void PushWorld::mend_link(std::size_t a, std::size_t b) {
    cut_.erase({a, b});
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
        MixingOutputs out;
        nodes_[one].pusher->on_linked(now_, id(other), core::Incarnation{1}, out);
        nodes_[one].pusher->set_taking_part(now_, id(other), true, out);
        carry(one, out);
    }
}

void PushWorld::stop(std::size_t node) {
    MixingOutputs out;
    nodes_[node].pusher->stop(now_, out);
    carry(node, out);
}

void PushWorld::step_all() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node& node = nodes_[i];
        if (node.steps >= node.limit) continue;
        for (float& value : node.replica)
            value += static_cast<float>(options_.step_noise * node.rng.normal());
        node.steps += core::StepCount{1};
        MixingOutputs out;
        node.pusher->on_stepped(now_, node.steps, out);
        carry(i, out);
    }
}

void PushWorld::run_events(std::size_t count) {
    for (; count > 0 && !events_.empty(); --count) {
        now_ = std::max(now_, events_.begin()->first);
        const Event event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
    }
}

void PushWorld::drain() {
    while (!events_.empty())
        run_events(1);
}

/// In order on a link; lost where it has broken since.
void PushWorld::deliver(
    std::size_t from, std::size_t to, const std::function<void(Node&, MixingOutputs&)>& act) {
    const std::pair link{std::min(from, to), std::max(from, to)};
    core::TimePoint& last = arrived_[{from, to}];
    last = std::max(last, now_) + std::chrono::microseconds{1 + rng_.below(30'000)};
    events_.emplace(last, [this, to, from, link, act, session = sessions_[link]] {
        if (is_cut(from, to) || sessions_[link] != session) return;
        MixingOutputs out;
        act(nodes_[to], out);
        carry(to, out);
    });
}

void PushWorld::carry(std::size_t from, MixingOutputs& out) {
    for (core::MixingOutput& output : out) {
        if (auto* send = std::get_if<core::PushSend>(&output)) {
            const std::size_t to = index_of(send->to);
            if (const auto* push = std::get_if<core::Push>(&send->message)) {
                deliver(from, to, [this, from, push = *push](Node& node, MixingOutputs& reply) {
                    node.pusher->on_push(now_, id(from), push, reply);
                });
            } else if (const auto* ack = std::get_if<core::PushAck>(&send->message)) {
                deliver(from, to, [this, from, ack = *ack](Node& node, MixingOutputs& reply) {
                    node.pusher->on_ack(now_, id(from), ack, reply);
                });
            }
        } else if (auto* order = std::get_if<core::SwapOrder>(&output)) {
            if (const auto* encode = std::get_if<core::EncodePush>(order)) work(from, *encode);
            if (const auto* absorb = std::get_if<core::AbsorbPush>(order)) work(from, *absorb);
        } else if (auto* wants = std::get_if<core::WantsBlob>(&output)) {
            fetch(from, *wants);
        } else if (auto* served = std::get_if<core::BlobServed>(&output)) {
            if (served->bytes.value == 0) nodes_[from].blobs.erase(served->hash);
        } else if (auto* limit = std::get_if<core::StepLimit>(&output)) {
            nodes_[from].limit = limit->steps;
        } else if (auto* one = std::get_if<core::SwapEnded>(&output)) {
            ended.push_back(*one);
        } else if (auto* offence = std::get_if<core::SwapOffence>(&output)) {
            offences.push_back(*offence);
        }
    }
}

void PushWorld::fetch(std::size_t node, const core::WantsBlob& wants) {
    const std::size_t from = index_of(wants.peer);
    ++blobs_sent;
    deliver(from, node, [this, from, wants](Node& receiver, MixingOutputs& reply) {
        const auto held = nodes_[from].blobs.find(wants.hash);
        const bool is_here = held != nodes_[from].blobs.end();
        if (is_here) receiver.blobs[wants.hash] = held->second;
        receiver.pusher->on_fetched(now_, wants.peer, is_here, reply);
    });
}

void PushWorld::work(std::size_t index, const core::EncodePush& order) {
    later([this, index, order] {
        Node& node = nodes_[index];
        if (!node.values_of.contains(order.shard)) node.values_of.emplace(order.shard, kernels());
        const core::MutableFloatView all = node.replica;
        const auto part = all.subspan(order.range.offset, order.range.floats);
        auto made = node.values_of.at(order.shard).make(order, part);
        for (std::size_t k = 0; k < made.displacement.size(); ++k)
            part[k] += made.displacement[k];
        core::PushEncoded encoded;
        encoded.finite = made.finite;
        encoded.bytes = made.bytes.size();
        encoded.own_norm = made.own_norm;
        if (!made.bytes.empty()) {
            encoded.hash = hash_of(made.bytes);
            node.blobs[encoded.hash] = made.bytes;
        }
        MixingOutputs out;
        node.pusher->on_encoded(now_, order.shard, encoded, out);
        carry(index, out);
    });
}

void PushWorld::work(std::size_t index, const core::AbsorbPush& order) {
    later([this, index, order] {
        Node& node = nodes_[index];
        if (!node.values_of.contains(order.shard)) node.values_of.emplace(order.shard, kernels());
        const core::MutableFloatView all = node.replica;
        const auto part = all.subspan(order.range.offset, order.range.floats);
        const auto taken =
            node.values_of.at(order.shard).take(order, node.blobs.at(order.hash), part);
        for (std::size_t k = 0; k < taken.displacement.size(); ++k)
            part[k] += taken.displacement[k];
        MixingOutputs out;
        node.pusher->on_absorbed(now_, order.shard, taken.measured, out);
        carry(index, out);
    });
}

std::vector<double> PushWorld::weighted_sum() const {
    std::vector<double> sum(options_.floats);
    const core::Layout layout({{.name = "x", .shape = {options_.floats}, .offset = 0}}, 250);
    for (const Node& node : nodes_) {
        for (std::uint32_t i = 0; i < layout.shard_count(); ++i) {
            const core::ShardRange range = layout.shard(core::ShardIndex{i});
            const double weight = node.pusher->weight(core::ShardIndex{i});
            for (std::uint64_t k = range.offset; k < range.offset + range.floats; ++k)
                sum[k] += weight * static_cast<double>(node.replica[k]);
        }
    }
    return sum;
}

double PushWorld::weights() const {
    double sum = 0;
    for (const Node& node : nodes_)
        sum += node.pusher->weight(core::ShardIndex{0});
    return sum;
}

double PushWorld::spread() const {
    double most = 0;
    for (const Node& node : nodes_) {
        for (std::size_t k = 0; k < node.replica.size(); ++k) {
            const double apart = static_cast<double>(node.replica[k] - nodes_[0].replica[k]);
            most = std::max(most, std::abs(apart));
        }
    }
    return most;
}

}  // namespace p2p::test
