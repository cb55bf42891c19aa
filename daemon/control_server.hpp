#pragma once

// HTTP over the two control sockets, on a thread of its own; the one door to libmicrohttpd.
//
// It reads whole requests within the limits, hands them to a backend that posts them to the loop,
// and sends what comes back. It knows no Node and no endpoint. control.sock takes everything;
// status.sock, which everybody may open, takes GET only.

#include <cstddef>
#include <memory>
#include <optional>

#include "core/base/limits.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "daemon/control_message.hpp"
#include "daemon/control_socket.hpp"

namespace p2p::daemon {

struct ControlServerConfig {
    ControlSocketConfig control{.path = "/run/p2pd/control.sock", .mode = 0660, .group = ""};
    std::optional<ControlSocketConfig> status;  ///< usually status.sock, mode 0666
    std::size_t connections_max = core::limits::http_connections_max;       ///< a socket
    core::Duration request_time_max = core::limits::http_request_time_max;  ///< to send a request
    core::Duration answer_time_max = std::chrono::seconds{30};              ///< for the backend
};

/// Requests are answered by the backend from any thread; one that it does not answer in time gets
/// 504. Past `connections_max`, callers wait in the socket's queue until a place is free; a silent
/// connection gives its place up after `request_time_max`.
class ControlServer {
  public:
    /// Opens both sockets and starts the thread. Errors are those of ControlSocket::open.
    [[nodiscard]] static core::Result<std::unique_ptr<ControlServer>> start(
        const ControlServerConfig& config, ControlBackend backend);

    /// Requests still under way are answered with 503; answers that come later go nowhere.
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

  private:
    class Thread;
    explicit ControlServer(std::unique_ptr<Thread> thread);

    std::unique_ptr<Thread> thread_;
};

}  // namespace p2p::daemon
