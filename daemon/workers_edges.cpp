#include "daemon/workers_edges.hpp"

#include <cmath>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/kernels.hpp"
#include "core/node/swap_measure.hpp"

namespace p2p::daemon {

using core::EdgeCodec;
using core::EdgeKey;
using core::Error;
using core::ErrorCode;
using core::FloatView;
using core::Result;
using core::Ticket;
using core::WorkResult;

namespace {

Error no_trainer() {
    return {ErrorCode::not_found, "this node does not train that job now", "", ""};
}

Error out_of_step(const char* what) {
    return {ErrorCode::conflict, std::string("a swap has no ") + what, "it was dropped", ""};
}

}  // namespace

EdgeDesk::EdgeDesk(EdgeTools tools)
    : tools_(std::move(tools)),
      kernels_(core::kernels(tools_.kernel_level)) {}

void EdgeDesk::take_round_snapshot(const core::TakeRoundSnapshot& order, std::uint64_t floats) {
    Trainer* trainer = tools_.trainer_of(order.job);
    if (trainer == nullptr) return;
    const auto last = rounds_.find(order.job);
    if (order.goes_on && last != rounds_.end()) return go_on(last->second);
    auto round = std::make_shared<Round>();
    rounds_[order.job] = round;
    trainer->snapshot({0, floats}, [post = tools_.post, round](auto values) {
        auto result =
            values
                ? Result<Snapshot>(std::make_shared<const std::vector<float>>(*std::move(values)))
                : Result<Snapshot>(values.error());
        post([round, result = std::move(result)] {
            round->result = result;
            for (const auto& use : std::exchange(round->waiting, {}))
                use(result);
        });
    });
}

/// The next phase starts from where the last one's swaps have led; all of them have settled.
void EdgeDesk::go_on(const std::shared_ptr<Round>& round) {
    if (round->moved.empty() || !round->result || !*round->result) return;
    auto next = std::make_shared<std::vector<float>>(***round->result);
    kernels_.add(round->moved.data(), next->size(), next->data());
    round->moved.clear();
    round->result = Snapshot(std::move(next));
}

void EdgeDesk::note_moved(const core::Apply& order, FloatView displacement) {
    const auto round = rounds_.find(order.edge.job);
    if (round == rounds_.end() || !round->second->result || !*round->second->result) return;
    std::vector<float>& moved = round->second->moved;
    if (moved.empty()) moved.resize((**round->second->result)->size());
    P2P_CHECK(is_within(order.range, moved.size()));
    kernels_.add(displacement.data(), displacement.size(), moved.data() + order.range.offset);
}

EdgeDesk::Edge& EdgeDesk::edge_for(const EdgeKey& key, core::ShardRange range) {
    Edge& edge = edges_[key];
    if (!edge.codec) {
        edge.codec = std::make_shared<EdgeCodec>(range.floats, tools_.self < key.peer, kernels_);
    }
    return edge;
}

void EdgeDesk::encode(Ticket ticket, const core::Encode& order) {
    Trainer* trainer = tools_.trainer_of(order.edge.job);
    if (trainer == nullptr) return answer_later(ticket, no_trainer());
    Edge& edge = edge_for(order.edge, order.range);
    if (edge.n_out != order.n) {
        edge.n_out = order.n;
        edge.encoded = nullptr;
        edge.codec->abandon();
    }
    const bool builds_on_last = core::has_keyframe(order.codec) && !order.keyframe;
    const auto draw = order.from_initial ? trainer->initial_draw() : std::nullopt;
    if (order.from_initial && !draw) return answer_later(ticket, out_of_step("first value"));
    if (builds_on_last && !order.from_initial && !edge.codec->can_continue(order.codec)) {
        return answer_later(ticket, out_of_step("reference"));
    }

    SnapshotUser use = [this, ticket, order, codec = edge.codec, draw](Result<Snapshot> snapshot) {
        if (!snapshot) return tools_.answer(ticket, snapshot.error());
        encode_snapshot(ticket, order, *std::move(snapshot), codec, draw);
    };
    if (!order.of_round) {
        trainer->snapshot(order.range, [post = tools_.post, use](auto values) {
            auto result = values ? Result<Snapshot>(
                              std::make_shared<const std::vector<float>>(*std::move(values)))
                                 : Result<Snapshot>(values.error());
            post([use, result = std::move(result)] { use(result); });
        });
        return;
    }
    const auto round = rounds_.find(order.edge.job);
    if (round == rounds_.end()) return answer_later(ticket, out_of_step("round's snapshot"));
    if (!round->second->result) {
        round->second->waiting.push_back(std::move(use));
        return;
    }
    tools_.post([use = std::move(use), round = round->second] { use(*round->result); });
}

void EdgeDesk::encode_snapshot(
    Ticket ticket,
    const core::Encode& order,
    Snapshot snapshot,
    std::shared_ptr<EdgeCodec> codec,
    std::optional<core::InitialDraw> draw) {
    tools_.workers->submit([this, post = tools_.post, ticket, order, snapshot, codec, draw] {
        const core::ShardRange range = order.range;
        if (draw) codec->start_from(draw->values(range.offset, range.floats));
        const FloatView all = *snapshot;
        const FloatView shard = order.of_round ? all.subspan(range.offset, range.floats) : all;
        const auto result =
            codec->encode(shard, order.codec, order.keyframe, order.seed, order.theta_factor);
        post([this, ticket, order, codec, result] {
            const bool is_kept = result.finite && is_current(order.edge, codec);
            if (is_kept) edges_[order.edge].encoded = result.bytes;
            const std::uint64_t bytes = result.bytes ? result.bytes->size() : 0;
            tools_.answer(ticket, core::Encoded{bytes, result.finite, result.kept_ratio});
        });
    });
}

void EdgeDesk::store(const core::StoreChunk& chunk) {
    Edge& edge = edges_[chunk.edge];
    if (!edge.inbound || edge.n_in < chunk.n) {
        edge.inbound.emplace(chunk.total);
        edge.n_in = chunk.n;
    }
    if (edge.n_in != chunk.n) return;  // of a swap that is settled
    // What does not fit is left out; the Node counts bytes and never finds the value whole.
    static_cast<void>(edge.inbound->accept(chunk.offset, *chunk.bytes));
}

void EdgeDesk::decode(Ticket ticket, const core::Decode& order) {
    const auto found = edges_.find(order.edge);
    if (found == edges_.end() || !found->second.codec || found->second.n_out != order.n) {
        return answer_later(ticket, out_of_step("own value"));
    }
    Edge& edge = found->second;
    if (!edge.inbound || edge.n_in != order.n || !edge.inbound->is_complete()) {
        return answer_later(ticket, out_of_step("whole value of the peer"));
    }
    auto bytes = std::make_shared<const core::Bytes>(edge.inbound->take());
    edge.inbound.reset();
    tools_.workers->submit([this, post = tools_.post, ticket, order, bytes, codec = edge.codec] {
        const auto measured = core::decode_and_measure(*codec, order, *bytes);
        const auto result = measured ? WorkResult(*measured) : WorkResult(measured.error());
        post([this, ticket, result] { tools_.answer(ticket, result); });
    });
}

void EdgeDesk::apply(Ticket ticket, const core::Apply& order) {
    const auto found = edges_.find(order.edge);
    const bool is_ready = found != edges_.end() && found->second.codec
                          && found->second.n_out == order.n && found->second.codec->is_complete();
    if (!is_ready) return answer_later(ticket, out_of_step("two values"));
    tools_.workers->submit([this, post = tools_.post, ticket, order, codec = found->second.codec] {
        auto displacement = std::make_shared<std::vector<float>>(order.range.floats);
        codec->displacement(order.weight, *displacement);
        post([this, ticket, order, displacement, codec] {
            add_to_live(ticket, order, displacement, codec);
        });
    });
}

void EdgeDesk::add_to_live(
    Ticket ticket,
    const core::Apply& order,
    Snapshot displacement,
    std::shared_ptr<EdgeCodec> codec) {
    Trainer* trainer = tools_.trainer_of(order.edge.job);
    if (trainer == nullptr) return tools_.answer(ticket, no_trainer());
    const double norm =
        std::sqrt(kernels_.sum_of_squares(displacement->data(), displacement->size()));
    trainer->add(
        order.range,
        displacement,
        [this, post = tools_.post, ticket, order, displacement, codec, norm](core::Status status) {
            post([this, ticket, order, displacement, codec, norm, status] {
                if (!status) return tools_.answer(ticket, status.error());
                if (order.of_round) note_moved(order, *displacement);
                if (is_current(order.edge, codec)) {
                    codec->commit();
                    edges_[order.edge].encoded = nullptr;
                }
                tools_.answer(ticket, core::Applied{norm});
            });
        });
}

void EdgeDesk::drop_swap(const core::DropSwap& order) {
    const auto found = edges_.find(order.edge);
    if (found == edges_.end()) return;
    Edge& edge = found->second;
    edge.codec = nullptr;  // a worker may still hold it; the next swap has another
    edge.encoded = nullptr;
    if (edge.n_in <= order.n) edge.inbound.reset();
}

void EdgeDesk::drop_job(core::JobId job) {
    std::erase_if(edges_, [&](const auto& entry) { return entry.first.job == job; });
    rounds_.erase(job);
}

std::shared_ptr<const core::Bytes> EdgeDesk::encoded(const EdgeKey& key, core::SwapNumber n) const {
    const auto found = edges_.find(key);
    return found == edges_.end() || found->second.n_out != n ? nullptr : found->second.encoded;
}

bool EdgeDesk::is_current(const EdgeKey& key, const std::shared_ptr<EdgeCodec>& codec) const {
    const auto found = edges_.find(key);
    return found != edges_.end() && found->second.codec == codec;
}

void EdgeDesk::answer_later(Ticket ticket, WorkResult result) {
    tools_.post([this, ticket, result = std::move(result)] { tools_.answer(ticket, result); });
}

}  // namespace p2p::daemon
