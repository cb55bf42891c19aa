#include "tools/sim/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/json.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::Result;
using proto::Json;

namespace {

constexpr std::size_t answer_bytes_max = 64 * core::mib;

struct Child {
    std::size_t index = 0;
    pid_t process = -1;
    int pipe = -1;
    std::string said;
};

Json answer_to(const RunRequest& request) {
    const auto outcome = run(request, {});
    if (outcome) return outcome_json(*outcome);
    const Error& error = outcome.error();
    return {{"error", {{"what", error.what}, {"why", error.why}, {"next", error.next}}}};
}

void write_whole(int pipe, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto written = ::write(pipe, text.data() + at, text.size() - at);
        if (written <= 0) return;
        at += static_cast<std::size_t>(written);
    }
}

Result<Child> begin(const RunRequest& request, std::size_t index) {
    std::array<int, 2> ends{};
    const Error failed{ErrorCode::unsupported, "cannot start a process for a run", "", ""};
    if (::pipe(ends.data()) != 0) return failed;
    std::fflush(stdout);
    const pid_t process = ::fork();
    if (process < 0) return failed;
    if (process == 0) {
        ::close(ends[0]);
        write_whole(ends[1], proto::json_text(answer_to(request)));
        ::_exit(0);
    }
    ::close(ends[1]);
    return Child{.index = index, .process = process, .pipe = ends[0], .said = {}};
}

/// Waits until one of them has said something; true where it has said all.
bool listen(std::vector<Child>& children, std::size_t& which) {
    std::vector<pollfd> polled;
    polled.reserve(children.size());
    for (const Child& child : children)
        polled.push_back({.fd = child.pipe, .events = POLLIN, .revents = 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) return false;
    for (which = 0; which < polled.size(); ++which) {
        if (polled[which].revents == 0) continue;
        std::array<char, 16 * core::kib> buffer{};
        const auto got = ::read(children[which].pipe, buffer.data(), buffer.size());
        if (got <= 0) return true;
        children[which].said.append(buffer.data(), static_cast<std::size_t>(got));
        return false;
    }
    return false;
}

Result<Outcome> read_answer(const Child& child) {
    auto json = proto::parse_json(child.said, answer_bytes_max);
    if (!json) return Error{ErrorCode::unsupported, "a run's process died", "", ""};
    if (json->contains("error")) {
        const Json& error = (*json)["error"];
        return Error{ErrorCode::invalid, error["what"], error["why"], error["next"]};
    }
    return outcome_from_json(*json);
}

void end_all(std::vector<Child>& children) {
    for (const Child& child : children) {
        ::kill(child.process, SIGKILL);
        ::waitpid(child.process, nullptr, 0);
        ::close(child.pipe);
    }
}

}  // namespace

Result<std::vector<Outcome>> run_each(
    const std::vector<RunRequest>& requests,
    std::size_t jobs,
    const std::function<void(const RunReport&)>& on_report) {
    std::vector<Outcome> outcomes(requests.size());
    std::vector<Child> children;
    std::size_t next = 0;
    for (std::size_t done = 0; done < requests.size();) {
        while (next < requests.size() && children.size() < std::max<std::size_t>(jobs, 1)) {
            auto child = begin(requests[next], next);
            if (!child) {
                end_all(children);
                return child.error();
            }
            children.push_back(*std::move(child));
            ++next;
        }
        std::size_t which = 0;
        if (!listen(children, which)) continue;
        const Child child = std::move(children[which]);
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(which));
        ::close(child.pipe);
        ::waitpid(child.process, nullptr, 0);
        auto outcome = read_answer(child);
        if (!outcome) {
            end_all(children);
            return outcome.error();
        }
        outcomes[child.index] = *outcome;
        ++done;
        on_report({.request = &requests[child.index], .outcome = *outcome, .done = done});
    }
    return outcomes;
}

}  // namespace p2p::sim
