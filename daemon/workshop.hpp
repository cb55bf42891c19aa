#pragma once

// The doer of Work: trainers of replicas, arithmetic of swaps, blobs, checkpoints.
//
// The driver hands in what the Node asks for, on the loop thread; threads do it; what they find out
// is posted back to the loop and told through WorkshopEvents. It decides nothing. Every Work with
// an answer gets exactly one, an Error where its job is gone.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/cpu.hpp"
#include "core/node/effect.hpp"
#include "core/node/node.hpp"

namespace p2p::daemon {

class ExternalTrainers;

struct WorkshopConfig {
    std::filesystem::path state_dir;
    std::map<std::string, std::filesystem::path> datasets;  ///< name -> folder
    std::size_t worker_threads = 1;
    double duty = 1.0;  ///< share of the time that trainers may use
    core::KernelLevel kernel_level = core::KernelLevel::scalar;
    core::PeerId self;
    std::uint32_t batch_size_override = 0;  ///< 0: the job's
    std::uint64_t min_free_bytes = 0;       ///< checkpoints leave that much
};

/// Called on the loop thread, never from within a call into the workshop.
struct WorkshopEvents {
    std::function<void(core::Ticket, core::WorkResult)> on_worked;
    std::function<void(core::JobId, core::SteppedReport)> on_stepped;
    std::function<void(core::TrainerReady)> on_trainer;
    std::function<void(core::JobId, core::Status)> on_saved;
    /// For the log: a checkpoint that was skipped, a folder that could not be removed. May be null.
    std::function<void(core::JobId, core::Error)> on_trouble;
};

class Workshop {
  public:
    /// `post_to_loop` is called from any thread, also after stop().
    Workshop(
        WorkshopConfig config,
        std::function<void(std::function<void()>)> post_to_loop,
        WorkshopEvents events);
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    /// Stops.
    ~Workshop();

    /// Answered by on_trainer; a job's run directory and its newest whole checkpoint are taken up.
    /// `announcement`: its encoding (proto/encode), kept in the run directory; empty: none.
    void start_training(const core::StartTraining& order, core::Bytes announcement = {});
    void set_pace(const core::Pace& pace);
    void end_training(core::JobId job);
    void drop_training(const core::DropTraining& order);

    /// Answered by on_saved.
    void save(const core::Save& order);

    /// StoreChunk, StoreBlob and Drop*: done at once, no answer. The rest: on_worked.
    void work(core::Ticket ticket, const core::WorkOrder& order);

    /// For SendChunk; null: gone.
    [[nodiscard]] std::shared_ptr<const core::Bytes> encoded(
        const core::EdgeKey& edge, core::SwapNumber n) const;

    /// For SendBlob; null: not held.
    [[nodiscard]] std::shared_ptr<const core::Bytes> blob(core::BlobHash hash) const;

    /// A spec that was submitted at this node. @pre the hash is that of the bytes
    void add_blob(core::BlobHash hash, std::shared_ptr<const core::Bytes> bytes);

    /// For daemon/tensor_socket: where clients of external jobs attach.
    [[nodiscard]] ExternalTrainers& external();

    /// Ends all trainers and joins all threads; saves whose state was
    /// taken are written first.
    void stop();

  private:
    class Floor;
    std::unique_ptr<Floor> floor_;
};

}  // namespace p2p::daemon
