#include "tests/support/messages.hpp"

#include <memory>
#include <utility>
#include <variant>

#include "core/base/limits.hpp"
#include "proto/decode.hpp"
#include "proto/encode.hpp"

namespace p2p::tests {

using namespace core;

namespace {

template <typename AnyId>
AnyId id_of(std::uint8_t byte) {
    AnyId id;
    id.bytes.fill(byte);
    return id;
}

PeerRecord fixed_record(const PeerId& author) {
    return {
        .id = author,
        .incarnation = Incarnation{3},
        .version = 300,
        .name = "ams1-a",
        .site = "ams1",
        .addresses = {"10.1.0.4:7470", "[2001:db8::1]:7470", "node.example:1"},
        .release = "0.1.0"};
}

JobReport fixed_report() {
    return {
        .job = id_of<JobId>(0x11),
        .incarnation = Incarnation{3},
        .sequence = 70'000,
        .state = JobState::running,
        .steps = StepCount{22'400},
        .samples = SampleCount{1'433'600},
        .samples_per_second = 812.5,
        .train_loss = 0.214,
        .eval_loss = 0.231,
        .accuracy = 0.968,
        .distance_ratio = 0.0041,
        .swaps = 212,
        .utilization = 0.97,
        .bytes_sent = 123'456'789'012,
        .training_time = std::chrono::seconds{4020},
        .batch_hash = 0xfedcba9876543210,
        .settled = false,
        .final_hash = {},
        .sketch = sketch_of(std::vector<float>{1.5F, -2.25F, 0.125F})};
}

SwapKey fixed_key() {
    return {id_of<JobId>(0x11), ShardIndex{2}, SwapNumber{1000}};
}

std::uint64_t any(Rng& rng, std::uint64_t max) {
    const std::uint64_t value = rng.next_u64() >> rng.below(64);
    return max == UINT64_MAX ? value : value % (max + 1);
}

template <typename AnyId>
AnyId any_id(Rng& rng) {
    AnyId id;
    for (auto& byte : id.bytes) {
        byte = static_cast<std::uint8_t>(rng.next_u32());
    }
    return id;
}

std::string any_name(Rng& rng) {
    std::string name(1 + rng.below(limits::name_bytes_max), 'a');
    for (auto& letter : name) {
        letter = static_cast<char>('a' + rng.below(26));
    }
    return name;
}

std::shared_ptr<const Bytes> any_bytes(Rng& rng, std::size_t size) {
    Bytes bytes(size);
    for (auto& byte : bytes) {
        byte = static_cast<std::uint8_t>(rng.next_u32());
    }
    return std::make_shared<const Bytes>(std::move(bytes));
}

SwapKey any_key(Rng& rng) {
    const auto shard = static_cast<std::uint32_t>(any(rng, UINT32_MAX));
    return {any_id<JobId>(rng), ShardIndex{shard}, SwapNumber{1 + any(rng, 1'000'000)}};
}

SampleCount any_progress(Rng& rng) {
    return SampleCount{any(rng, limits::count_mesh_max)};
}

Duration any_duration(Rng& rng, Duration max) {
    return Duration{static_cast<Duration::rep>(any(rng, static_cast<std::uint64_t>(max.count())))};
}

SwapReason any_reason(Rng& rng) {
    return static_cast<SwapReason>(rng.below(13));
}

PeerRecord any_record(Rng& rng, const PeerId& author) {
    PeerRecord record{
        .id = author,
        .incarnation = Incarnation{any(rng, UINT64_MAX)},
        .version = any(rng, UINT64_MAX),
        .name = any_name(rng),
        .site = rng.below(2) == 0 ? "" : any_name(rng),
        .addresses = {},
        .release = "0.1.0"};
    record.addresses.resize(rng.below(limits::addresses_a_peer_max + 1));
    for (auto& address : record.addresses) {
        address = any_name(rng) + ":" + std::to_string(1 + rng.below(65'535));
    }
    return record;
}

SwapChunk any_swap_chunk(Rng& rng) {
    const std::uint64_t total = 1 + rng.below(3 * limits::chunk_bytes_max);
    const std::uint64_t chunks = (total - 1) / limits::chunk_bytes_max + 1;
    const std::uint64_t offset = rng.below(chunks) * limits::chunk_bytes_max;
    const auto size = std::min<std::uint64_t>(limits::chunk_bytes_max, total - offset);
    return {any_key(rng), offset, total, any_bytes(rng, size)};
}

BlobChunk any_blob_chunk(Rng& rng) {
    const auto hash = any_id<BlobHash>(rng);
    if (rng.below(8) == 0) return {hash, 0, 0, std::make_shared<const Bytes>()};
    const std::uint64_t size = 1 + rng.below(3000);
    const std::uint64_t offset = any(rng, limits::blob_bytes_max - size);
    return {hash, offset, offset + size, any_bytes(rng, size)};
}

std::optional<Sketch> any_sketch(Rng& rng) {
    if (rng.below(4) == 0) return std::nullopt;
    std::vector<float> values(1 + rng.below(300));
    for (float& value : values)
        value = static_cast<float>(rng.normal());
    return sketch_of(values);
}

JobReport any_report(Rng& rng) {
    return {
        .job = any_id<JobId>(rng),
        .incarnation = Incarnation{any(rng, UINT64_MAX)},
        .sequence = any(rng, UINT64_MAX),
        .state = static_cast<JobState>(1 + rng.below(8)),
        .steps = StepCount{any(rng, limits::count_node_max)},
        .samples = SampleCount{any(rng, limits::count_node_max)},
        .samples_per_second = rng.uniform() * 1e6,
        .train_loss = rng.normal(),
        .eval_loss = rng.normal(),
        .accuracy = rng.uniform(),
        .distance_ratio = rng.uniform(),
        .swaps = any(rng, limits::count_node_max),
        .utilization = rng.uniform(),
        .bytes_sent = any(rng, limits::count_mesh_max),
        .training_time = any_duration(rng, limits::training_time_max),
        .batch_hash = rng.next_u64(),
        .settled = rng.below(2) == 1,
        .final_hash = any_id<BlobHash>(rng),
        .sketch = any_sketch(rng)};
}

SwapOpen any_open(Rng& rng) {
    const SwapKey key = any_key(rng);
    return {
        .key = key,
        .round = Round{any(rng, limits::count_mesh_max)},
        .codec = codec_names[rng.below(codec_names.size())].id,
        .reference = SwapNumber{any(rng, key.n.value)},
        .gamma = static_cast<float>(1 - rng.uniform() / 2),
        .share = static_cast<float>(0.75 - rng.uniform() / 2)};
}

Push any_push(Rng& rng) {
    return {
        any_key(rng),
        static_cast<PushKind>(1 + rng.below(3)),
        codec_names[rng.below(codec_names.size())].id,
        rng.uniform() + 1e-9,
        any_id<BlobHash>(rng),
        ByteCount{1 + any(rng, limits::swap_value_bytes_max - 1)}};
}

SwapState any_state(Rng& rng) {
    const SwapKey key = any_key(rng);
    return {
        .key = key,
        .stage = static_cast<SwapStage>(rng.below(5)),
        .hash = {rng.next_u64(), rng.next_u64()},
        .last = any_reason(rng),
        .reference = SwapNumber{any(rng, key.n.value)},
        .chunks_held = *any_bytes(rng, rng.below(limits::chunk_bitmap_bytes_max + 1))};
}

}  // namespace

proto::Identity test_identity(std::uint8_t first) {
    return proto::Identity::from_seed(proto::SecretKey(std::array<std::uint8_t, 32>{first}));
}

std::vector<NamedMessage> fixed_messages(const PeerId& author) {
    const auto job = id_of<JobId>(0x11);
    const auto hash = id_of<BlobHash>(0x22);
    const Hash128 both{0x0123456789abcdef, 0x8877665544332211};
    const auto bytes = std::make_shared<const Bytes>(Bytes{1, 2, 3, 4, 5});
    const auto chunk_bytes = limits::chunk_bytes_max;
    return {
        {"ping", Ping{7}},
        {"pong", Pong{0x0123456789abcdef}},
        {"peer_records", PeerRecords{{made_here(author, fixed_record(author))}}},
        {"leave", Leave{"stopping"}},
        {"swap_open",
         SwapOpen{fixed_key(), Round{5}, CodecId::delta_q8, SwapNumber{999}, 0.5F, 0.3F}},
        {"swap_chunk", SwapChunk{fixed_key(), 2 * chunk_bytes, 2 * chunk_bytes + 5, bytes}},
        {"swap_ack", SwapAck{ByteCount{8'388'608}}},
        {"swap_ready", SwapReady{fixed_key(), both, SwapReason::norm}},
        {"swap_close", SwapClose{fixed_key(), SwapReason::none}},
        {"swap_state",
         SwapState{
             fixed_key(), SwapStage::ready, both, SwapReason::busy, SwapNumber{999}, {0xff, 0x07}}},
        {"push",
         Push{fixed_key(), PushKind::sum, CodecId::bf16, 0.375, hash, ByteCount{1'330'000}}},
        {"push_ack", PushAck{fixed_key(), SwapReason::ascent}},
        {"job_announcement", made_here(author, JobAnnouncement{job, "mnist-mlp", ByteCount{812}})},
        {"job_report", made_here(author, fixed_report())},
        {"job_control", made_here(author, JobControl{job, JobControl::Action::stop})},
        {"job_end", made_here(author, JobEnd{job, EndReason::total, SampleCount{600'000}})},
        {"final", made_here(author, Final{job, hash, ByteCount{1'330'000}, SampleCount{600'123}})},
        {"state_request", StateRequest{job}},
        {"state_offer",
         StateOffer{
             job, hash, ByteCount{2'660'000}, std::chrono::seconds{2}, SampleCount{300'000}}},
        {"blob_request", BlobRequest{hash, 65'000}},
        {"blob_chunk", BlobChunk{hash, 65'000, 65'005, bytes}},
        {"report_wish", ReportWish{job, ReportRoute::want, {author}}},
    };
}

Message random_message(Rng& rng, const PeerId& author) {
    switch (rng.below(std::variant_size_v<Message>)) {
        case 0: return Ping{any(rng, UINT64_MAX)};
        case 1: return Pong{any(rng, UINT64_MAX)};
        case 2: {
            PeerRecords message;
            message.records.resize(rng.below(5));
            for (auto& record : message.records) {
                record = made_here(author, any_record(rng, author));
            }
            return message;
        }
        case 3: return Leave{any_name(rng)};
        case 4: return any_open(rng);
        case 5: return any_swap_chunk(rng);
        case 6: return SwapAck{ByteCount{any(rng, limits::count_mesh_max)}};
        case 7: return SwapReady{any_key(rng), {rng.next_u64(), rng.next_u64()}, any_reason(rng)};
        case 8: return SwapClose{any_key(rng), any_reason(rng)};
        case 9: return any_state(rng);
        case 10: return any_push(rng);
        case 11: return PushAck{any_key(rng), any_reason(rng)};
        case 12: {
            const ByteCount size{1 + any(rng, limits::job_spec_bytes_max - 1)};
            return made_here(author, JobAnnouncement{any_id<JobId>(rng), any_name(rng), size});
        }
        case 13: return made_here(author, any_report(rng));
        case 14: return made_here(author, JobControl{any_id<JobId>(rng)});
        case 15: {
            const auto reason = static_cast<EndReason>(1 + rng.below(3));
            return made_here(author, JobEnd{any_id<JobId>(rng), reason, any_progress(rng)});
        }
        case 16: {
            const ByteCount size{1 + any(rng, limits::blob_bytes_max - 1)};
            return made_here(
                author, Final{any_id<JobId>(rng), any_id<BlobHash>(rng), size, any_progress(rng)});
        }
        case 17: return StateRequest{any_id<JobId>(rng)};
        case 18:
            return StateOffer{
                any_id<JobId>(rng),
                any_id<BlobHash>(rng),
                ByteCount{any(rng, limits::blob_bytes_max)},
                any_duration(rng, limits::busy_max),
                any_progress(rng)};
        case 19: return BlobRequest{any_id<BlobHash>(rng), any(rng, limits::blob_bytes_max)};
        case 20: return any_blob_chunk(rng);
        default: {
            ReportWish wish{any_id<JobId>(rng), static_cast<ReportRoute>(1 + rng.below(3)), {}};
            wish.authors.resize(1 + rng.below(limits::wish_authors_max));
            for (PeerId& each : wish.authors)
                each = any_id<PeerId>(rng);
            return wish;
        }
    }
}

bool is_bulk(const Message& message) {
    return std::holds_alternative<SwapChunk>(message) || std::holds_alternative<BlobChunk>(message);
}

Bytes encoded(const Message& message, const proto::Identity& self) {
    Bytes frame;
    const Bytes* body = nullptr;
    if (const auto* chunk = std::get_if<SwapChunk>(&message)) {
        frame = proto::encode_swap_chunk_header(chunk->key, chunk->offset, chunk->total);
        body = chunk->bytes.get();
    } else if (const auto* blob = std::get_if<BlobChunk>(&message)) {
        frame = proto::encode_blob_chunk_header(blob->hash, blob->offset, blob->total);
        body = blob->bytes.get();
    } else {
        return proto::encode_control(message, self);
    }
    frame.insert(frame.end(), body->begin(), body->end());
    return frame;
}

Result<Message> decoded(bool as_bulk, ByteView bytes) {
    return as_bulk ? proto::decode_bulk(bytes) : proto::decode_control(bytes);
}

}  // namespace p2p::tests
