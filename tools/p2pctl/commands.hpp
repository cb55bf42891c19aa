#pragma once

// What p2pctl does, by kind of command: reading, waiting, changing.
//
// Each takes the command line as a value and a client, prints the answer, and says with which code
// to end. Errors are returned; main prints them.

#include <string_view>

#include "core/base/result.hpp"
#include "tools/p2pctl/client.hpp"
#include "tools/p2pctl/columns.hpp"
#include "tools/p2pctl/exit_code.hpp"
#include "tools/p2pctl/invocation.hpp"

namespace p2p::tools {

/// Asks once, or again and again with --watch, and renders.
[[nodiscard]] core::Result<ExitCode> run_reading(
    const Invocation& invocation, const Reading& reading, Client& client);

/// Both programs' versions; p2pctl's own also where p2pd does not answer.
[[nodiscard]] core::Result<ExitCode> run_version(const Invocation& invocation, Client& client);

/// Until the condition holds; timed_out after --timeout (60 s), conflict when it never will.
[[nodiscard]] core::Result<ExitCode> run_wait(const Invocation& invocation, Client& client);

/// Until the job has ended: done, failed, or conflict where it was stopped.
[[nodiscard]] core::Result<ExitCode> wait_for_end(
    const Invocation& invocation, std::string_view job, Client& client);

/// init, the verbs of jobs and checkpoints.
[[nodiscard]] core::Result<ExitCode> run_change(const Invocation& invocation, Client& client);

}  // namespace p2p::tools
