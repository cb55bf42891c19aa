#pragma once

// The edge swap: how two neighbours mix one shard (design: MIXING, "One primitive").
//
// An Edge is one end of it: one shard of one job on the link to one peer, with its swaps numbered
// n = 1, 2, ... for this pair of incarnations, one open at a time. It decides nothing about when
// and with whom (core/mixing/mixer does) and touches no value (its orders are carried out
// elsewhere).
//
//   idle --open--> opening --peer's open--> agreed --encode--> encoding --+
//     ^              ^ answer                                             |
//     |           asked (the peer has opened, this end has not)           v
//     |                                                              exchanging
//     |                                                                   | both values here
//   closing <--applied-- applying <--both ok, equal hashes-- ready <-- decoding
//     ^                                                        |
//     +------------------------ refused -----------------------+
//
// What holds, and is tested: an end applies only after it has sent and received ok with equal
// hashes, or has learnt that the other end applied; so either both apply, or neither, or the swap
// is buried and told. A broken connection changes nothing: on the next one both ends state where
// they stand and send again what is missing.

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/time.hpp"
#include "core/mixing/chunk_map.hpp"
#include "core/mixing/guard.hpp"
#include "core/mixing/output.hpp"
#include "core/mixing/step_size.hpp"
#include "core/mixing/theta_factor.hpp"

namespace p2p::core {

/// Exact size of an encoded shard: codec, floats, keyframe -> bytes. (core/codec knows.)
using EncodedBytes = std::uint64_t (*)(CodecId codec, std::size_t floats, bool keyframe);

struct EdgeSpec {
    EdgeKey key;
    bool self_is_low = false;  ///< own PeerId < key.peer
    ShardRange range;
    GuardSpec guard;
    EncodedBytes encoded_bytes = nullptr;
    std::uint64_t seed = 0;      ///< of stochastic rounding on this edge
    bool knows_initial = false;  ///< the job's first parameters can be had at either end
};

/// What an end offers when it opens or answers.
struct SwapTerms {
    float share = 0;
    CodecId codec = CodecId::fp32;
    Round round;            ///< 0: the recipe has none
    bool of_round = false;  ///< from the round's snapshot, which it moves
};

enum class SwapPhase : std::uint8_t {
    idle,        ///< n is not open
    opening,     ///< own open sent, the peer's not seen
    asked,       ///< the peer's open seen, own not sent
    agreed,      ///< both opens known; waits for room on the link before it takes its snapshot
    encoding,    ///< the snapshot is taken and encoded
    exchanging,  ///< own chunks go out, the peer's come in
    decoding,    ///< the peer's value is rebuilt and both are measured
    ready,       ///< own SwapReady(ok) sent; waits for the peer's
    applying,    ///< both ok; the displacement goes into the live parameters
    closing,     ///< own SwapClose sent; waits for the peer's
};

class Edge {
  public:
    explicit Edge(EdgeSpec spec)
        : spec_(spec),
          reference_(spec.knows_initial ? initial_reference : SwapNumber{0}) {}

    // What is.
    [[nodiscard]] const EdgeKey& key() const { return spec_.key; }

    [[nodiscard]] SwapPhase phase() const { return phase_; }

    [[nodiscard]] bool is_idle() const { return phase_ == SwapPhase::idle; }

    [[nodiscard]] bool is_open() const { return own_open_.has_value(); }

    [[nodiscard]] SwapNumber n() const { return n_; }

    [[nodiscard]] bool was_opened_here() const { return opened_first_here_; }

    [[nodiscard]] std::optional<TimePoint> opened_at() const { return opened_at_; }

    [[nodiscard]] const std::optional<SwapOpen>& peer_open() const { return peer_open_; }

    [[nodiscard]] bool wants_encode() const {
        return is_linked_ && phase_ == SwapPhase::agreed && !busy_;
    }

    [[nodiscard]] bool has_chunk_to_send() const;

    [[nodiscard]] bool has_work_under_way() const { return busy_; }

    /// Part of the budget that this edge holds now.
    [[nodiscard]] float share_taken() const;

    // What the mixer tells it to do.
    /// Opens n, or answers the peer's open of n. @pre phase is idle or asked
    void open(TimePoint now, const SwapTerms& terms, MixingOutputs& out);
    /// Answers the peer's open of n by a close: n is settled. @pre phase is asked
    void decline(TimePoint now, SwapReason why, MixingOutputs& out);
    /// Takes back the own open, or the answer to the peer's. @pre phase is agreed
    void withdraw(TimePoint now, SwapReason why, MixingOutputs& out);
    /// Takes the snapshot and encodes it. @pre wants_encode()
    void encode(MixingOutputs& out);

    /// The next piece of the own value that the peer lacks. @pre has_chunk_to_send()
    struct Piece {
        std::uint64_t offset;
        std::uint32_t length;
        std::uint64_t total;
    };

    [[nodiscard]] Piece take_chunk();
    /// Gives up on what is open; what cannot be undone goes into the ledger.
    void bury(TimePoint now, MixingOutputs& out);
    /// The peer has a new incarnation: swap and references are void, n starts again.
    void reset(TimePoint now, MixingOutputs& out);

    // What has happened.
    void on_linked(TimePoint now, MixingOutputs& out);

    void on_unlinked();

    void on_open(TimePoint now, const SwapOpen& open, MixingOutputs& out);
    void on_chunk(const SwapChunk& chunk, MixingOutputs& out);
    void on_ready(TimePoint now, const SwapReady& ready, MixingOutputs& out);
    void on_close(TimePoint now, const SwapClose& close, MixingOutputs& out);
    void on_state(TimePoint now, const SwapState& state, MixingOutputs& out);
    void on_encoded(TimePoint now, const Encoded& encoded, MixingOutputs& out);
    void on_decoded(TimePoint now, const Decoded& decoded, MixingOutputs& out);
    void on_applied(TimePoint now, const Applied& applied, MixingOutputs& out);
    /// The work could not be done: this end refuses.
    void on_work_failed(TimePoint now, MixingOutputs& out);

  private:
    struct Agreement {
        CodecId codec;
        bool keyframe;
        bool from_initial;
        float gamma;
        float weight;
        std::uint64_t bytes;
    };

    [[nodiscard]] Agreement agreement() const;
    void forget_references(SwapReason why);
    [[nodiscard]] CodecId common_codec(CodecId one, CodecId other, std::uint64_t floats) const;
    void agree(MixingOutputs& out);
    void begin_decoding_when_complete(MixingOutputs& out);
    void apply_when_agreed(TimePoint now, MixingOutputs& out);
    void start_apply(MixingOutputs& out);
    void refuse(TimePoint now, SwapReason why, MixingOutputs& out);
    void close(TimePoint now, SwapReason why, MixingOutputs& out);
    void settle_when_closed(TimePoint now, MixingOutputs& out);
    void settle(TimePoint now, SwapReason why, MixingOutputs& out);
    void note_burial(MixingOutputs& out) const;
    void realign(TimePoint now, SwapNumber next, MixingOutputs& out);
    void on_peer_ahead(TimePoint now, const SwapState& state, MixingOutputs& out);
    void resend(const SwapState& state, MixingOutputs& out);
    void say_again(MixingOutputs& out) const;
    void forget_swap();
    [[nodiscard]] bool take_result(TimePoint now, MixingOutputs& out);
    void offend(std::string what, MixingOutputs& out) const;
    [[nodiscard]] SwapState state() const;

    [[nodiscard]] SwapKey swap_key() const { return {spec_.key.job, spec_.key.shard, n_}; }

    [[nodiscard]] bool has_sent_ok() const { return own_ready_ && own_ready_->is_ok(); }

    template <typename Word>
    void say(Word word, MixingOutputs& out) const {
        if (is_linked_)
            out.emplace_back(SwapSend{.to = spec_.key.peer, .message = std::move(word)});
    }

    template <typename Order>
    void ask(Order order, MixingOutputs& out) {
        busy_ = true;
        out.emplace_back(SwapOrder{std::move(order)});
    }

    EdgeSpec spec_;
    std::map<CodecId, StepSize> step_sizes_;
    ThetaFactor theta_factor_;
    SwapNumber n_{1};
    SwapNumber reference_;                // n up to which the own references stand
    SwapReason last_ = SwapReason::none;  // how n - 1 ended here
    bool is_linked_ = false;
    bool has_answered_ = false;  // a SwapState of the peer, on this session
    std::optional<SwapState> state_unheard_;
    bool busy_ = false;             // a piece of work is under way
    bool is_result_stale_ = false;  // ... and its result belongs to an earlier incarnation

    // Of swap n.
    SwapPhase phase_ = SwapPhase::idle;
    bool opened_first_here_ = false;
    bool of_round_ = false;
    std::optional<TimePoint> opened_at_;
    std::optional<SwapOpen> own_open_;
    std::optional<SwapOpen> peer_open_;
    ChunkMap own_chunks_;  // of the own value: what the peer has been sent
    std::uint64_t next_chunk_ = 0;
    ChunkMap peer_chunks_;  // of the peer's value: what has come
    bool is_encoded_ = false;
    bool has_values_ = false;  // something was encoded or stored for n
    bool is_applied_ = false;
    double distance_ = 0;
    double own_norm_ = 0;
    double remote_norm_ = 0;
    double displacement_norm_ = 0;
    float peer_theta_factor_ = 0;
    std::optional<SwapReady> own_ready_;
    std::optional<SwapReady> peer_ready_;
    std::optional<SwapReason> own_close_;
    std::optional<SwapReason> peer_close_;
    std::optional<SwapReason> refusal_pending_;  // waits for the work under way
    std::optional<SwapOpen> next_open_;          // the peer's of n + 1, come before n was settled
};

}  // namespace p2p::core
