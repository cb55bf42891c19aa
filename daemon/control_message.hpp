#pragma once

// What the control server hands to the loop, and what it gets back: plain values.
//
// The server knows HTTP and sockets, the routes know the Node; neither includes the other.

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <sys/types.h>

#include "core/base/error.hpp"

namespace p2p::daemon {

/// Who is at the other end of a unix socket, as the kernel says (SO_PEERCRED).
struct Caller {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;

    bool operator==(const Caller&) const = default;
};

struct ControlRequest {
    std::string method;  ///< "GET", "POST", "DELETE"
    std::string path;    ///< percent-decoded, without the query
    std::map<std::string, std::string> query;
    std::string body;  ///< at most limits::http_body_bytes_max
    Caller caller;
};

struct ControlResponse {
    unsigned status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::filesystem::path file;  ///< not empty: sent instead of `body`, from the disk
};

/// Answers one request, from any thread; calls after the first change nothing.
using Respond = std::function<void(ControlResponse)>;

/// Where requests go.
struct ControlBackend {
    /// Called on the control thread; must not block: it posts to the loop.
    std::function<void(ControlRequest, Respond)> handle;
};

/// The answer that is this error; `status` 0: the one that goes with its code.
[[nodiscard]] ControlResponse error_response(const core::Error& error, unsigned status = 0);

}  // namespace p2p::daemon
