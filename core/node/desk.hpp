#pragma once

// The hall's desk: where rooms' wishes become effects. Who is connected, which tickets are out,
// which blobs are held, how much bulk each link may still take.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "core/node/effect.hpp"

namespace p2p::core {

/// What a piece of work was asked for.
enum class Purpose : std::uint8_t {
    swap,
    push,
    outer,
    read_spec,
    evaluate,
    sketch,
    freeze_final,
    recall_final,
    freeze_for_joiner,
    check_final,
    check_state,
    adopt_final,
    adopt_state,
    none,  ///< no answer comes
};

struct PendingWork {
    JobId job;
    Purpose purpose = Purpose::none;
    EdgeKey edge;  ///< of `swap`; of `push` its shard
};

/// Flow control of bulk on the link to one peer (design: WIRE, Frames).
class BulkLane {
  public:
    void on_writable(std::size_t bytes) { room_ = bytes; }

    void on_ack(ByteCount received) { acknowledged_ = std::max(acknowledged_, received); }

    [[nodiscard]] bool has_room() const {
        const std::uint64_t unacknowledged = sent_.value - std::min(sent_, acknowledged_).value;
        return room_ > 0
               && unacknowledged + limits::chunk_bytes_max <= limits::unacknowledged_bulk_bytes_max;
    }

    void on_sent(std::size_t bytes) {
        sent_ += ByteCount{bytes};
        room_ -= std::min(room_, bytes);
    }

    /// True where an acknowledgement is due.
    [[nodiscard]] bool on_received(std::size_t bytes) {
        received_ += ByteCount{bytes};
        if (received_.value - told_.value < ack_bytes) return false;
        told_ = received_;
        return true;
    }

    [[nodiscard]] ByteCount sent() const { return sent_; }

    [[nodiscard]] ByteCount received() const { return received_; }

    struct OutgoingBlob {
        BlobHash hash;
        std::uint64_t offset = 0;
        std::uint64_t total = 0;
    };

    std::deque<OutgoingBlob> blobs;  ///< to send when no swap has anything to say

  private:
    static constexpr std::uint64_t ack_bytes = 512 * kib;

    std::size_t room_ = 0;
    ByteCount sent_;
    ByteCount acknowledged_;
    ByteCount received_;
    ByteCount told_;
};

class Desk {
  public:
    explicit Desk(PeerId self)
        : self_(self) {}

    [[nodiscard]] PeerId self() const { return self_; }

    void send(PeerId to, Message message, Effects& effects) const {
        if (lanes_.contains(to))
            effects.emplace_back(Send{.to = to, .message = std::move(message)});
    }

    void set_site(PeerId peer, const std::string& site) { sites_[peer] = site; }

    /// Empty where it is not known.
    [[nodiscard]] std::string site_of(PeerId peer) const {
        const auto found = sites_.find(peer);
        return found == sites_.end() ? std::string{} : found->second;
    }

    /// To every connected peer but `except`.
    void broadcast(const Message& message, std::optional<PeerId> except, Effects& effects) const {
        for (const auto& [peer, lane] : lanes_) {
            if (peer != except) effects.emplace_back(Send{.to = peer, .message = message});
        }
    }

    void order(PendingWork pending, WorkOrder order, Effects& effects) {
        const Ticket ticket = ++last_ticket_;
        if (pending.purpose != Purpose::none) pending_.emplace(ticket, pending);
        effects.emplace_back(Work{.ticket = ticket, .order = std::move(order)});
    }

    [[nodiscard]] std::optional<PendingWork> take_pending(Ticket ticket) {
        const auto found = pending_.find(ticket);
        if (found == pending_.end()) return std::nullopt;
        const PendingWork pending = found->second;
        pending_.erase(found);
        return pending;
    }

    /// What a removed job had asked for is not answered, not even where it is taken up again.
    void forget_work(JobId job) {
        std::erase_if(pending_, [&](const auto& each) { return each.second.job == job; });
    }

    void on_connected(PeerId peer) { lanes_.insert_or_assign(peer, BulkLane()); }

    void on_disconnected(PeerId peer) { lanes_.erase(peer); }

    /// The answer for a blob that is not held (any more): a piece of nothing.
    void send_no_blob(PeerId to, const BlobHash& hash, Effects& effects) const {
        effects.emplace_back(SendBlob{.to = to, .hash = hash, .offset = 0, .length = 0});
    }

    /// From where it was asked for; a request made again begins anew. False where the blob is not
    /// held, or so much of it.
    bool send_blob(PeerId to, const BlobRequest& request) {
        BulkLane* lane = this->lane(to);
        const auto held = blobs.find(request.hash);
        if (lane == nullptr || held == blobs.end() || request.offset >= held->second) return false;
        std::erase_if(lane->blobs, [&](const auto& each) { return each.hash == request.hash; });
        if (lane->blobs.size() >= blobs_queued_max) return true;
        lane->blobs.push_back(
            {.hash = request.hash, .offset = request.offset, .total = held->second});
        wants_room.insert(to);
        return true;
    }

    /// Whether a blob is on its way to somebody.
    [[nodiscard]] bool is_sending(const BlobHash& hash) const {
        for (const auto& [peer, lane] : lanes_) {
            for (const BulkLane::OutgoingBlob& blob : lane.blobs)
                if (blob.hash == hash) return true;
        }
        return false;
    }

    [[nodiscard]] bool is_connected(PeerId peer) const { return lanes_.contains(peer); }

    [[nodiscard]] BulkLane* lane(PeerId peer) {
        const auto found = lanes_.find(peer);
        return found == lanes_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] const std::map<PeerId, BulkLane>& lanes() const { return lanes_; }

    /// Blobs that can be served, with their sizes.
    std::map<BlobHash, std::uint64_t> blobs;

    /// Links whose bulk should be looked at again at the end of this event.
    std::set<PeerId> wants_room;

    /// Peers that broke the protocol within this event.
    std::vector<std::pair<PeerId, Error>> offenders;

  private:
    static constexpr std::size_t blobs_queued_max = 16;

    PeerId self_;
    std::map<PeerId, std::string> sites_;
    std::map<PeerId, BulkLane> lanes_;  // of connected peers
    std::map<Ticket, PendingWork> pending_;
    Ticket last_ticket_;
};

}  // namespace p2p::core
