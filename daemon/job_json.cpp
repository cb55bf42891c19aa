// The job documents of status_json.hpp: one line in a list, and everything of one job with its
// members, edges and ledger. Apart from status_json.cpp for its length only.

#include <algorithm>

#include "daemon/job_names.hpp"
#include "daemon/json_values.hpp"
#include "daemon/status_json.hpp"
#include "proto/control.hpp"

namespace p2p::daemon {

namespace {

namespace schema = proto::schema;
using core::EdgeStatus;
using core::JobReport;
using core::JobStatus;
using core::NodeStatus;
using core::SwapReason;

constexpr std::size_t short_spec_letters = 8;

/// 0 in a report stands for "not yet"; here that is null.
bool has_stepped(const JobReport& report) {
    return report.steps.value > 0;
}

bool has_evaluated(const JobReport& report) {
    return report.eval_loss != 0 || report.accuracy != 0;
}

/// What one member says of itself, without who it is.
void put_report(Json& member, const JobReport& report) {
    member["state"] = job_state_name(report.state);
    member["steps"] = report.steps.value;
    member["samples"] = report.samples.value;
    member["samples_per_second"] = json_number(report.samples_per_second, has_stepped(report));
    member["train_loss"] = json_number(report.train_loss, report.train_loss != 0);
    member["eval_loss"] = json_number(report.eval_loss, has_evaluated(report));
    member["accuracy"] = json_number(report.accuracy, has_evaluated(report));
    member["distance_ratio"] = json_number(report.distance_ratio, report.swaps > 0);
    member["swaps"] = report.swaps;
    member["utilization"] = json_number(report.utilization, has_stepped(report));
    member["bytes_sent"] = report.bytes_sent;
    member["training_seconds"] = json_seconds(report.training_time);
    member["settled"] = report.settled;
    member["final_hash"] = json_id(report.final_hash);
}

Json json_own_member(const NodeStatus& node, const JobStatus& job) {
    Json member{
        {"name", node.name},
        {"id", node.id.text()},
        {"self", true},
        {"connected", true},
        {"age_seconds", 0}};
    put_report(member, job.own);
    member["state"] = job_state_name(job.state);
    member["final_hash"] = json_id(job.final_hash);
    member["peers"] = job.edges.size();
    return member;
}

Json json_member(const NodeStatus& node, const core::MemberStatus& other) {
    Json member{
        {"name", json_text_or_null(name_of(node, other.id))},
        {"id", other.id.text()},
        {"self", false},
        {"connected", other.connected},
        {"age_seconds", json_seconds(other.age)}};
    put_report(member, other.report);
    member["peers"] = nullptr;  // a report does not say
    return member;
}

Json json_edge(const NodeStatus& node, const EdgeStatus& edge) {
    const bool is_used = edge.applied > 0;
    return {
        {"peer", json_text_or_null(name_of(node, edge.peer))},
        {"peer_id", edge.peer.text()},
        {"applied", edge.applied},
        {"refused", edge.refused},
        {"open", edge.open},
        {"distance_ratio", json_number(edge.distance_ratio, is_used)},
        {"swap_seconds", is_used ? json_seconds(edge.swap_time) : Json{}},
        {"bytes_sent", edge.bytes_sent.value},
        {"codec", is_used ? Json(std::string(core::codec_name(edge.codec))) : Json{}},
        {"chosen", edge.is_chosen},
        {"last_refusal",
         json_text_or_null(
             edge.last_refusal == SwapReason::none ? "" : swap_reason_name(edge.last_refusal))},
    };
}

Json json_ledger_line(const NodeStatus& node, const core::LedgerLine& line) {
    return {
        {"kind", ledger_kind_name(line.kind)},
        {"peer", json_text_or_null(name_of(node, line.peer))},
        {"peer_id", json_id(line.peer)},
        {"norm", json_number(line.norm)},
        {"step", line.step.value},
    };
}

template <typename List, typename Make>
Json json_list(const List& list, Make make) {
    Json array = Json::array();
    for (const auto& entry : list)
        array.push_back(make(entry));
    return array;
}

/// The spec's epochs and how many of them are done; null where the job ends otherwise.
void put_epochs(Json& entry, const JobStatus& job) {
    const double epochs = job.spec ? job.spec->train.epochs : 0;
    entry["epoch"] = json_number(epochs * job.progress_ratio, epochs > 0);
    entry["epochs"] = json_number(epochs, epochs > 0);
}

}  // namespace

Json json_job_summary(const NodeStatus& node, const JobStatus& job) {
    const auto same_name = std::count_if(
        node.jobs.begin(), node.jobs.end(), [&](const JobStatus& j) { return j.name == job.name; });
    Json entry{
        {"name", job.name},
        {"label", same_name > 1 ? job.name + "@" + job.job.short_text() : job.name},
        {"id", job.job.text()},
        {"spec", job.job.text().substr(0, short_spec_letters)},
        {"state", job_state_name(job.state)},
        {"reason", json_text_or_null(job.reason)},
        {"since_seconds", json_seconds(job.since)},
        {"progress_ratio", json_number(job.progress_ratio)},
        {"time_left_seconds", json_seconds(job.time_left)},
        {"samples_mesh", job.samples_mesh.value},
        {"samples_total", job.samples_total.value == 0 ? Json{} : Json(job.samples_total.value)},
        {"swaps_total", job.own.swaps},
        {"train_loss", json_number(job.own.train_loss, job.own.train_loss != 0)},
        {"eval_loss", json_number(job.own.eval_loss, has_evaluated(job.own))},
        {"accuracy", json_number(job.own.accuracy, has_evaluated(job.own))},
        {"peers", job.members},
    };
    put_epochs(entry, job);
    return entry;
}

std::string jobs_document(const NodeStatus& node, const DocumentContext& context) {
    Json document = json_document(schema::jobs, context);
    document["jobs"] =
        json_list(node.jobs, [&](const JobStatus& job) { return json_job_summary(node, job); });
    return document_text(document);
}

std::string job_document(
    const NodeStatus& node, const JobStatus& job, const DocumentContext& context) {
    Json entry = json_job_summary(node, job);
    entry["since"] = time_before(context, job.since);
    entry["description"] = job.spec ? json_text_or_null(job.spec->description) : Json{};
    entry["submitter"] = json_id(job.submitter);
    entry["submitter_name"] = json_text_or_null(name_of(node, job.submitter));
    entry["recipe"] = json_text_or_null(job.recipe);
    entry["choices"] = job.choices;
    entry["parameter_norm"] = json_number(job.parameter_norm, job.parameter_norm > 0);
    entry["distance_ratio"] = json_number(job.own.distance_ratio, job.own.swaps > 0);
    entry["utilization"] = json_number(job.own.utilization, has_stepped(job.own));
    entry["end_reason"] = job.end_reason ? Json(end_reason_name(*job.end_reason)) : Json{};
    entry["final_hash"] = json_id(job.final_hash);

    Json members = Json::array({json_own_member(node, job)});
    for (const auto& other : job.others)
        members.push_back(json_member(node, other));
    entry["members"] = std::move(members);
    entry["edges"] = json_list(job.edges, [&](const auto& edge) { return json_edge(node, edge); });
    entry["ledger"] =
        json_list(job.ledger, [&](const auto& line) { return json_ledger_line(node, line); });

    Json document = json_document(schema::job, context);
    document["job"] = std::move(entry);
    return document_text(document);
}

}  // namespace p2p::daemon
