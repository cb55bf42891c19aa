#pragma once

// The doer of Work: replicas' trainers, codec work, blobs, checkpoints.
//
// Owned by app, called on the loop thread only; results are posted back to the loop.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/cpu.hpp"
#include "core/node/effect.hpp"
#include "core/node/node.hpp"
#include "core/node/work.hpp"

namespace p2p::daemon {

class ExternalTrainers;

struct WorkshopConfig {
    std::filesystem::path state_dir;
    std::map<std::string, std::filesystem::path> datasets;  ///< name -> folder
    std::size_t worker_threads = 1;
    double duty = 1.0;  ///< share of the time trainers may use
    core::KernelLevel kernel_level = core::KernelLevel::scalar;
    core::PeerId self;
    std::uint32_t batch_size_override = 0;  ///< 0: the job's
    std::uint64_t min_free_bytes = 0;
};

/// Called on the loop thread.
struct WorkshopEvents {
    std::function<void(core::Ticket, core::WorkResult)> on_worked;
    std::function<void(core::JobId, core::SteppedReport)> on_stepped;
    std::function<void(core::TrainerReady)> on_trainer;
    std::function<void(core::JobId, core::Status)> on_saved;
};

class Workshop {
  public:
    Workshop(
        WorkshopConfig config,
        std::function<void(std::function<void()>)> post_to_loop,
        WorkshopEvents events);
    ~Workshop();

    void start_training(const core::StartTraining& order);
    void set_pace(const core::Pace& pace);
    void end_training(core::JobId job);
    void drop_training(const core::DropTraining& order);
    void save(const core::Save& order);
    void work(core::Ticket ticket, const core::WorkOrder& order);
    std::shared_ptr<const core::Bytes> encoded(const core::EdgeKey& edge, core::SwapNumber n) const;
    std::shared_ptr<const core::Bytes> blob(core::BlobHash hash) const;
    void add_blob(core::BlobHash hash, std::shared_ptr<const core::Bytes> bytes);
    ExternalTrainers& external();
    void stop();
};

}  // namespace p2p::daemon
