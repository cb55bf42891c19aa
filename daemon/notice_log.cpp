#include "daemon/notice_log.hpp"

#include <cstdio>
#include <iterator>
#include <string_view>

#include "daemon/job_names.hpp"

namespace p2p::daemon {
namespace {

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::vector<LogField> with_error(core::PeerId peer, const core::Error& why) {
    std::vector<LogField> fields{{"peer", peer.text()}};
    std::vector<LogField> more = log_fields(why);
    std::move(more.begin(), more.end(), std::back_inserter(fields));
    return fields;
}

struct EventOf {
    LogEvent operator()(const core::PeerConnected& notice) const {
        return {
            LogLevel::info,
            "peer_connected",
            {{"peer", notice.peer.text()},
             {"name", notice.name},
             {"incarnation", std::to_string(notice.incarnation.value)}}};
    }

    LogEvent operator()(const core::PeerDisconnected& notice) const {
        return {
            LogLevel::info,
            "peer_disconnected",
            {{"peer", notice.peer.text()}, {"why", notice.why}}};
    }

    LogEvent operator()(const core::PeerRefused& notice) const {
        return {LogLevel::warn, "peer_refused", with_error(notice.peer, notice.why)};
    }

    LogEvent operator()(const core::PeerUnreachable& notice) const {
        return {LogLevel::warn, "peer_unreachable", with_error(notice.peer, notice.why)};
    }

    LogEvent operator()(const core::PeerMisbehaved& notice) const {
        return {LogLevel::warn, "peer_misbehaved", with_error(notice.peer, notice.why)};
    }

    LogEvent operator()(const core::JobChanged& notice) const {
        const bool needs_a_person =
            notice.state == core::JobState::blocked || notice.state == core::JobState::failed;
        return {
            needs_a_person ? LogLevel::warn : LogLevel::info,
            "job_changed",
            {{"job", notice.job.text()},
             {"name", notice.name},
             {"state", std::string(job_state_name(notice.state))},
             {"reason", notice.reason}}};
    }

    LogEvent operator()(const core::SwapEnded& notice) const {
        return {
            LogLevel::debug,
            "swap_ended",
            {{"job", notice.job.short_text()},
             {"peer", notice.peer.short_text()},
             {"result", std::string(swap_reason_name(notice.why))},
             {"shard", std::to_string(notice.shard.value), true},
             {"n", std::to_string(notice.n.value), true},
             {"round", std::to_string(notice.round.value), true},
             {"weight", number(static_cast<double>(notice.weight)), true},
             {"took_ms", number(core::to_seconds(notice.took) * 1000), true},
             {"distance", number(notice.distance), true},
             {"displacement_norm", number(notice.displacement_norm), true}}};
    }

    LogEvent operator()(const core::LedgerLine& notice) const {
        return {
            LogLevel::info,
            "ledger",
            {{"kind", std::string(ledger_kind_name(notice.kind))},
             {"job", notice.job.text()},
             {"peer", notice.peer.text()},
             {"norm", number(notice.norm), true},
             {"step", std::to_string(notice.step.value), true}}};
    }

    LogEvent operator()(const core::JobEvaluated& notice) const {
        return {
            LogLevel::info,
            "job_evaluated",
            {{"job", notice.job.text()},
             {"step", std::to_string(notice.step.value)},
             {"samples_mesh", std::to_string(notice.samples_mesh.value)},
             {"loss", number(notice.loss)},
             {"accuracy", number(notice.accuracy)}}};
    }
};

}  // namespace

LogEvent log_event(const core::Notice& notice) {
    return std::visit(EventOf{}, notice);
}

std::vector<LogField> log_fields(const core::Error& error) {
    std::vector<LogField> fields{{"code", std::string(core::error_name(error.code))}};
    if (!error.what.empty()) fields.push_back({"what", error.what});
    if (!error.why.empty()) fields.push_back({"why", error.why});
    if (!error.next.empty()) fields.push_back({"next", error.next});
    return fields;
}

}  // namespace p2p::daemon
