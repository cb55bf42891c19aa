#pragma once

// What p2pctl's exit codes mean; a contract that scripts rely on, and p2pctl(1) lists. Not running,
// not permitted and not healthy are three different things.

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace p2p::tools {

enum class ExitCode : int {
    done = 0,           ///< done, or yes
    failed = 1,         ///< asked and refused, or broken off
    usage = 2,          ///< the command line makes no sense
    not_running = 3,    ///< p2pd is not there, or cannot be reached
    not_permitted = 4,  ///< the socket or p2pd refuses this user
    not_found = 5,      ///< no such peer, job, checkpoint
    conflict = 6,       ///< wrong state, or exists already with other contents
    not_healthy = 7,    ///< asked and answered: not healthy
    timed_out = 8,      ///< time ran out
    version = 9,        ///< p2pctl and p2pd do not fit
    interrupted = 130,  ///< Ctrl-C
};

/// The exit code of an error that p2pd or p2pctl found.
[[nodiscard]] constexpr ExitCode exit_code(core::ErrorCode code) {
    using core::ErrorCode;
    switch (code) {
        case ErrorCode::not_permitted: return ExitCode::not_permitted;
        case ErrorCode::not_found: return ExitCode::not_found;
        case ErrorCode::wrong_network:
        case ErrorCode::conflict:
        case ErrorCode::in_use: return ExitCode::conflict;
        case ErrorCode::timed_out: return ExitCode::timed_out;
        case ErrorCode::unsupported: return ExitCode::version;
        case ErrorCode::unreachable:
        case ErrorCode::interrupted: return ExitCode::not_running;
        case ErrorCode::malformed:
        case ErrorCode::too_large:
        case ErrorCode::wrong_size:
        case ErrorCode::not_finite:
        case ErrorCode::forged:
        case ErrorCode::invalid:
        case ErrorCode::unreadable:
        case ErrorCode::unwritable:
        case ErrorCode::insecure: return ExitCode::failed;
    }
    return ExitCode::failed;
}

}  // namespace p2p::tools
