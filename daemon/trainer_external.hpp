#pragma once

// A trainer that is another process: its parameters are touched only when it says that it stands
// between two steps.
//
// Requests of the workshop wait here; each exchange with the client (daemon/tensor_socket) takes as
// many as fit: displacements first, then copies; a replacement by itself. Where no client is
// attached, requests are served from the parameters that the last one left behind, if it did.
//
//   no client --attach--> attached --step/wait--> [offer --took-->] attached --detach--> held here
//                            +------------------ the client dies -----------------> no client
//
// Called by the loop thread (Trainer's face) and by the socket's thread (the client's side).

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/files.hpp"
#include "daemon/latest_report.hpp"
#include "daemon/tensor_line.hpp"
#include "daemon/tensor_memory.hpp"
#include "daemon/trainer.hpp"

namespace p2p::daemon {

struct ExternalSetup {
    core::JobId job;
    std::shared_ptr<const core::JobSpec> spec;
    std::vector<core::TensorInfo> layout;
    core::PeerId self;
    std::optional<Path> checkpoint;  ///< a whole one
    core::SampleCount samples_mesh;
};

class ExternalTrainer final : public Trainer {
  public:
    /// Takes up the checkpoint. `wake` tells the socket's thread that an offer may be there.
    static core::Result<std::shared_ptr<ExternalTrainer>> open(
        ExternalSetup setup, TrainerEvents events, PostToLoop post, std::function<void()> wake);

    // The workshop's side.
    void snapshot(core::ShardRange range, Answer<std::vector<float>> answer) override;
    void add(
        core::ShardRange range,
        std::shared_ptr<const std::vector<float>> displacement,
        StatusAnswer answer) override;

    void mark_outer_step() override {}  // its script takes its own steps

    void copy_state(bool with_optimizer, Answer<ReplicaState> answer) override;
    void replace(ReplicaState state, Answer<double> answer) override;
    void evaluate(Answer<core::Evaluated> answer) override;
    void set_pace(const core::Pace& pace) override;
    void end() override;
    void stop() override;

    /// The final model is in place: clients are told that it is over.
    void set_done();

    // The client's side. One client at a time.

    /// Errors: conflict (a client is attached, or its tensors are not the job's); of the memory.
    core::Result<Offer> attach(const AttachLine& line, const Descriptor& memory);
    [[nodiscard]] AttachAnswer attach_answer() const;
    Offer on_step(const StepLine& line);

    /// What there is to do now, without a step. @pre the last offer was taken
    Offer next_offer();

    /// A client that waits has something to hear.
    [[nodiscard]] bool has_news() const;

    /// The client did what the last offer asked. conflict: it asked nothing.
    core::Status on_took();

    /// `is_clean`: all its parameters stand in the snapshot area, and are kept here.
    void detach(bool is_clean);

  private:
    struct Request {
        enum class Kind : std::uint8_t { add, take, replace } kind;
        core::ShardRange range;
        std::shared_ptr<const std::vector<float>> values;  ///< not of take
        /// Of take and replace: the values before; of add: empty.
        Answer<std::vector<float>> answer;
    };

    using Requests = std::vector<Request>;

    ExternalTrainer(
        ExternalSetup setup, TrainerEvents events, PostToLoop post, std::function<void()> wake);

    void push(Request request);
    Offer make_offer();
    void add_to_offer(Offer& offer, Request request);
    [[nodiscard]] bool fits_offer(const Offer& offer, const Request& request) const;
    [[nodiscard]] ClientState client_state() const;
    [[nodiscard]] double progress_ratio() const;
    void serve_held(Request& request);
    void report();
    void announce(std::uint64_t set_samples);
    void tell_lost();
    [[nodiscard]] static core::Error no_client();
    [[nodiscard]] core::ShardRange whole() const;

    const ExternalSetup setup_;
    const TrainerEvents events_;
    const PostToLoop post_;
    const std::function<void()> wake_;
    const std::shared_ptr<LatestReport> latest_ = std::make_shared<LatestReport>();

    mutable std::mutex mutex_;                ///< guards all below
    std::optional<TensorMemory> memory_;      ///< of the attached client
    std::optional<std::vector<float>> held_;  ///< the parameters, while no client has them
    std::deque<Request> waiting_;
    Requests offered_;
    bool is_first_offer_ = false;  ///< it carries held_ to a client that has just attached
    core::Pace pace_;
    core::StepCount steps_;
    core::SampleCount samples_;
    StepLine last_step_;
    std::optional<std::chrono::steady_clock::time_point>
        first_step_;  ///< for jobs that end by time
    bool was_announced_ = false;
    bool has_ended_ = false;
    bool is_done_ = false;
    bool is_gone_ = false;
    bool is_state_told_ = false;  ///< the client has heard the state as it is now
};

}  // namespace p2p::daemon
