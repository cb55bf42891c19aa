#pragma once

// The inside of the workshop: who holds what, and how each order goes from the loop to a thread and
// back. Only workshop*.cpp include this.
//
// Threads: the pool for arithmetic; one for the disk, so that saves and removals keep their order
// and a slow disk holds up nobody; one a native trainer.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/tensor.hpp"
#include "daemon/blob_store.hpp"
#include "daemon/run_dir.hpp"
#include "daemon/trainer.hpp"
#include "daemon/trainer_externals.hpp"
#include "daemon/trainer_outer.hpp"
#include "daemon/workers.hpp"
#include "daemon/workers_edges.hpp"
#include "daemon/workers_push.hpp"
#include "daemon/workshop.hpp"

namespace p2p::daemon {

class Workshop::Floor {
  public:
    Floor(WorkshopConfig config, PostToLoop post, WorkshopEvents events);
    ~Floor();

    void start_training(const core::StartTraining& order, core::Bytes announcement);
    void set_pace(const core::Pace& pace);
    void end_training(core::JobId id);
    void drop_training(const core::DropTraining& order);
    void save(const core::Save& order);

    // One a kind of work; workshop_work.cpp.
    void work(core::Ticket ticket, const core::ReadSpec& order);
    void work(core::Ticket ticket, const core::TakeRoundSnapshot& order);
    void work(core::Ticket ticket, const core::OuterStep& order);
    void work(core::Ticket ticket, const core::Encode& order);
    void work(core::Ticket ticket, const core::StoreChunk& order);
    void work(core::Ticket ticket, const core::Decode& order);
    void work(core::Ticket ticket, const core::Apply& order);
    void work(core::Ticket ticket, const core::DropSwap& order);
    void work(core::Ticket ticket, const core::DropEdge& order);
    void work(core::Ticket ticket, const core::EncodePush& order);
    void work(core::Ticket ticket, const core::AbsorbPush& order);
    void work(core::Ticket ticket, const core::Evaluate& order);
    void work(core::Ticket ticket, const core::TakeSketch& order);
    void work(core::Ticket ticket, const core::Freeze& order);
    void work(core::Ticket ticket, const core::RecallFinal& order);
    void work(core::Ticket ticket, const core::CheckBlob& order);
    void work(core::Ticket ticket, const core::StoreBlob& order);
    void work(core::Ticket ticket, const core::DropBlob& order);
    void work(core::Ticket ticket, const core::Adopt& order);

    void stop();

    /// What one job here is made of. Loop thread.
    struct Job {
        core::JobId id;
        std::shared_ptr<const core::JobSpec> spec;
        core::LocalSpec local;
        std::vector<core::TensorInfo> layout;
        std::optional<RunDir> run;
        std::shared_ptr<Trainer> trainer;  ///< null until the run folder stands
        std::optional<core::Pace> pace;
        std::shared_ptr<OuterState> outer;  ///< null before the first
        bool has_ended = false;
    };

    using JobPtr = std::shared_ptr<Job>;

    /// What the disk thread found out before the trainer starts.
    struct TakenUp {
        core::Result<RunDir> run;
        std::optional<Path> checkpoint;
        core::SampleCount samples_mesh;
        std::vector<core::Error> broken;
    };

    EdgeDesk& edges() { return edges_; }

    BlobStore& blobs() { return blobs_; }

    ExternalTrainers& external() { return external_; }

  private:
    [[nodiscard]] EdgeTools edge_tools();
    [[nodiscard]] JobPtr job_of(core::JobId id) const;
    [[nodiscard]] Trainer* trainer_of(core::JobId id) const;
    void build_trainer(const JobPtr& job, const TakenUp& taken);
    [[nodiscard]] core::Result<std::shared_ptr<Trainer>> make_trainer(
        const Job& job, const TakenUp& taken);
    [[nodiscard]] TrainerEvents trainer_events(core::JobId id);
    void retire(const JobPtr& job);
    void check_thawed(core::Ticket ticket, const JobPtr& job, const core::CheckBlob& order);
    void tell_trouble(core::JobId job, const core::Error& error);
    void answer_later(core::Ticket ticket, core::WorkResult result);

    WorkshopConfig config_;
    WorkshopEvents events_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    PostToLoop post_;  ///< what it carries is left out once this is gone
    Workers disk_;
    Workers workers_;
    std::map<core::JobId, JobPtr> jobs_;
    EdgeDesk edges_;
    BlobStore blobs_;
    PushDesk pushes_;
    ExternalTrainers external_;
    bool is_stopped_ = false;
};

}  // namespace p2p::daemon
