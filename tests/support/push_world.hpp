#pragma once

// Pushers and the arithmetic of pushes by the handful, without the rest of a Node: words and blobs
// take a drawn time, links break, replicas are a few floats.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/overload.hpp"
#include "core/base/rng.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/hash.hpp"
#include "core/codec/kernels.hpp"
#include "core/mixing/pusher.hpp"
#include "core/node/push_values.hpp"

namespace p2p::test {

struct PushWorldOptions {
    std::uint64_t seed = 1;
    core::Recipe recipe;
    std::size_t nodes = 4;
    std::uint64_t floats = 600;
    double step_noise = 0;  ///< what a step adds to each parameter
};

class PushWorld {
  public:
    explicit PushWorld(PushWorldOptions options);

    /// One step on every node, then up to so many events.
    void step_all();
    void run_events(std::size_t count);

    /// Until nothing is under way any more.
    void drain();

    void break_link(std::size_t a, std::size_t b);
    void mend_link(std::size_t a, std::size_t b);
    void stop(std::size_t node);

    /// Sum over the nodes of push-sum weight x replica, and of the weights.
    [[nodiscard]] std::vector<double> weighted_sum() const;
    [[nodiscard]] double weights() const;
    /// Largest difference between two replicas in one parameter.
    [[nodiscard]] double spread() const;

    [[nodiscard]] core::StepCount limit(std::size_t node) const { return nodes_[node].limit; }

    std::vector<core::SwapEnded> ended;
    std::vector<core::SwapOffence> offences;
    std::size_t blobs_sent = 0;

    struct Node {
        std::unique_ptr<core::Pusher> pusher;
        std::map<core::ShardIndex, core::PushValues> values_of;
        std::vector<float> replica;
        std::map<core::BlobHash, core::Bytes> blobs;
        core::StepCount steps;
        core::StepCount limit{1'000'000'000};
        core::Rng rng{0};
    };

    [[nodiscard]] Node& node(std::size_t i) { return nodes_[i]; }

    [[nodiscard]] static core::PeerId id(std::size_t i);

  private:
    using Event = std::function<void()>;

    void later(Event event);
    void carry(std::size_t from, core::MixingOutputs& out);
    void deliver(
        std::size_t from,
        std::size_t to,
        const std::function<void(Node&, core::MixingOutputs&)>& act);
    void fetch(std::size_t node, const core::WantsBlob& wants);
    void work(std::size_t node, const core::EncodePush& order);
    void work(std::size_t node, const core::AbsorbPush& order);
    [[nodiscard]] bool is_cut(std::size_t a, std::size_t b) const;

    [[nodiscard]] static std::size_t index_of(core::PeerId peer) { return peer.bytes[0] - 1U; }

    PushWorldOptions options_;
    core::Rng rng_;
    core::TimePoint now_{};
    std::vector<Node> nodes_;
    std::multimap<core::TimePoint, Event> events_;
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> sessions_;
    std::map<std::pair<std::size_t, std::size_t>, core::TimePoint> arrived_;  // the last, by link
    std::set<std::pair<std::size_t, std::size_t>> cut_;
};

}  // namespace p2p::test
