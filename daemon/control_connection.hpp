#pragma once

// One connection to a control socket, as the control thread keeps it: whose it is, where its
// request stands, and until when that may last.
//
// Values and arithmetic only; control_server moves them and owns everything of HTTP.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "daemon/control_message.hpp"

struct MHD_Connection;

namespace p2p::daemon {

using SteadyTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline SteadyTime steady_now() {
    return std::chrono::steady_clock::now();
}

/// receiving -> waiting -> answering -> receiving (the next request) -> closed, from any of them
enum class Phase : std::uint8_t {
    receiving,  ///< a request is awaited or under way; must be whole by the deadline
    waiting,    ///< the backend has it, MHD has suspended the connection; answered by the deadline
    answering,  ///< MHD sends, with its own time limit on a reader that does not read
};

struct Connection {
    MHD_Connection* handle = nullptr;
    int descriptor = -1;
    bool may_change = false;  ///< it came through control.sock
    Caller caller;
    Phase phase = Phase::receiving;
    SteadyTime deadline;
    std::uint64_t exchange = 0;
    std::uint64_t served = 0;
    ControlRequest request;
    std::optional<ControlResponse> answer;
};

using Connections = std::map<Connection*, std::unique_ptr<Connection>>;

/// Who is at the other end, as the kernel says; all zero where it does not.
[[nodiscard]] Caller caller_of(int descriptor);

/// Until the nearest deadline, rounded up; at least zero, at most a minute.
[[nodiscard]] std::chrono::milliseconds time_left(const Connections& connections, SteadyTime now);

/// Says `last_words` as far as the socket takes them, and ends both directions. The descriptor
/// stays open: its owner sees the end.
void end_connection(const Connection& connection, std::string_view last_words);

struct OpenFile {
    int descriptor = -1;  ///< the receiver's to close; -1: it could not be read
    std::uint64_t bytes = 0;
};

/// A regular file, to be sent.
[[nodiscard]] OpenFile open_file(const std::filesystem::path& path);

}  // namespace p2p::daemon
