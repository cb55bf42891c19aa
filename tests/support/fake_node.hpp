#pragma once

// A ControlNode and ControlActions that hold a NodeStatus and write down what they are asked.
//
// Job TOML is not parsed: "bad" is refused, anything else is the job named by its text's first
// line.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/control_routes.hpp"
#include "tests/support/sample_status.hpp"

namespace p2p::tests {

class FakeNode : public daemon::ControlActions {
  public:
    core::NodeStatus status = sample_status();
    std::vector<core::Command> commands;
    std::optional<core::Error> refusal;  ///< the answer to the next commands
    std::vector<daemon::CheckpointInfo> checkpoints;
    std::filesystem::path model;
    std::vector<std::pair<std::string, unsigned>> changes;
    bool has_network = false;

    [[nodiscard]] daemon::ControlNode node() {
        return {
            [this] { return status; },
            [this](core::Command command, const daemon::Reply<core::CommandDone>& reply) {
                commands.push_back(std::move(command));
                if (refusal) return reply(*refusal);
                reply(core::CommandDone{{}, "done as asked"});
            }};
    }

    [[nodiscard]] daemon::DocumentContext context() const override {
        return {
            .unix_seconds = 1'796'047'682,  // 2026-11-30T14:08:02Z
            .release = "0.1.0",
            .protocol_min = 1,
            .protocol_max = 1};
    }

    [[nodiscard]] core::Result<core::NetworkId> found_network() override {
        if (has_network) {
            return core::Error{
                core::ErrorCode::conflict, "this node is in a network already", "", ""};
        }
        has_network = true;
        return id_of<core::NetworkId>(9);
    }

    [[nodiscard]] core::Result<core::SubmitJob> read_job(std::string_view toml) const override {
        if (toml.starts_with("bad")) {
            return core::Error{
                core::ErrorCode::invalid,
                "line 3: train.epohcs is no key",
                "",
                "did you mean train.epochs?"};
        }
        core::SubmitJob job;
        job.job = status.jobs.empty() ? id_of<core::JobId>(0x51) : status.jobs[0].job;
        job.spec.name = "mnist-mlp";
        return job;
    }

    void list_checkpoints(
        core::JobId job, daemon::Reply<std::vector<daemon::CheckpointInfo>> reply) override {
        std::vector<daemon::CheckpointInfo> found;
        for (const auto& checkpoint : checkpoints) {
            if (job.is_zero() || checkpoint.job == job) found.push_back(checkpoint);
        }
        reply(std::move(found));
    }

    void verify_checkpoint(
        core::JobId job,
        daemon::CheckpointChoice choice,
        daemon::Reply<daemon::CheckpointInfo> reply) override {
        for (const auto& checkpoint : checkpoints) {
            if (checkpoint.job != job) continue;
            if (choice.kind == daemon::CheckpointChoice::Kind::step
                && choice.step != checkpoint.step) {
                continue;
            }
            return reply(checkpoint);
        }
        reply(core::Error{core::ErrorCode::not_found, "there is no such checkpoint", "", ""});
    }

    void find_model(
        core::JobId /*job*/,
        daemon::CheckpointChoice /*choice*/,
        daemon::Reply<std::filesystem::path> reply) override {
        if (model.empty()) {
            return reply(
                core::Error{core::ErrorCode::not_found, "there is no such checkpoint", "", ""});
        }
        reply(model);
    }

    void on_changed(const daemon::ControlRequest& request, unsigned answer) override {
        changes.emplace_back(request.method + " " + request.path, answer);
    }
};

/// A whole checkpoint of mnist-mlp, 38 seconds old.
[[nodiscard]] inline daemon::CheckpointInfo sample_checkpoint() {
    daemon::CheckpointInfo checkpoint;
    checkpoint.job = id_of<core::JobId>(0x51);
    checkpoint.job_name = "mnist-mlp";
    checkpoint.name = "step-00022400";
    checkpoint.step = core::StepCount{22'400};
    checkpoint.unix_seconds = 1'796'047'682 - 38;
    checkpoint.bytes = core::ByteCount{2'100'000};
    checkpoint.is_whole = true;
    return checkpoint;
}

}  // namespace p2p::tests
