#pragma once

// The arithmetic of one edge: what this end and the other made of each other's shard.
//
// One EdgeCodec belongs to (peer, job, shard). It turns a snapshot into bytes and both ends' bytes
// into the values that both rebuild, equal to the bit, and from these into the displacement
// (MIXING.md, "One primitive"). It decides nothing: when a swap opens, whether it is applied, and
// whether the other end agrees is the business of mixing/swap.
//
// The order of calls; encode and decode come in either order, on the same coding:
//
//   encode --+                        +--> commit     the swap was applied: references move
//            +--> stats, swap_hash, --+
//   decode --+    displacement        +--> abandon    it was not: references stay
//                                     +--> reset      it was not: back to a keyframe
//
// abandon() and reset() may come at any time. Under modulo, encode comes before decode, which
// rebuilds near the own snapshot. Memory: between swaps nothing, but for two references under a
// delta and one float a block of 4096 under modulo; within a swap two rebuilt values more, and
// under modulo the own snapshot.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/codec_id.hpp"
#include "core/base/hash128.hpp"
#include "core/base/result.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/form_modulo.hpp"
#include "core/codec/kernel_table.hpp"
#include "core/codec/theta.hpp"

namespace p2p::core {

struct EncodeResult {
    std::shared_ptr<const Bytes> bytes;  ///< null where not finite: there is nothing to send
    bool finite = true;                  ///< snapshot and rebuilt value hold no NaN, no infinity
    /// 1 - |s - rebuilt|^2 / |s - reference|^2 in [0,1]: the share of the energy to be told that
    /// the coding kept. The reference is 0 for a keyframe and where there is none.
    double kept_ratio = 1;
};

/// Of the two rebuilt values; both ends get the same doubles, with own and remote exchanged.
struct SwapStats {
    double distance = 0;            ///< L2 norm of own - remote
    double own_norm = 0;            ///< L2
    double remote_norm = 0;         ///< L2
    bool finite = true;             ///< neither value holds a NaN or an infinity
    float remote_theta_factor = 0;  ///< of the other end's modulo; 0 where it was none

    bool operator==(const SwapStats&) const = default;
};

class EdgeCodec {
  public:
    /// `self_is_low`: the own PeerId is the smaller one. `kernels` must outlive this.
    EdgeCodec(std::size_t floats, bool self_is_low, const Kernels& kernels);

    EdgeCodec(const EdgeCodec&) = delete;
    EdgeCodec& operator=(const EdgeCodec&) = delete;
    EdgeCodec(EdgeCodec&&) = default;
    EdgeCodec& operator=(EdgeCodec&&) = default;
    ~EdgeCodec() = default;

    /// Encodes the own snapshot and keeps what the other end will rebuild. Where the result is not
    /// finite nothing is kept. `seed` draws the rounding of q8 and q4, `theta_factor` is modulo's.
    /// @pre `snapshot` has the shard's size, nothing is encoded yet in this swap, and without a
    /// keyframe can_continue(codec)
    [[nodiscard]] EncodeResult encode(
        FloatView snapshot,
        CodecId codec,
        bool keyframe,
        std::uint64_t seed,
        float theta_factor = theta_factor_min);

    /// Both references are `initial` from now on, as after a keyframe that told it to both ends.
    /// @pre `initial` has the shard's size, and no swap is open
    void start_from(FloatView initial);

    /// Rebuilds the other end's value. Errors: as of core/codec/codec decode(); conflict where what
    /// it builds on is missing (references, spreads, under modulo the own value); forged where
    /// theta was exceeded (is_theta_exceeded). They change nothing.
    /// @pre nothing is decoded yet in this swap
    Status decode(ByteView bytes, CodecId codec, bool keyframe);

    /// Both values of the open swap are there.
    [[nodiscard]] bool is_complete() const;

    /// Two references are held, as large as the shard.
    [[nodiscard]] bool has_references() const;

    /// The next swap under `codec` need not be a keyframe.
    [[nodiscard]] bool can_continue(CodecId codec) const;

    /// @pre is_complete()
    [[nodiscard]] SwapStats stats() const;

    /// Stands for all bytes that both ends have sent since the keyframe, this swap's included;
    /// equal at both ends where they saw the same. @pre is_complete()
    [[nodiscard]] Hash128 swap_hash() const;

    /// out = weight * (remote - own): what this end adds to its parameters. With the same weight,
    /// the other end's is the exact negative. @pre is_complete(), `out` has the shard's size
    void displacement(float weight, MutableFloatView out) const;

    /// The swap was applied: under a delta, the rebuilt values become the references, under modulo
    /// the spreads are those now seen, and the chain of hashes moves on; under other codecs all is
    /// dropped. @pre is_complete()
    void commit();

    /// Forgets the open swap; what was held before it stays.
    void abandon();

    /// Forgets the open swap, references, spreads and chain: the next swap is a keyframe.
    void reset();

  private:
    /// What one end said in the open swap.
    struct Side {
        Coding coding;
        std::vector<float> rebuilt;
        Hash128 hash{};                 ///< of the bytes
        float theta_factor = 0;         ///< of modulo
        std::vector<float> snapshot{};  ///< the own one under modulo, else empty
    };

    /// What both ends hold since the last commit under a codec that has keyframes.
    struct History {
        std::vector<float> own;     ///< reference of a delta, else empty
        std::vector<float> remote;  ///< the same
        Spreads spreads;            ///< of modulo, else empty
        Hash128 chain;
    };

    [[nodiscard]] double encode_slices(FloatView snapshot, Bytes& bytes, Side& side, double& told);
    [[nodiscard]] Status rebuild(ByteView bytes, Side& side) const;
    [[nodiscard]] ModuloBase modulo_base() const;
    void measure_spreads();
    void rebuild_slice(
        ByteView encoding, FloatView reference, std::size_t first, MutableFloatView rebuilt) const;

    std::size_t floats_;
    bool self_is_low_;
    const Kernels* kernels_;
    std::optional<Side> own_;
    std::optional<Side> remote_;
    std::optional<History> history_;
    Spreads next_spreads_;  // under modulo, once the open swap is complete
};

/// What decode() says where a digest differs: the two ends were further apart than theta.
[[nodiscard]] bool is_theta_exceeded(const Status& status);

}  // namespace p2p::core
