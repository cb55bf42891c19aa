#include "tools/sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace p2p::sim {

using core::Duration;
using core::TimePoint;

namespace {

constexpr std::size_t pieces_in_pipes_max = 2;  // a session's
constexpr Duration queue_max = std::chrono::milliseconds{50};
constexpr double segment_bytes = 1448;

Duration seconds(double value) {
    return core::from_seconds(value);
}

}  // namespace

Network::Network(
    EventHeap& heap, const Stage& stage, std::vector<std::size_t> site_of, core::Rng rng)
    : heap_(heap),
      stage_(stage),
      site_of_(std::move(site_of)),
      rng_(rng),
      bytes_sent_(site_of_.size()),
      clogs_out_(stage.sites.size()),
      clogs_in_(stage.sites.size()) {
    for (const std::size_t site : site_of_) {
        pipes_.push_back({.bytes_per_second = stage_.sites[site].inside_bytes_per_second});
        pipes_.push_back({.bytes_per_second = stage_.sites[site].inside_bytes_per_second});
    }
    for (const Site& site : stage_.sites) {
        pipes_.push_back({.bytes_per_second = site.up_bytes_per_second});
        pipes_.push_back({.bytes_per_second = site.down_bytes_per_second});
    }
}

std::vector<std::size_t> Network::path(std::size_t from, std::size_t to) const {
    const std::size_t sites = 2 * site_of_.size();
    if (site_of_[from] == site_of_[to]) return {2 * from, 2 * to + 1};
    return {2 * from, sites + 2 * site_of_[from], sites + 2 * site_of_[to] + 1, 2 * to + 1};
}

const Between& Network::between(std::size_t from, std::size_t to) const {
    return stage_.between(site_of_[from], site_of_[to]);
}

Duration Network::round_trip(std::size_t a, std::size_t b) const {
    return between(a, b).round_trip;
}

Duration Network::delay(std::size_t from, std::size_t to) {
    const Between& wire = between(from, to);
    Duration delay = wire.round_trip / 2;
    if (wire.jitter > Duration::zero()) {
        delay += seconds(core::to_seconds(wire.jitter) * rng_.uniform());
    }
    return delay;
}

double Network::session_rate(std::size_t from, std::size_t to) const {
    const Between& wire = between(from, to);
    if (wire.loss_ratio <= 0) return std::numeric_limits<double>::infinity();
    return segment_bytes / core::to_seconds(wire.round_trip) * std::sqrt(1.5 / wire.loss_ratio);
}

double Network::seconds_alone(std::size_t from, std::size_t to, double bytes) const {
    double slowest = session_rate(from, to);
    for (const std::size_t index : path(from, to))
        slowest = std::min(slowest, pipes_[index].bytes_per_second);
    return bytes / slowest;
}

void Network::send_word(std::size_t from, std::size_t to, double bytes, Act delivered) {
    Direction& direction = directions_[{from, to}];
    if (is_clogged(from, to)) {
        direction.held.push_back({.bytes = bytes, .delivered = std::move(delivered)});
        return;
    }
    bytes_sent_[from] += bytes;
    TimePoint at = heap_.now;
    for (const std::size_t index : path(from, to)) {
        Pipe& pipe = pipes_[index];
        const Duration took = seconds(bytes / pipe.bytes_per_second);
        at += std::clamp(pipe.free_at - at, Duration::zero(), queue_max) + took;
        pipe.free_at = std::max(pipe.free_at, heap_.now) + took;
    }
    at += delay(from, to);
    const Between& wire = between(from, to);
    while (wire.loss_ratio > 0 && rng_.uniform() < wire.loss_ratio)
        at += wire.round_trip;
    at = std::max(at, direction.last_word_at);
    direction.last_word_at = at;
    if (delivered) heap_.at(at, std::move(delivered));
}

void Network::send_bulk(std::size_t from, std::size_t to, double bytes, Act left, Act delivered) {
    directions_[{from, to}].waiting.push_back(
        {.bytes = bytes, .left = std::move(left), .delivered = std::move(delivered)});
    pump({from, to});
}

bool Network::is_clogged(std::size_t from, std::size_t to) const {
    const std::size_t a = site_of_[from];
    const std::size_t b = site_of_[to];
    return a != b && (clogs_out_[a] > 0 || clogs_in_[b] > 0);
}

void Network::clog(std::size_t site, Way way) {
    if (way != Way::in) ++clogs_out_[site];
    if (way != Way::out) ++clogs_in_[site];
}

void Network::unclog(std::size_t site, Way way) {
    if (way != Way::in) --clogs_out_[site];
    if (way != Way::out) --clogs_in_[site];
    for (auto& [pair, direction] : directions_) {
        if (site_of_[pair.first] != site && site_of_[pair.second] != site) continue;
        const Duration late = round_trip(pair.first, pair.second);
        const auto again = [this, pair = pair, epoch = direction.epoch] {
            Direction& mine = directions_[pair];
            if (mine.epoch != epoch) return;
            for (Word& word : std::exchange(mine.held, {}))
                send_word(pair.first, pair.second, word.bytes, std::move(word.delivered));
            pump(pair);
        };
        heap_.after(late, again);
    }
}

void Network::drop_queue(std::size_t from, std::size_t to) {
    Direction& direction = directions_[{from, to}];
    direction.waiting.clear();
    direction.held.clear();
    direction.in_pipes = 0;
    ++direction.epoch;
}

/// A piece runs through all pipes of its path without being stored whole in between; each pipe is
/// taken for as long as the piece takes there.
void Network::pump(Pair pair) {
    if (is_clogged(pair.first, pair.second) || is_clogged(pair.second, pair.first)) return;
    Direction& direction = directions_[pair];
    while (direction.in_pipes < pieces_in_pipes_max && !direction.waiting.empty()) {
        Piece piece = std::move(direction.waiting.front());
        direction.waiting.pop_front();
        ++direction.in_pipes;
        bytes_sent_[pair.first] += piece.bytes;

        TimePoint begin = std::max(heap_.now, direction.free_at);
        TimePoint end = begin + seconds(piece.bytes / session_rate(pair.first, pair.second));
        direction.free_at = end;
        for (const std::size_t index : path(pair.first, pair.second)) {
            Pipe& pipe = pipes_[index];
            begin = std::max(begin, pipe.free_at);
            pipe.free_at = begin + seconds(piece.bytes / pipe.bytes_per_second);
            end = std::max(end, pipe.free_at);
        }
        heap_.at(end, [this, pair, epoch = direction.epoch, left = std::move(piece.left)] {
            Direction& mine = directions_[pair];
            if (mine.epoch != epoch) return;
            --mine.in_pipes;
            left();
            pump(pair);
        });
        heap_.at(end + delay(pair.first, pair.second), std::move(piece.delivered));
    }
}

}  // namespace p2p::sim
