#include "tests/support/mix_world.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/codec/kernels.hpp"

namespace p2p::test {

using namespace core;  // NOLINT(google-build-using-namespace): a test speaks of nothing else

namespace {

std::uint64_t encoded_size(CodecId codec, std::size_t floats, bool keyframe) {
    return encoded_bytes(codec, floats, keyframe);
}

}  // namespace

MixWorld::MixWorld(MixWorldOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      layout_({{.name = "x", .shape = {options_.floats}, .offset = 0}}, options_.shard_floats),
      members_(options_.nodes),
      steps_sum_(options_.floats) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        Member& member = members_[i];
        member.id.bytes[0] = static_cast<std::uint8_t>(i);
        member.id.bytes[31] = static_cast<std::uint8_t>(rng_.next_u32());
        for (std::uint64_t k = 0; k < options_.floats; ++k) {
            member.replica.push_back(static_cast<float>(3 + options_.spread * rng_.normal()));
        }
        make_mixer(i);
    }
    for (std::size_t a = 0; a < members_.size(); ++a) {
        for (std::size_t b = a + 1; b < members_.size(); ++b) {
            if (!options_.has_edge || options_.has_edge(a, b)) link(a, b);
        }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
        later(draw({}, options_.step), [this, i] { step(i); });
    }
}

std::size_t MixWorld::index_of(PeerId peer) const {
    return peer.bytes[0];
}

Duration MixWorld::draw(Duration low, Duration high) {
    return low
           + Duration(static_cast<Duration::rep>(
               rng_.uniform() * static_cast<double>((high - low).count())));
}

void MixWorld::later(Duration delay, std::function<void()> act) {
    events_.push({.at = now + delay, .order = ++order_, .act = std::move(act)});
}

void MixWorld::make_mixer(std::size_t node) {
    Member& member = members_[node];
    MixerConfig config{
        .job = {},
        .self = member.id,
        .site = options_.sites.empty() ? "" : options_.sites[node],
        .layout = layout_,
        .recipe = options_.recipe,
        .seed = node,
        .finish_tolerance = 1e-4,
        .deadline = options_.deadline,
        .bury_after = options_.bury_after,
        .encoded_bytes = &encoded_size,
        .shard_codecs = options_.shard_codecs,
        .knows_initial = static_cast<bool>(options_.initial),
        .share_rule = options_.share_rule};
    member.mixer = std::make_unique<Mixer>(std::move(config), rng_.split(node));
    MixingOutputs outputs;
    member.mixer->start(now, StepCount{member.steps}, outputs);
    carry_out(node, outputs);
}

void MixWorld::link(std::size_t a, std::size_t b) {
    linked_[{a, b}] = linked_[{b, a}] = true;
    ++session_[{a, b}];
    ++session_[{b, a}];
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
        MixingOutputs outputs;
        if (!options_.sites.empty())
            members_[one].mixer->set_site(members_[other].id, options_.sites[other]);
        members_[one].mixer->on_linked(
            now, members_[other].id, members_[other].incarnation, outputs);
        members_[one].mixer->set_taking_part(now, members_[other].id, true, outputs);
        carry_out(one, outputs);
    }
}

void MixWorld::break_link(std::size_t a, std::size_t b) {
    if (!linked_[{a, b}]) return;
    linked_[{a, b}] = linked_[{b, a}] = false;
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
        MixingOutputs outputs;
        members_[one].mixer->on_unlinked(now, members_[other].id, outputs);
        carry_out(one, outputs);
    }
}

void MixWorld::mend_link(std::size_t a, std::size_t b) {
    if (!linked_[{a, b}]) link(a, b);
}

void MixWorld::restart(std::size_t node) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (i != node && linked_[{node, i}]) others.push_back(i);
    }
    for (const std::size_t other : others)
        break_link(node, other);
    Member& member = members_[node];
    ++member.incarnation;
    ++member.life;
    member.codecs.clear();
    member.encoded.clear();
    member.arriving.clear();
    member.trainer_box.clear();
    make_mixer(node);
    for (const std::size_t other : others)
        link(std::min(node, other), std::max(node, other));
    later(options_.step, [this, node, life = member.life] {
        if (members_[node].life == life) step(node);
    });
}

void MixWorld::begin_finishing() {
    for (std::size_t i = 0; i < members_.size(); ++i)
        begin_finishing(i);
}

void MixWorld::begin_finishing(std::size_t node) {
    Member& member = members_[node];
    member.is_stepping = false;
    MixingOutputs outputs;
    member.mixer->set_mesh_size(static_cast<std::uint32_t>(members_.size()));
    member.mixer->begin_finishing(now, outputs);
    carry_out(node, outputs);
}

void MixWorld::step(std::size_t node) {
    Member& member = members_[node];
    for (auto& task : std::exchange(member.trainer_box, {}))
        task();
    if (member.is_stepping && StepCount{member.steps} < member.limit) {
        ++member.steps;
        for (std::size_t k = 0; k < member.replica.size() && options_.step_noise > 0; ++k) {
            const float before = member.replica[k];
            member.replica[k] += static_cast<float>(options_.step_noise * rng_.normal());
            steps_sum_[k] += static_cast<double>(member.replica[k]) - static_cast<double>(before);
        }
        MixingOutputs outputs;
        member.mixer->on_stepped(now, StepCount{member.steps}, outputs);
        carry_out(node, outputs);
    }
    wake(node);
    later(options_.step, [this, node, life = member.life] {
        if (members_[node].life == life) step(node);
    });
}

void MixWorld::wake(std::size_t node) {
    const auto next = members_[node].mixer->next_wakeup();
    if (!next || *next > now) return;
    MixingOutputs outputs;
    members_[node].mixer->on_wakeup(now, outputs);
    carry_out(node, outputs);
}

void MixWorld::carry_out(std::size_t node, MixingOutputs& outputs) {
    for (MixingOutput& output : outputs) {
        if (auto* send = std::get_if<SwapSend>(&output)) {
            std::visit(
                [&](auto& message) { deliver(node, index_of(send->to), SwapWord{message}); },
                send->message);
        } else if (auto* asked = std::get_if<SwapOrder>(&output)) {
            order(node, *asked);
        } else if (auto* limit = std::get_if<StepLimit>(&output)) {
            members_[node].limit = limit->steps;
        } else if (auto* offence = std::get_if<SwapOffence>(&output)) {
            offences.push_back(offence->why.what);
        } else if (auto* wants = std::get_if<WantsRoom>(&output)) {
            later({}, [this, node, peer = wants->peer] { pump(node, peer); });
        } else if (auto* end = std::get_if<SwapEnded>(&output)) {
            ended.push_back(*end);
        } else if (auto* line = std::get_if<LedgerLine>(&output)) {
            ledger.push_back(*line);
        }
    }
}

void MixWorld::deliver(std::size_t from, std::size_t to, SwapWord word) {
    if (!linked_[{from, to}]) return;
    if (tamper) tamper(word);
    TimePoint& arrives = arrives_[{from, to}];
    Duration delay = draw(options_.delay_min, options_.delay_max);
    if (!options_.sites.empty() && options_.sites[from] != options_.sites[to])
        delay += options_.delay_across;
    arrives = std::max(arrives, now + delay);
    const std::uint64_t session = session_[{from, to}];
    later(arrives - now, [this, from, to, session, word = std::move(word)] {
        if (!linked_[{from, to}] || session_[{from, to}] != session) return;  // lost with its link
        MixingOutputs outputs;
        members_[to].mixer->on_word(now, members_[from].id, word, outputs);
        carry_out(to, outputs);
    });
}

void MixWorld::pump(std::size_t node, PeerId peer) {
    Member& member = members_[node];
    MixingOutputs outputs;
    member.mixer->start_encodings(peer, outputs);
    carry_out(node, outputs);
    while (const auto chunk = member.mixer->next_chunk(peer)) {
        const auto& bytes = member.encoded.at(chunk->edge);
        const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(chunk->piece.offset);
        deliver(
            node,
            index_of(peer),
            SwapChunk{
                .key = {chunk->edge.job, chunk->edge.shard, chunk->n},
                .offset = chunk->piece.offset,
                .total = chunk->piece.total,
                .bytes = std::make_shared<const Bytes>(begin, begin + chunk->piece.length)});
    }
}

EdgeCodec& MixWorld::codec(std::size_t node, const EdgeKey& edge, std::uint64_t floats) {
    auto& slot = members_[node].codecs[edge];
    if (!slot) {
        slot = std::make_shared<EdgeCodec>(
            floats, members_[node].id < edge.peer, kernels(best_kernel_level()));
    }
    return *slot;
}

void MixWorld::answer(std::size_t node, EdgeKey edge, SwapResult result) {
    const std::uint64_t life = members_[node].life;
    later(draw({}, options_.work_max), [this, node, edge, life, result = std::move(result)] {
        if (members_[node].life != life) return;
        MixingOutputs outputs;
        members_[node].mixer->on_worked(now, edge, result, outputs);
        carry_out(node, outputs);
    });
}

void MixWorld::run_for(Duration duration) {
    const TimePoint end = now + duration;
    while (!events_.empty() && events_.top().at <= end) {
        const Event event = events_.top();
        events_.pop();
        now = event.at;
        event.act();
    }
    now = end;
}

std::vector<double> MixWorld::sum() const {
    std::vector<double> sum(options_.floats);
    for (const Member& member : members_) {
        for (std::size_t k = 0; k < sum.size(); ++k)
            sum[k] += static_cast<double>(member.replica[k]);
    }
    for (const auto& [name, owed] : owed_) {
        for (std::size_t i = 0; i < owed.displacement.size(); ++i) {
            sum[owed.offset + i] += static_cast<double>(owed.displacement[i]);
        }
    }
    for (std::size_t k = 0; k < sum.size(); ++k)
        sum[k] -= steps_sum_[k];
    return sum;
}

double MixWorld::largest_distance() const {
    double largest = 0;
    for (const Member& member : members_) {
        double squares = 0;
        for (std::uint64_t k = 0; k < options_.floats; ++k) {
            double mean = 0;
            for (const Member& other : members_)
                mean += static_cast<double>(other.replica[k]);
            mean /= static_cast<double>(members_.size());
            squares += std::pow(static_cast<double>(member.replica[k]) - mean, 2);
        }
        largest = std::max(largest, std::sqrt(squares));
    }
    return largest;
}

bool MixWorld::is_settled() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& member) {
        return member.mixer->is_settled();
    });
}

}  // namespace p2p::test
