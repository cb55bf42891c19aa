#pragma once

// What a training process and the daemon say to each other on tensor.sock: JSON, one line each.
//
//   attach  job, tensors [{name, shape}], set_samples?, keep?, spec? (TOML), and a memfd -> offer
//   step    samples, loss, batch_hash: a step was taken                           -> offer
//   wait    nothing was done; answered when there is something to do, or in a second -> offer
//   took    what the offer asked for has been done                               -> ok
//   detach  all parameters stand in the snapshot area; the client goes           -> ok
//
// An offer: add [[offset, floats]...] ranges of the displacement area to be added to the
// parameters; then take [[offset, floats]...] ranges of the parameters to be copied into the
// snapshot area; or replace: copy all parameters into the snapshot area, then take all from the
// displacement area. Where it asks for any of these, `took` comes next. Text and values only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/tensor.hpp"
#include "core/node/work.hpp"

namespace p2p::daemon {

struct AttachLine {
    std::string job;
    std::vector<core::TensorInfo> tensors;  ///< offsets filled in
    std::uint64_t set_samples = 0;          ///< 0: not told
    bool keep = false;                      ///< it comes back with live parameters of its own
    std::optional<std::string> spec;        ///< TOML, for a job that nobody has proposed yet
};

struct StepLine {
    std::uint64_t samples = 0;
    double loss = 0;  ///< 0 where it is not a number
    std::uint64_t batch_hash = 0;
};

struct WaitLine {};

struct TookLine {};

struct DetachLine {};

using TensorLine = std::variant<AttachLine, StepLine, WaitLine, TookLine, DetachLine>;

/// Errors: malformed, too_large, unsupported (an op that is none of these).
[[nodiscard]] core::Result<TensorLine> read_tensor_line(std::string_view text);

/// How a job stands, for the client.
enum class ClientState : std::uint8_t {
    running,    ///< go on with the next step
    held,       ///< the recipe waits for others: `wait` until it changes
    finishing,  ///< no step any more; `wait` until done
    done,       ///< the parameters are the final model
    gone,       ///< the job was dropped here; train on alone or stop
};

struct Offer {
    std::vector<core::ShardRange> add;
    std::vector<core::ShardRange> take;
    bool replace = false;
    ClientState state = ClientState::running;
    double lr_scale = 1;       ///< what the size of the mesh makes of the rate (schedule.scale)
    double learning_rate = 0;  ///< of the job's schedule, scale included
    double progress_ratio = 0;
    std::string reason;  ///< why nothing came; empty where something did

    /// The client has something to do, and says `took` when it has.
    [[nodiscard]] bool asks() const { return replace || !add.empty() || !take.empty(); }
};

/// What the answer to attach says besides the first offer.
struct AttachAnswer {
    std::uint64_t seed = 0;
    core::PeerId peer;
    std::uint32_t batch_size = 0;
    std::uint64_t steps = 0;  ///< taken up
    std::uint64_t samples = 0;
};

// All end with a line feed.
[[nodiscard]] std::string offer_line(const Offer& offer);
[[nodiscard]] std::string attached_line(const AttachAnswer& answer, const Offer& offer);
[[nodiscard]] std::string ok_line();
[[nodiscard]] std::string error_line(const core::Error& error);

}  // namespace p2p::daemon
