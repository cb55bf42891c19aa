#pragma once

// What people ask over the control sockets and the Node does not do: found a network, read a job's
// text, look at checkpoints on the disk.
//
// Files are read on one thread of its own, so that a large one does not stop the loop.

#include <functional>
#include <string_view>
#include <vector>

#include "daemon/asio.hpp"
#include "daemon/control_routes.hpp"
#include "daemon/files.hpp"
#include "daemon/log.hpp"

namespace p2p::daemon {

class Actions final : public ControlActions {
  public:
    /// `found` makes a network on the disk and has everybody adopt it.
    Actions(
        asio::io_context& loop,
        Path state_dir,
        Log& log,
        std::function<core::Result<core::NetworkId>()> found);
    ~Actions() override;

    [[nodiscard]] DocumentContext context() const override;

    [[nodiscard]] core::Result<core::NetworkId> found_network() override { return found_(); }

    [[nodiscard]] core::Result<core::SubmitJob> read_job(std::string_view toml) const override;
    void list_checkpoints(core::JobId job, Reply<std::vector<CheckpointInfo>> reply) override;
    void verify_checkpoint(
        core::JobId job, CheckpointChoice choice, Reply<CheckpointInfo> reply) override;
    void find_model(
        core::JobId job, CheckpointChoice choice, Reply<std::filesystem::path> reply) override;
    void on_changed(const ControlRequest& request, unsigned status) override;

  private:
    template <typename T>
    void on_disk(std::function<core::Result<T>()> read, Reply<T> reply);

    asio::io_context& loop_;
    Path state_dir_;
    Log& log_;
    std::function<core::Result<core::NetworkId>()> found_;
    asio::thread_pool disk_{1};
};

}  // namespace p2p::daemon
