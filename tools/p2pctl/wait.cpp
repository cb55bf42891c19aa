// Waiting: asking again and again until a condition holds, never will, or time runs out. See
// commands.hpp. A p2pd that is not running yet is waited for too: that is what scripts start with.

#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include "proto/control.hpp"
#include "proto/json.hpp"
#include "tools/p2pctl/commands.hpp"
#include "tools/p2pctl/document.hpp"
#include "tools/p2pctl/human.hpp"
#include "tools/p2pctl/terminal.hpp"

namespace p2p::tools {

namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using SteadyClock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds{200};
constexpr auto request_timeout = std::chrono::seconds{5};

struct Condition {
    enum class Kind { ready, joined, peers, job } kind = Kind::ready;
    std::uint64_t peers = 0;
    std::string job;
    std::string state;
};

/// How a look at the node came out.
struct Sight {
    bool holds = false;
    std::string progress;        ///< for the line on the terminal, and for "time ran out"
    std::optional<Error> never;  ///< why it cannot hold any more
};

bool is_end(std::string_view state) {
    return state == "done" || state == "stopped" || state == "failed";
}

bool is_state(std::string_view state) {
    for (const char* known : {"waiting", "blocked", "running", "paused", "finishing"}) {
        if (state == known) return true;
    }
    return is_end(state);
}

Result<Condition> read_condition(const std::string& text) {
    Condition condition;
    if (text == "ready") return condition;
    if (text == "joined") {
        condition.kind = Condition::Kind::joined;
        return condition;
    }
    const auto colon = text.rfind(':');
    if (text.starts_with("peers=")) {
        condition.kind = Condition::Kind::peers;
        const char* end = text.data() + text.size();
        const auto [at, error] = std::from_chars(text.data() + 6, end, condition.peers);
        if (error == std::errc{} && at == end) return condition;
    } else if (text.starts_with("job=") && colon != std::string::npos) {
        condition.kind = Condition::Kind::job;
        condition.job = text.substr(4, colon - 4);
        condition.state = text.substr(colon + 1);
        if (!condition.job.empty() && is_state(condition.state)) return condition;
    }
    return Error{
        ErrorCode::invalid,
        "'" + printable(text) + "' is nothing to wait for",
        "it is ready, joined, peers=N, or job=NAME:STATE with a state as in 'job list'",
        "p2pctl wait --help"};
}

Sight look_at_status(const Condition& condition, const Json& status) {
    const double connected = number_at(status, "peers.connected").value_or(0);
    Sight sight;
    sight.progress = human_count(static_cast<std::uint64_t>(connected)) + " peers connected";
    const std::string state = text_at(status, "state");
    if (condition.kind == Condition::Kind::ready) sight.holds = state != "stopping";
    if (condition.kind == Condition::Kind::joined) sight.holds = flag_at(status, "joined");
    if (condition.kind == Condition::Kind::peers) {
        sight.holds = connected >= static_cast<double>(condition.peers);
    }
    const Json& problems = value_at(status, "health");
    if (problems.is_array() && !problems.empty()) {
        sight.progress += "; " + printable(text_at(problems.front(), "text"));
    }
    return sight;
}

Sight look_at_job(const Condition& condition, const Json& document) {
    const Json& job = value_at(document, "job");
    const std::string state = text_at(job, "state");
    Sight sight;
    sight.holds = state == condition.state;
    sight.progress = printable(condition.job) + " is " + printable(state);
    if (const auto ratio = number_at(job, "progress_ratio")) {
        sight.progress += ", " + human_percent(*ratio);
    }
    if (const auto left = number_at(job, "time_left_seconds")) {
        sight.progress += ", " + human_duration(*left) + " left";
    }
    if (!sight.holds && is_end(state)) {
        sight.never = Error{
            ErrorCode::conflict,
            "job " + condition.job + " is " + state + " and will not be " + condition.state,
            text_at(job, "reason"),
            "p2pctl job show " + condition.job};
    }
    return sight;
}

/// Errors that waiting does not cure end it; others are what there is to see.
Result<Sight> look(const Condition& condition, Client& client) {
    const bool is_about_job = condition.kind == Condition::Kind::job;
    Request request;
    request.path = is_about_job ? "/v1/jobs/" + escaped(condition.job) : "/v1/status";
    const auto answer = client.ask(request);
    if (!answer) {
        const ErrorCode code = answer.error().code;
        const bool may_pass = code == ErrorCode::unreachable || code == ErrorCode::interrupted
                              || code == ErrorCode::timed_out || code == ErrorCode::not_found;
        if (!may_pass) return answer.error();
        return Sight{.holds = false, .progress = answer.error().what, .never = std::nullopt};
    }
    const auto document =
        read_document(*answer, is_about_job ? proto::schema::job : proto::schema::status);
    if (!document) return document.error();
    return is_about_job ? look_at_job(condition, *document) : look_at_status(condition, *document);
}

/// @param limit  nothing: as long as it takes
Result<ExitCode> wait_until(
    const Condition& condition, std::optional<core::Duration> limit, Client& client) {
    client.set_timeout(request_timeout);
    Progress progress;
    const auto began = SteadyClock::now();
    for (;;) {
        const auto sight = look(condition, client);
        if (!sight) return sight.error();
        if (sight->holds) return ExitCode::done;
        if (sight->never) return *sight->never;
        if (limit && SteadyClock::now() - began >= *limit) {
            return Error{
                ErrorCode::timed_out,
                "time ran out after " + human_duration(core::to_seconds(*limit)),
                sight->progress,
                "p2pctl status; to wait longer: --timeout 1h"};
        }
        progress.show("waiting: " + printable(sight->progress));
        pause_for(poll_interval);
    }
}

}  // namespace

Result<ExitCode> run_wait(const Invocation& invocation, Client& client) {
    const auto condition = read_condition(invocation.subject());
    if (!condition) {
        say(error_lines(condition.error()));
        return ExitCode::usage;
    }
    return wait_until(*condition, invocation.timeout.value_or(std::chrono::seconds{60}), client);
}

Result<ExitCode> wait_for_end(const Invocation& invocation, std::string_view job, Client& client) {
    Condition condition;
    condition.kind = Condition::Kind::job;
    condition.job = job;
    condition.state = "done";
    return wait_until(condition, invocation.timeout, client);
}

}  // namespace p2p::tools
