#include "tools/sim/byte_links.hpp"

#include <algorithm>
#include <optional>

#include "core/base/overload.hpp"
#include "proto/decode.hpp"
#include "proto/encode.hpp"

namespace p2p::sim {

using core::Bytes;
using core::Error;
using core::ErrorCode;
using core::Message;
using core::Result;
using core::Status;
using proto::Session;

namespace {

constexpr std::uint64_t stream_identities = 0x6964;
constexpr std::uint64_t stream_cuts = 0x637574;
constexpr std::size_t cut_bytes_max = 4096;
constexpr int greetings_max = 16;

proto::SecretKey draw_key(core::Rng& rng) {
    proto::SecretKey key;
    for (std::uint8_t& byte : key.view())
        byte = static_cast<std::uint8_t>(rng.below(256));
    return key;
}

proto::SessionConfig session_config() {
    proto::SessionConfig config;
    config.network.bytes[0] = 1;
    config.hello.incarnation = core::Incarnation{1};
    return config;
}

/// As a frame of bulk, where it is one.
std::optional<proto::BulkPiece> as_bulk(const Message& message) {
    const auto piece = [](Bytes header, const std::shared_ptr<const Bytes>& body) {
        return proto::BulkPiece{
            .header = std::move(header), .body = body, .offset = 0, .length = body->size()};
    };
    if (const auto* chunk = std::get_if<core::SwapChunk>(&message)) {
        return piece(
            proto::encode_swap_chunk_header(chunk->key, chunk->offset, chunk->total), chunk->bytes);
    }
    if (const auto* chunk = std::get_if<core::BlobChunk>(&message)) {
        return piece(
            proto::encode_blob_chunk_header(chunk->hash, chunk->offset, chunk->total),
            chunk->bytes);
    }
    return std::nullopt;
}

Result<Message> read(const proto::SessionEvent& event) {
    if (const auto* control = std::get_if<proto::Control>(&event))
        return proto::decode_control(control->message);
    if (const auto* bulk = std::get_if<proto::Bulk>(&event)) return proto::decode_bulk(bulk->bytes);
    return Error{ErrorCode::conflict, "a session told of itself where a message was due", "", ""};
}

}  // namespace

std::vector<proto::Identity> draw_identities(std::uint64_t seed, std::size_t nodes) {
    core::Rng rng = core::Rng(seed).split(stream_identities);
    std::vector<proto::Identity> identities;
    identities.reserve(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
        identities.push_back(proto::Identity::from_seed(draw_key(rng)));
    return identities;
}

ByteLinks::ByteLinks(std::uint64_t seed, std::size_t nodes)
    : rng_(core::Rng(seed).split(stream_cuts)),
      identities_(draw_identities(seed, nodes)) {}

/// All that `from` has to say, in pieces of any size.
Status ByteLinks::carry(Session& from, Session& to) {
    while (from.has_output()) {
        const Bytes output = from.take_output();
        core::ByteView rest = output;
        while (!rest.empty()) {
            const std::size_t cut =
                std::min<std::size_t>(rest.size(), 1 + rng_.below(cut_bytes_max));
            if (Status fed = to.feed(rest.first(cut)); !fed) return fed;
            rest = rest.subspan(cut);
        }
    }
    return {};
}

Status ByteLinks::begin(std::size_t low, std::size_t high, Ends& ends) {
    auto dialled =
        Session::dial(session_config(), identities_[low], identities_[high].id(), draw_key(rng_));
    if (!dialled) return dialled.error();
    ends.low = std::make_unique<Session>(*std::move(dialled));
    ends.high = std::make_unique<Session>(
        Session::accept(session_config(), identities_[high], draw_key(rng_)));
    for (int i = 0; i < greetings_max; ++i) {
        if (Status said = carry(*ends.low, *ends.high); !said) return said;
        if (Status said = carry(*ends.high, *ends.low); !said) return said;
        if (!ends.low->is_established() || !ends.high->is_established()) continue;
        for (Session* session : {ends.low.get(), ends.high.get()})
            while (session->next_event()) {
            }
        return {};
    }
    return Error{ErrorCode::conflict, "two sessions never came to an end of greeting", "", ""};
}

Result<Message> ByteLinks::pass(
    std::size_t from, std::size_t to, std::uint64_t session, const Message& message) {
    const std::size_t low = std::min(from, to);
    Ends& ends = links_[{low, std::max(from, to)}];
    if (!ends.low || ends.session != session) {
        ends.session = session;
        if (Status begun = begin(low, std::max(from, to), ends); !begun) return begun.error();
    }
    Session& sender = from == low ? *ends.low : *ends.high;
    Session& receiver = from == low ? *ends.high : *ends.low;
    auto bulk = as_bulk(message);
    const Status queued =
        bulk ? sender.push_bulk(*std::move(bulk))
             : sender.push_control(proto::encode_control(message, identities_[from]));
    if (!queued) return queued.error();
    if (Status carried = carry(sender, receiver); !carried) return carried.error();
    const auto event = receiver.next_event();
    if (!event) return Error{ErrorCode::conflict, "a sealed message did not come out", "", ""};
    return read(*event);
}

}  // namespace p2p::sim
