#include "tools/p2pctl/columns.hpp"

#include "proto/control.hpp"
#include "tools/p2pctl/screens.hpp"

namespace p2p::tools {

namespace {

namespace schema = proto::schema;

const std::vector<Column>& peer_columns() {
    static const std::vector<Column> columns{
        {"NAME", "name"},
        {"ID", "id", Style::id},
        {"SITE", "site"},
        {"STATE", "state", Style::state},
        {"ADDRESS", "addresses", Style::first},
        {"RTT", "rtt_seconds", Style::delay},
        {"SENT", "sent_bytes", Style::bytes},
        {"RECEIVED", "received_bytes", Style::bytes},
        {"VERSION", "version"},
        {"NOTE", "note"},
        {"SILENT", "silent_seconds", Style::duration, true},
        {"REFUSED", "misbehaved_total", Style::count, true},
        {"INCARNATION", "incarnation", Style::count, true}};
    return columns;
}

const std::vector<Column>& peer_card() {
    static const std::vector<Column> columns{
        {"name", "name"},
        {"id", "id"},
        {"site", "site"},
        {"state", "state", Style::state},
        {"note", "note"},
        {"addresses", "addresses", Style::list},
        {"rtt", "rtt_seconds", Style::delay},
        {"last heard", "silent_seconds", Style::duration},
        {"sent", "sent_bytes", Style::bytes},
        {"received", "received_bytes", Style::bytes},
        {"refused", "misbehaved_total", Style::count},
        {"version", "version"},
        {"incarnation", "incarnation", Style::count},
        {"jobs", "jobs", Style::list}};
    return columns;
}

const std::vector<Column>& job_columns() {
    static const std::vector<Column> columns{
        {"NAME", "label"},
        {"STATE", "state", Style::state},
        {"PROGRESS", "progress_ratio", Style::percent},
        {"LOSS", "train_loss", Style::number},
        {"PEERS", "peers", Style::count},
        {"SINCE", "since_seconds", Style::duration},
        {"REASON", "reason"},
        {"ACCURACY", "accuracy", Style::percent1, true},
        {"SWAPS", "swaps_total", Style::count, true},
        {"ID", "id", Style::text, true}};
    return columns;
}

const std::vector<Column>& checkpoint_columns() {
    static const std::vector<Column> columns{
        {"JOB", "job"},
        {"CHECKPOINT", "name"},
        {"STEP", "step", Style::count},
        {"AGE", "age_seconds", Style::duration},
        {"SIZE", "size_bytes", Style::bytes},
        {"WHOLE", "whole", Style::yes_or_no},
        {"FINAL", "final", Style::yes_or_no},
        {"NOTE", "note"}};
    return columns;
}

const std::vector<Column>& problem_columns() {
    static const std::vector<Column> columns{
        {"CODE", "code"},
        {"SEVERITY", "severity", Style::state},
        {"FOR", "since_seconds", Style::duration},
        {"TEXT", "text"},
        {"NEXT", "next"}};
    return columns;
}

const std::vector<Reading>& readings() {
    static const std::vector<Reading> table{
        {"status", "/v1/status", schema::status, "", "node.name", {}, &status_screen},
        {"health",
         "/v1/health",
         schema::health,
         "problems",
         "code",
         problem_columns(),
         &health_screen},
        {"id", "/v1/id", schema::id, "", "id", {{"id", "id"}}, &id_screen},
        {"peer list", "/v1/peers", schema::peers, "peers", "name", peer_columns(), nullptr},
        {"peer show", "/v1/peers/{}", schema::peer, "peer", "id", peer_card(), nullptr},
        {"job list", "/v1/jobs", schema::jobs, "jobs", "label", job_columns(), nullptr},
        {"job show", "/v1/jobs/{}", schema::job, "job", "id", {}, &job_screen},
        {"checkpoint list",
         "/v1/checkpoints",
         schema::checkpoints,
         "checkpoints",
         "name",
         checkpoint_columns(),
         nullptr},
    };
    return table;
}

}  // namespace

const std::vector<Column>& member_columns() {
    static const std::vector<Column> columns{
        {"MEMBER", "name"},
        {"ID", "id", Style::id},
        {"STATE", "state", Style::state},
        {"STEPS", "steps", Style::count},
        {"SAMPLES/S", "samples_per_second", Style::number},
        {"TRAIN", "train_loss", Style::number},
        {"EVAL", "eval_loss", Style::number},
        {"ACCURACY", "accuracy", Style::percent1},
        {"DISTANCE", "distance_ratio", Style::number},
        {"SWAPS", "swaps", Style::count},
        {"BUSY", "utilization", Style::percent},
        {"SENT", "bytes_sent", Style::bytes},
        {"HEARD", "age_seconds", Style::duration},
        {"FINAL", "final_hash", Style::id, true}};
    return columns;
}

const std::vector<Column>& edge_columns() {
    static const std::vector<Column> columns{
        {"LINK TO", "peer"},
        {"ID", "peer_id", Style::id},
        {"SWAPS", "applied", Style::count},
        {"CUT", "refused", Style::count},
        {"OPEN", "open", Style::count},
        {"TIME", "swap_seconds", Style::delay},
        {"DISTANCE", "distance_ratio", Style::number},
        {"SENT", "bytes_sent", Style::bytes},
        {"CODEC", "codec"},
        {"LAST CUT", "last_refusal"}};
    return columns;
}

const std::vector<Column>& ledger_columns() {
    static const std::vector<Column> columns{
        {"LEDGER", "kind"},
        {"PEER", "peer"},
        {"NORM", "norm", Style::number},
        {"STEP", "step", Style::count}};
    return columns;
}

const Reading* find_reading(std::string_view command) {
    for (const Reading& reading : readings()) {
        if (reading.command == command) return &reading;
    }
    return nullptr;
}

}  // namespace p2p::tools
