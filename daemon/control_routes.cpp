#include "daemon/control_routes.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "proto/control.hpp"

namespace p2p::daemon {

namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

ControlResponse document(std::string body) {
    return {.status = 200, .body = std::move(body), .content_type = "application/json", .file = {}};
}

ControlResponse plain_text(unsigned status, std::string body) {
    return {.status = status, .body = std::move(body), .content_type = "text/plain", .file = {}};
}

/// The variable parts of `path`, where it fits `pattern`.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
    std::vector<std::string> names;
    while (!pattern.empty() && !path.empty()) {
        const auto pattern_end = pattern.find('/', 1);
        const auto path_end = path.find('/', 1);
        const std::string_view wanted = pattern.substr(0, pattern_end);
        const std::string_view given = path.substr(0, path_end);
        if (wanted == "/{}" && given.size() > 1) {
            names.emplace_back(given.substr(1));
        } else if (wanted != given) {
            return std::nullopt;
        }
        pattern = pattern_end == std::string_view::npos ? "" : pattern.substr(pattern_end);
        path = path_end == std::string_view::npos ? "" : path.substr(path_end);
    }
    if (!pattern.empty() || !path.empty()) return std::nullopt;
    return names;
}

Error unknown_path(std::string_view path) {
    return {
        ErrorCode::unsupported,
        "this p2pd does not know " + std::string(path),
        "",
        "compare the versions: p2pctl version"};
}

Error wrong_method(const ControlRequest& request, const std::string& allowed) {
    return {
        ErrorCode::unsupported,
        request.method + " does not fit " + request.path,
        "it takes " + allowed,
        ""};
}

const core::JobStatus* job_of(const core::NodeStatus& node, core::JobId id) {
    for (const auto& job : node.jobs) {
        if (job.job == id) return &job;
    }
    return nullptr;
}

}  // namespace

ControlRoutes::ControlRoutes(ControlNode node, ControlActions& actions)
    : node_(std::move(node)),
      actions_(&actions) {}

const std::vector<ControlRoutes::Route>& ControlRoutes::table() {
    using R = ControlRoutes;
    static const std::vector<Route> routes{
        {"GET", "/livez", &R::show_live},
        {"GET", "/readyz", &R::show_ready},
        {"GET", "/v1/status", &R::show_status},
        {"GET", "/v1/health", &R::show_health},
        {"GET", "/v1/version", &R::show_version},
        {"GET", "/v1/id", &R::show_id},
        {"GET", "/v1/peers", &R::show_peers},
        {"GET", "/v1/peers/{}", &R::show_peer},
        {"GET", "/v1/jobs", &R::show_jobs},
        {"GET", "/v1/jobs/{}", &R::show_job},
        {"GET", "/v1/checkpoints", &R::show_checkpoints},
        {"POST", "/v1/init", &R::found_network},
        {"POST", "/v1/jobs", &R::submit_job},
        {"POST", "/v1/jobs/{}/join", &R::join_job},
        {"POST", "/v1/jobs/{}/pause", &R::pause_job},
        {"POST", "/v1/jobs/{}/resume", &R::resume_job},
        {"POST", "/v1/jobs/{}/stop", &R::stop_job},
        {"DELETE", "/v1/jobs/{}", &R::remove_job},
        {"POST", "/v1/checkpoints/{}/{}/verify", &R::verify_checkpoint},
        {"POST", "/v1/checkpoints/{}/{}/export", &R::export_checkpoint},
    };
    return routes;
}

bool ControlRoutes::Visit::asks(const char* flag) const {
    const auto found = request.query.find(flag);
    return found != request.query.end() && found->second != "0" && found->second != "false";
}

void ControlRoutes::handle(const ControlRequest& request, Respond respond) {
    if (request.method != "GET") {
        // A copy, since the answer may come after the request has gone.
        respond = [actions = actions_, copy = request, inner = std::move(respond)](
                      ControlResponse response) {
            actions->on_changed(copy, response.status);
            inner(std::move(response));
        };
    }
    std::string allowed;
    for (const Route& route : table()) {
        auto names = match(route.pattern, request.path);
        if (!names) continue;
        if (route.method == request.method) {
            (this->*route.run)(Visit{request, std::move(*names), std::move(respond)});
            return;
        }
        if (!allowed.empty()) allowed += ", ";
        allowed += route.method;
    }
    respond(
        allowed.empty() ? error_response(unknown_path(request.path), 404)
                        : error_response(wrong_method(request, allowed), 405));
}

// --- reading ------------------------------------------------------------------------------------

void ControlRoutes::show_live(const Visit& visit) {
    visit.respond(plain_text(200, "ok\n"));  // that this line is reached says that the loop turns
}

void ControlRoutes::show_ready(const Visit& visit) {
    const bool is_ready = !node_.status().stopping;
    std::string body = is_ready ? "ok\n" : "stopping\n";
    if (visit.asks("verbose")) {
        body = "[+] started\n" + std::string(is_ready ? "[+]" : "[-]") + " not stopping\n" + body;
    }
    visit.respond(plain_text(is_ready ? 200 : 503, std::move(body)));
}

void ControlRoutes::show_status(const Visit& visit) {
    visit.respond(document(status_document(node_.status(), actions_->context())));
}

void ControlRoutes::show_health(const Visit& visit) {
    visit.respond(document(health_document(node_.status(), actions_->context())));
}

void ControlRoutes::show_version(const Visit& visit) {
    visit.respond(document(version_document(actions_->context())));
}

void ControlRoutes::show_id(const Visit& visit) {
    visit.respond(document(id_document(node_.status(), actions_->context())));
}

void ControlRoutes::show_peers(const Visit& visit) {
    visit.respond(document(peers_document(node_.status(), actions_->context())));
}

void ControlRoutes::show_peer(const Visit& visit) {
    const auto node = node_.status();
    const auto context = actions_->context();
    const auto peer = find_peer(node, self_as_peer(node, context), visit.names[0]);
    visit.respond(
        peer ? document(peer_document(node, *peer, context)) : error_response(peer.error()));
}

void ControlRoutes::show_jobs(const Visit& visit) {
    visit.respond(document(jobs_document(node_.status(), actions_->context())));
}

void ControlRoutes::show_job(const Visit& visit) {
    const auto node = node_.status();
    const auto job = find_job(node, visit.names[0]);
    visit.respond(
        job ? document(job_document(node, *job, actions_->context()))
            : error_response(job.error()));
}

void ControlRoutes::show_checkpoints(const Visit& visit) {
    core::JobId id;
    const auto wanted = visit.request.query.find("job");
    if (wanted != visit.request.query.end()) {
        const auto job = find_job(node_.status(), wanted->second);
        if (!job) return visit.respond(error_response(job.error()));
        id = job->job;
    }
    actions_->list_checkpoints(
        id,
        [respond = visit.respond,
         context = actions_->context()](const Result<std::vector<CheckpointInfo>>& found) {
            respond(
                found ? document(checkpoints_document(*found, context))
                      : error_response(found.error()));
        });
}

// --- changing -----------------------------------------------------------------------------------

void ControlRoutes::found_network(const Visit& visit) {
    const auto network = actions_->found_network();
    if (!network) return visit.respond(error_response(network.error()));
    const std::string text = "founded network " + network->text();
    visit.respond(document(done_document(text, node_.status(), nullptr)));
}

void ControlRoutes::submit_job(const Visit& visit) {
    auto job = actions_->read_job(visit.request.body);
    if (!job) return visit.respond(error_response(job.error()));
    job->only_validate = visit.asks("validate");
    const core::JobId id = job->job;
    run_command(visit, id, std::move(*job));
}

void ControlRoutes::run_command(const Visit& visit, core::JobId job, core::Command command) {
    node_.command(
        std::move(command),
        [this, job, respond = visit.respond](const Result<core::CommandDone>& done) {
            if (!done) return respond(error_response(done.error()));
            const auto node = node_.status();
            respond(document(done_document(done->text, node, job_of(node, job))));
        });
}

template <typename JobCommand>
void ControlRoutes::command_job(const Visit& visit) {
    const auto job = find_job(node_.status(), visit.names[0]);
    if (!job) return visit.respond(error_response(job.error()));
    run_command(visit, job->job, JobCommand{job->job});
}

void ControlRoutes::join_job(const Visit& visit) {
    command_job<core::JoinJob>(visit);
}

void ControlRoutes::pause_job(const Visit& visit) {
    command_job<core::PauseJob>(visit);
}

void ControlRoutes::resume_job(const Visit& visit) {
    command_job<core::ResumeJob>(visit);
}

void ControlRoutes::stop_job(const Visit& visit) {
    command_job<core::StopJob>(visit);
}

void ControlRoutes::remove_job(const Visit& visit) {
    command_job<core::RemoveJob>(visit);
}

void ControlRoutes::verify_checkpoint(const Visit& visit) {
    const auto job = find_job(node_.status(), visit.names[0]);
    if (!job) return visit.respond(error_response(job.error()));
    const auto choice = read_checkpoint_choice(visit.names[1]);
    if (!choice) return visit.respond(error_response(choice.error()));
    actions_->verify_checkpoint(
        job->job,
        *choice,
        [respond = visit.respond,
         context = actions_->context()](const Result<CheckpointInfo>& found) {
            respond(
                found ? document(checkpoint_document(*found, context))
                      : error_response(found.error()));
        });
}

void ControlRoutes::export_checkpoint(const Visit& visit) {
    const auto job = find_job(node_.status(), visit.names[0]);
    if (!job) return visit.respond(error_response(job.error()));
    const auto choice = read_checkpoint_choice(visit.names[1]);
    if (!choice) return visit.respond(error_response(choice.error()));
    actions_->find_model(
        job->job, *choice, [respond = visit.respond](const Result<std::filesystem::path>& file) {
            if (!file) return respond(error_response(file.error()));
            ControlResponse response;
            response.content_type = "application/octet-stream";
            response.file = *file;
            respond(std::move(response));
        });
}

}  // namespace p2p::daemon
