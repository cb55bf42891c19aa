// Which job, peer or checkpoint a person means: the look-ups of control_routes.hpp, apart from its
// routes.

#include <charconv>

#include "daemon/control_routes.hpp"

namespace p2p::daemon {

namespace {

using core::Error;
using core::ErrorCode;

/// Shorter ones would make a typing error name something.
constexpr std::size_t id_prefix_letters_min = 4;

bool is_id_prefix(std::string_view text, std::string_view id) {
    return text.size() >= id_prefix_letters_min && id.starts_with(text);
}

Error ambiguous(std::string_view kind, std::string_view text, const std::string& candidates) {
    return {
        ErrorCode::conflict,
        "'" + std::string(text) + "' names more than one " + std::string(kind),
        "these fit: " + candidates,
        "write more letters of the id"};
}

bool is_named(const core::JobStatus& job, std::string_view text) {
    const auto at = text.rfind('@');
    if (at == std::string_view::npos) return job.name == text;
    return job.name == text.substr(0, at) && is_id_prefix(text.substr(at + 1), job.job.text());
}

}  // namespace

core::Result<core::JobStatus> find_job(const core::NodeStatus& node, std::string_view text) {
    std::vector<const core::JobStatus*> found;
    for (const auto& job : node.jobs) {
        if (is_named(job, text)) found.push_back(&job);
    }
    if (found.empty()) {
        for (const auto& job : node.jobs) {
            if (is_id_prefix(text, job.job.text())) found.push_back(&job);
        }
    }
    if (found.empty()) {
        return Error{
            ErrorCode::not_found,
            "there is no job '" + std::string(text) + "' here",
            "",
            "p2pctl job list"};
    }
    if (found.size() == 1) return *found.front();
    std::string candidates;
    for (const auto* job : found) {
        if (!candidates.empty()) candidates += ", ";
        candidates += job->name + "@" + job->job.short_text();
    }
    return ambiguous("job", text, candidates);
}

core::Result<core::PeerStatus> find_peer(
    const core::NodeStatus& node, const core::PeerStatus& self, std::string_view text) {
    std::vector<const core::PeerStatus*> all{&self};
    for (const auto& peer : node.peers)
        all.push_back(&peer);

    std::vector<const core::PeerStatus*> found;
    for (const auto* peer : all) {
        if (!text.empty() && peer->name == text) found.push_back(peer);
    }
    if (found.empty()) {
        for (const auto* peer : all) {
            if (is_id_prefix(text, peer->id.text())) found.push_back(peer);
        }
    }
    if (found.empty()) {
        return Error{
            ErrorCode::not_found,
            "no peer is known by '" + std::string(text) + "'",
            "",
            "p2pctl peer list"};
    }
    if (found.size() == 1) return *found.front();
    std::string candidates;
    for (const auto* peer : found) {
        if (!candidates.empty()) candidates += ", ";
        candidates += peer->name + " (" + peer->id.text().substr(0, 12) + ")";
    }
    return ambiguous("peer", text, candidates);
}

core::Result<CheckpointChoice> read_checkpoint_choice(std::string_view text) {
    if (text == "latest") return CheckpointChoice{CheckpointChoice::Kind::latest, {}};
    if (text == "final") return CheckpointChoice{CheckpointChoice::Kind::final_model, {}};
    std::string_view digits = text;
    if (digits.starts_with("step-")) digits.remove_prefix(5);
    std::uint64_t step = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (error == std::errc{} && end == digits.data() + digits.size() && !digits.empty()) {
        return CheckpointChoice{CheckpointChoice::Kind::step, core::StepCount{step}};
    }
    return Error{
        ErrorCode::invalid,
        "'" + std::string(text) + "' names no checkpoint",
        "it is a step, 'latest' or 'final'",
        "p2pctl checkpoint list"};
}

}  // namespace p2p::daemon
