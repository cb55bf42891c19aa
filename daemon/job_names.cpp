#include "daemon/job_names.hpp"

namespace p2p::daemon {

namespace {

struct StateName {
    core::JobState state;
    std::string_view name;
};

// They stand in state.json of checkpoints too: never change them.
constexpr StateName state_names[] = {
    {core::JobState::waiting, "waiting"},
    {core::JobState::blocked, "blocked"},
    {core::JobState::running, "running"},
    {core::JobState::paused, "paused"},
    {core::JobState::finishing, "finishing"},
    {core::JobState::done, "done"},
    {core::JobState::stopped, "stopped"},
    {core::JobState::failed, "failed"},
};

}  // namespace

std::string_view job_state_name(core::JobState state) {
    for (const StateName& entry : state_names) {
        if (entry.state == state) return entry.name;
    }
    return "unknown";
}

std::optional<core::JobState> job_state_from(std::string_view name) {
    for (const StateName& entry : state_names) {
        if (entry.name == name) return entry.state;
    }
    return std::nullopt;
}

std::string_view end_reason_name(core::EndReason reason) {
    switch (reason) {
        case core::EndReason::total: return "total";
        case core::EndReason::time: return "time";
        case core::EndReason::stop: return "stop";
    }
    return "";
}

std::string_view swap_reason_name(core::SwapReason reason) {
    switch (reason) {
        case core::SwapReason::none: return "applied";
        case core::SwapReason::busy: return "busy";
        case core::SwapReason::unknown_job: return "unknown_job";
        case core::SwapReason::not_running: return "not_running";
        case core::SwapReason::codec: return "codec";
        case core::SwapReason::malformed: return "malformed";
        case core::SwapReason::not_finite: return "not_finite";
        case core::SwapReason::norm: return "norm";
        case core::SwapReason::hash: return "hash";
        case core::SwapReason::buried: return "buried";
        case core::SwapReason::behind: return "behind";
        case core::SwapReason::round_over: return "round_over";
        case core::SwapReason::theta: return "theta";
        case core::SwapReason::ascent: return "ascent";
    }
    return "unknown";
}

std::string_view ledger_kind_name(core::LedgerLine::Kind kind) {
    switch (kind) {
        case core::LedgerLine::Kind::join: return "join";
        case core::LedgerLine::Kind::death: return "death";
        case core::LedgerLine::Kind::rollback: return "rollback";
        case core::LedgerLine::Kind::adoption: return "adoption";
        case core::LedgerLine::Kind::burial: return "burial";
        case core::LedgerLine::Kind::final_model: return "final_model";
    }
    return "unknown";
}

}  // namespace p2p::daemon
