// p2pctl: look at and steer the p2pd of this machine. Reads the command line, asks over the control
// socket, prints the answer; every rule lies in p2pd.

#include <string>

#include "proto/control.hpp"
#include "tools/p2pctl/commands.hpp"
#include "tools/p2pctl/terminal.hpp"

namespace {

using namespace p2p::tools;  // NOLINT(google-build-using-namespace): it is their main
using p2p::core::Error;
using p2p::core::Result;

/// An error goes to stderr for people, and to stdout where JSON was asked for.
int report(const Error& error, bool is_json, ExitCode code) {
    if (is_json) (void)write_answer(p2p::proto::error_document(error));
    say(error_lines(error));
    return static_cast<int>(code);
}

Result<ExitCode> run(const Invocation& invocation) {
    Client client({
        .socket = invocation.socket,
        .timeout = invocation.timeout.value_or(std::chrono::seconds{10}),
        .is_verbose = invocation.is_verbose,
    });
    const std::string command = invocation.command();
    if (const Reading* reading = find_reading(command)) {
        return run_reading(invocation, *reading, client);
    }
    if (command == "version") return run_version(invocation, client);
    if (command == "wait") return run_wait(invocation, client);
    return run_change(invocation, client);
}

}  // namespace

int main(int count, char** values) {
    prepare_terminal();
    const auto parsed = read_arguments(count, values);
    if (!parsed) return report(parsed.error(), asks_for_json(count, values), ExitCode::usage);
    if (parsed->farewell) {
        (void)write_answer(parsed->farewell->text);
        return parsed->farewell->exit_code;
    }
    const auto ended = run(parsed->invocation);
    if (ended) return static_cast<int>(*ended);
    const bool is_json = asks_for_json(count, values);
    return report(ended.error(), is_json, exit_code(ended.error().code));
}
