#pragma once

// A running p2pd: builds the parts in order, hands them down, and stops them in the opposite order.
//
// The order of the start is that of INTERFACE, Daemon life: identity, state, port, sockets, jobs,
// READY=1. No peer is needed for any of it.

#include <memory>

#include "daemon/options.hpp"

namespace p2p::daemon {

/// Exit codes of p2pd, after sysexits.h; the unit file names those that a restart does not mend.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 64;
inline constexpr int cannot_bind = 69;
inline constexpr int broken_invariant = 70;
inline constexpr int state_held = 75;
inline constexpr int no_permission = 77;
inline constexpr int configuration = 78;
}  // namespace exit_code

/// Runs until SIGTERM or SIGINT (or an error at the start, which is logged). Returns the exit code.
/// `sources` are read again on SIGHUP.
[[nodiscard]] int run_daemon(const Options& options, const OptionSources& sources);

/// All that a start would read, opening nothing: for --check.
[[nodiscard]] core::Status check_start(const Options& options);

}  // namespace p2p::daemon
