#include "daemon/status_json.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "proto/control.hpp"
#include "proto/json.hpp"
#include "tests/support/sample_status.hpp"

namespace p2p::daemon {
namespace {

using proto::Json;

constexpr std::int64_t two_oclock = 1'796'047'682;  // 2026-11-30T14:08:02Z

DocumentContext context() {
    return {.unix_seconds = two_oclock, .release = "0.1.0", .protocol_min = 1, .protocol_max = 1};
}

Json parse(const std::string& document) {
    return Json::parse(document);
}

TEST(Documents, NameTheirSchemaAndTime) {
    const auto node = tests::sample_status();
    const Json status = parse(status_document(node, context()));
    EXPECT_EQ(proto::schema::status, status.at("schema").get<std::string>());
    EXPECT_EQ("2026-11-30T14:08:02Z", status.at("time").get<std::string>());
    EXPECT_EQ(proto::schema::peers, parse(peers_document(node, context())).at("schema"));
    EXPECT_EQ(proto::schema::jobs, parse(jobs_document(node, context())).at("schema"));
    EXPECT_EQ(proto::schema::job, parse(job_document(node, node.jobs[0], context())).at("schema"));
    EXPECT_EQ(proto::schema::health, parse(health_document(node, context())).at("schema"));
    EXPECT_EQ(proto::schema::version, parse(version_document(context())).at("schema"));
    EXPECT_EQ(proto::schema::id, parse(id_document(node, context())).at("schema"));
    EXPECT_EQ(proto::schema::checkpoints, parse(checkpoints_document({}, context())).at("schema"));
}

TEST(StatusDocument, CountsPeersByState) {
    const Json peers = parse(status_document(tests::sample_status(), context())).at("peers");
    EXPECT_EQ(4, peers.at("known"));
    EXPECT_EQ(2, peers.at("connected"));
    EXPECT_EQ(1, peers.at("suspect"));
    EXPECT_EQ(1, peers.at("failed"));
    EXPECT_EQ(0, peers.at("left"));
}

TEST(StatusDocument, SaysSinceWhenAProblemIsThereAndWhatToDo) {
    const Json problem =
        parse(status_document(tests::sample_status(), context())).at("health").at(0);
    EXPECT_EQ("W0107", problem.at("code"));
    EXPECT_EQ("2026-11-30T14:02:02Z", problem.at("since"));
    EXPECT_EQ("p2pctl peer show fra1-b", problem.at("next"));
    EXPECT_EQ("fra1-b", problem.at("subject").at("peer_name"));
}

TEST(StatusDocument, IsNotReadyWithoutANetworkNorWhileStopping) {
    auto node = tests::sample_status();
    EXPECT_EQ("ready", parse(status_document(node, context())).at("state"));
    node.network = {};
    EXPECT_EQ("no_network", parse(status_document(node, context())).at("state"));
    EXPECT_TRUE(parse(status_document(node, context())).at("network").at("id").is_null());
    node.stopping = true;
    EXPECT_EQ("stopping", parse(status_document(node, context())).at("state"));
}

TEST(PeersDocument, HasThisNodeFirstAndWholeIds) {
    const auto node = tests::sample_status();
    const Json peers = parse(peers_document(node, context())).at("peers");
    ASSERT_EQ(5U, peers.size());
    EXPECT_EQ("self", peers.at(0).at("state"));
    EXPECT_EQ(node.id.text(), peers.at(0).at("id"));
    EXPECT_DOUBLE_EQ(0.0004, peers.at(1).at("rtt_seconds").get<double>());
}

TEST(PeersDocument, SaysNullForWhatIsNotKnown) {
    const Json failed = parse(peers_document(tests::sample_status(), context())).at("peers").at(3);
    EXPECT_TRUE(failed.at("rtt_seconds").is_null());
    EXPECT_TRUE(failed.at("silent_seconds").is_null());
}

TEST(JobDocument, HasEveryMemberWithThisNodeFirst) {
    const auto node = tests::sample_status();
    const Json members = parse(job_document(node, node.jobs[0], context())).at("job").at("members");
    ASSERT_EQ(3U, members.size());
    EXPECT_EQ("ams1-a", members.at(0).at("name"));
    EXPECT_TRUE(members.at(0).at("self").get<bool>());
    EXPECT_EQ(2, members.at(0).at("peers"));
    EXPECT_EQ("fra1-b", members.at(2).at("name"));
    EXPECT_FALSE(members.at(2).at("connected").get<bool>());
    for (const Json& member : members) {
        for (const char* key :
             {"id",
              "state",
              "steps",
              "samples",
              "samples_per_second",
              "train_loss",
              "eval_loss",
              "accuracy",
              "distance_ratio",
              "swaps",
              "utilization",
              "bytes_sent",
              "peers",
              "final_hash"}) {
            EXPECT_TRUE(member.contains(key)) << key;
        }
    }
}

TEST(JobDocument, SaysNullBeforeTheFirstStepAndEvaluation) {
    const auto node = tests::sample_status();
    const Json job = parse(job_document(node, node.jobs[1], context())).at("job");
    EXPECT_TRUE(job.at("train_loss").is_null());
    EXPECT_TRUE(job.at("accuracy").is_null());
    EXPECT_TRUE(job.at("samples_total").is_null());
    EXPECT_TRUE(job.at("time_left_seconds").is_null());
    EXPECT_TRUE(job.at("epochs").is_null());
    EXPECT_TRUE(job.at("members").at(0).at("samples_per_second").is_null());
    EXPECT_TRUE(job.at("members").at(0).at("final_hash").is_null());
}

TEST(JobDocument, StaysJsonWhenALossIsNotFinite) {
    auto node = tests::sample_status();
    node.jobs[0].own.train_loss = std::nan("");
    node.jobs[0].own.distance_ratio = std::numeric_limits<double>::infinity();
    const Json job = parse(job_document(node, node.jobs[0], context())).at("job");
    EXPECT_TRUE(job.at("train_loss").is_null());
    EXPECT_TRUE(job.at("distance_ratio").is_null());
}

TEST(JobDocument, TellsWhatMixingDecidedAndTheCodecOfEachLink) {
    const auto node = tests::sample_status();
    const Json job = parse(job_document(node, node.jobs[0], context())).at("job");
    EXPECT_EQ(Json(node.jobs[0].choices), job.at("choices"));
    EXPECT_TRUE(job.at("edges").at(0).at("codec").is_string());
    EXPECT_TRUE(job.at("edges").at(0).at("chosen").is_boolean());
}

TEST(JobDocument, HasEdgesAndTheLedger) {
    const auto node = tests::sample_status();
    const Json job = parse(job_document(node, node.jobs[0], context())).at("job");
    ASSERT_EQ(2U, job.at("edges").size());
    EXPECT_EQ("ams1-b", job.at("edges").at(0).at("peer"));
    EXPECT_EQ("busy", job.at("edges").at(0).at("last_refusal"));
    EXPECT_EQ("burial", job.at("ledger").at(0).at("kind"));
    EXPECT_NEAR(7.07, job.at("epoch").get<double>(), 0.01);
}

TEST(JobsDocument, TellsEqualNamesApart) {
    auto node = tests::sample_status();
    node.jobs[1].name = node.jobs[0].name;
    const Json jobs = parse(jobs_document(node, context())).at("jobs");
    EXPECT_EQ("mnist-mlp@" + node.jobs[0].job.short_text(), jobs.at(0).at("label"));
    EXPECT_EQ("mnist-mlp@" + node.jobs[1].job.short_text(), jobs.at(1).at("label"));
}

TEST(HealthDocument, IsUnhealthyOnErrorsAndWhileStoppingButNotOnWarnings) {
    auto node = tests::sample_status();
    EXPECT_TRUE(parse(health_document(node, context())).at("healthy").get<bool>());
    node.health[0].severity = "error";
    EXPECT_FALSE(parse(health_document(node, context())).at("healthy").get<bool>());
    node.health.clear();
    node.stopping = true;
    EXPECT_FALSE(parse(health_document(node, context())).at("healthy").get<bool>());
}

TEST(Documents, StayWholeWithNastyTextsFromOtherNodes) {
    const auto node = tests::nasty_status();
    const Json peers = parse(peers_document(node, context())).at("peers");
    EXPECT_EQ("\"quoted\" back\\slash", peers.at(1).at("name"));
    EXPECT_EQ("red \x1b[31mhat\x1b[2J", peers.at(2).at("name"));
    EXPECT_NE(std::string::npos, peers.at(3).at("name").get<std::string>().find("\xef\xbf\xbd"));
    const std::string text = status_document(node, context());
    for (const char c : text)
        EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    EXPECT_TRUE(Json::accept(text));
    EXPECT_TRUE(Json::accept(job_document(node, node.jobs[0], context())));
}

TEST(ErrorDocument, IsReadBackAsTheSameError) {
    const core::Error error{
        core::ErrorCode::conflict, "what \"it\" is", "why\nso", "p2pctl job list"};
    EXPECT_EQ(error, proto::read_error_document(proto::error_document(error)));
}

TEST(ErrorDocument, IsNotReadFromAnythingElse) {
    for (const char* text : {"", "{}", "[]", "{\"error\":1}", "null", "{\"error\":{}", "<html>"}) {
        EXPECT_FALSE(proto::read_error_document(text)) << text;
    }
}

TEST(Rfc3339, IsInUtc) {
    EXPECT_EQ("1970-01-01T00:00:00Z", rfc3339_seconds(0));
    EXPECT_EQ("2026-11-30T14:08:02Z", rfc3339_seconds(two_oclock));
}

}  // namespace
}  // namespace p2p::daemon
