#pragma once

// Method and path in, answer out: the router of the control API, on the loop thread.
//
// It looks names up, asks the Node or the actions, and picks the document; HTTP is
// control_server's, the shape of documents is status_json's, and what a command does is the Node's.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/command.hpp"
#include "core/node/status.hpp"
#include "daemon/control_message.hpp"
#include "daemon/status_json.hpp"

namespace p2p::daemon {

template <typename T>
using Reply = std::function<void(core::Result<T>)>;

/// The Node, as far as the routes see it; `driver` in p2pd, a fake in tests.
struct ControlNode {
    std::function<core::NodeStatus()> status;
    std::function<void(core::Command, Reply<core::CommandDone>)> command;
};

/// Which checkpoint of a job is meant.
struct CheckpointChoice {
    enum class Kind { latest, final_model, step } kind = Kind::latest;
    core::StepCount step;  ///< of `step`

    bool operator==(const CheckpointChoice&) const = default;
};

/// What is asked for and is not the Node's. Replies may come later, on the loop thread, so that
/// reading a large file does not stop the loop.
class ControlActions {
  public:
    virtual ~ControlActions() = default;

    /// Version, protocol and the time of day.
    [[nodiscard]] virtual DocumentContext context() const = 0;

    /// Founds a network with this node as founder and adopts it; conflict: it is in one already.
    [[nodiscard]] virtual core::Result<core::NetworkId> found_network() = 0;

    /// A job's TOML as the command that submits it (its only_validate is not set).
    [[nodiscard]] virtual core::Result<core::SubmitJob> read_job(std::string_view toml) const = 0;

    /// On this node's disk, oldest first; of all jobs where `job` is zero.
    virtual void list_checkpoints(core::JobId job, Reply<std::vector<CheckpointInfo>> reply) = 0;

    /// Reads it whole against its manifest; an error says which file does not fit.
    virtual void verify_checkpoint(
        core::JobId job, CheckpointChoice choice, Reply<CheckpointInfo> reply) = 0;

    /// The file with the parameters (safetensors), after a check against the manifest.
    virtual void find_model(
        core::JobId job, CheckpointChoice choice, Reply<std::filesystem::path> reply) = 0;

    /// A change was asked for and answered: for the log.
    virtual void on_changed(const ControlRequest& request, unsigned status) = 0;
};

class ControlRoutes {
  public:
    /// `actions` must outlive the routes and every reply under way.
    ControlRoutes(ControlNode node, ControlActions& actions);

    /// Answers through `respond` exactly once, at once or later. Errors are answers.
    void handle(const ControlRequest& request, Respond respond);

  private:
    /// One request on its way through a route.
    struct Visit {
        const ControlRequest& request;
        std::vector<std::string> names;  ///< the path's variable parts, in order
        Respond respond;

        [[nodiscard]] bool asks(const char* flag) const;  ///< ?flag, ?flag=1
    };

    struct Route {
        std::string_view method;
        std::string_view pattern;  ///< "/v1/jobs/{}/pause"
        void (ControlRoutes::*run)(const Visit&);
    };

    static const std::vector<Route>& table();

    void show_live(const Visit& visit);
    void show_ready(const Visit& visit);
    void show_status(const Visit& visit);
    void show_health(const Visit& visit);
    void show_version(const Visit& visit);
    void show_id(const Visit& visit);
    void show_peers(const Visit& visit);
    void show_peer(const Visit& visit);
    void show_jobs(const Visit& visit);
    void show_job(const Visit& visit);
    void show_checkpoints(const Visit& visit);

    void found_network(const Visit& visit);
    void submit_job(const Visit& visit);
    void join_job(const Visit& visit);
    void pause_job(const Visit& visit);
    void resume_job(const Visit& visit);
    void stop_job(const Visit& visit);
    void remove_job(const Visit& visit);
    void verify_checkpoint(const Visit& visit);
    void export_checkpoint(const Visit& visit);

    template <typename JobCommand>
    void command_job(const Visit& visit);
    void run_command(const Visit& visit, core::JobId job, core::Command command);

    ControlNode node_;
    ControlActions* actions_;
};

/// The job that `text` names: its name, name@prefix, or a prefix of its id (4 letters at least).
/// not_found; conflict where several fit, and the error lists them.
[[nodiscard]] core::Result<core::JobStatus> find_job(
    const core::NodeStatus& node, std::string_view text);

/// The peer (or this node) that `text` names: its name or a prefix of its id.
[[nodiscard]] core::Result<core::PeerStatus> find_peer(
    const core::NodeStatus& node, const core::PeerStatus& self, std::string_view text);

/// "latest", "final", "22400" or "step-00022400"; invalid otherwise.
[[nodiscard]] core::Result<CheckpointChoice> read_checkpoint_choice(std::string_view text);

}  // namespace p2p::daemon
