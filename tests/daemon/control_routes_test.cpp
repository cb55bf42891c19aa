#include "daemon/control_routes.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "proto/json.hpp"
#include "tests/support/fake_node.hpp"

namespace p2p::daemon {
namespace {

using core::Error;
using core::ErrorCode;
using proto::Json;

class ControlRoutesTest : public testing::Test {
  protected:
    ControlResponse ask(
        const std::string& method, const std::string& path, const std::string& body = "") {
        ControlRequest request;
        request.method = method;
        request.path = path.substr(0, path.find('?'));
        request.body = body;
        if (path.find('?') != std::string::npos) {
            const std::string query = path.substr(path.find('?') + 1);
            const auto equals = query.find('=');
            request.query[query.substr(0, equals)] =
                equals == std::string::npos ? "" : query.substr(equals + 1);
        }
        std::optional<ControlResponse> answer;
        routes.handle(request, [&](ControlResponse response) {
            EXPECT_FALSE(answer) << "answered twice";
            answer = std::move(response);
        });
        EXPECT_TRUE(answer) << "not answered";
        return answer.value_or(ControlResponse{});
    }

    static std::string error_code(const ControlResponse& response) {
        return Json::parse(response.body).at("error").at("code");
    }

    tests::FakeNode fake;
    ControlRoutes routes{fake.node(), fake};
    core::JobId mnist = tests::id_of<core::JobId>(0x51);
};

TEST_F(ControlRoutesTest, EveryReadingPathAnswersWithADocument) {
    fake.checkpoints = {tests::sample_checkpoint()};
    for (const char* path :
         {"/v1/status",
          "/v1/health",
          "/v1/peers",
          "/v1/peers/ams1-b",
          "/v1/jobs",
          "/v1/jobs/mnist-mlp",
          "/v1/checkpoints",
          "/v1/checkpoints?job=mnist-mlp",
          "/v1/version",
          "/v1/id"}) {
        const auto answer = ask("GET", path);
        EXPECT_EQ(200U, answer.status) << path;
        EXPECT_TRUE(Json::parse(answer.body).contains("schema")) << path;
    }
    EXPECT_TRUE(fake.changes.empty());
}

TEST_F(ControlRoutesTest, AnUnknownPathIsNotFoundAndAWrongMethodSaysWhatFits) {
    EXPECT_EQ(404U, ask("GET", "/v1/nothing").status);
    EXPECT_EQ(404U, ask("GET", "/").status);
    EXPECT_EQ(404U, ask("GET", "/v1/jobs/a/b").status);
    EXPECT_EQ(404U, ask("GET", "/v1/jobs/").status);
    const auto answer = ask("PUT", "/v1/jobs/mnist-mlp");
    EXPECT_EQ(405U, answer.status);
    EXPECT_NE(std::string::npos, answer.body.find("GET, DELETE"));
}

TEST_F(ControlRoutesTest, ReadyTurnsFalseWhileStopping) {
    EXPECT_EQ(200U, ask("GET", "/readyz").status);
    fake.status.stopping = true;
    EXPECT_EQ(503U, ask("GET", "/readyz").status);
    EXPECT_NE(std::string::npos, ask("GET", "/readyz?verbose").body.find("[-] not stopping"));
    EXPECT_EQ(200U, ask("GET", "/livez").status);
}

TEST_F(ControlRoutesTest, TheVerbsOfAJobBecomeItsCommands) {
    EXPECT_EQ(200U, ask("POST", "/v1/jobs/mnist-mlp/join").status);
    EXPECT_EQ(200U, ask("POST", "/v1/jobs/mnist-mlp/pause").status);
    EXPECT_EQ(200U, ask("POST", "/v1/jobs/mnist-mlp/resume").status);
    EXPECT_EQ(200U, ask("POST", "/v1/jobs/mnist-mlp/stop").status);
    EXPECT_EQ(200U, ask("DELETE", "/v1/jobs/mnist-mlp").status);
    ASSERT_EQ(5U, fake.commands.size());
    EXPECT_EQ(mnist, std::get<core::JoinJob>(fake.commands[0]).job);
    EXPECT_EQ(mnist, std::get<core::PauseJob>(fake.commands[1]).job);
    EXPECT_EQ(mnist, std::get<core::ResumeJob>(fake.commands[2]).job);
    EXPECT_EQ(mnist, std::get<core::StopJob>(fake.commands[3]).job);
    EXPECT_EQ(mnist, std::get<core::RemoveJob>(fake.commands[4]).job);
}

TEST_F(ControlRoutesTest, EveryChangeIsReportedWithItsOutcome) {
    (void)ask("POST", "/v1/jobs/mnist-mlp/pause");
    (void)ask("POST", "/v1/jobs/absent/pause");
    const std::vector<std::pair<std::string, unsigned>> expected{
        {"POST /v1/jobs/mnist-mlp/pause", 200}, {"POST /v1/jobs/absent/pause", 404}};
    EXPECT_EQ(expected, fake.changes);
}

TEST_F(ControlRoutesTest, ASubmittedJobIsAnsweredWithItsState) {
    const auto answer = ask("POST", "/v1/jobs", "schema = \"p2pd.job/1\"");
    ASSERT_EQ(200U, answer.status);
    const Json document = Json::parse(answer.body);
    EXPECT_EQ("done as asked", document.at("text"));
    EXPECT_EQ("mnist-mlp", document.at("job").at("name"));
    EXPECT_EQ("running", document.at("job").at("state"));
    EXPECT_FALSE(std::get<core::SubmitJob>(fake.commands.at(0)).only_validate);
}

TEST_F(ControlRoutesTest, ValidatingOnlyValidates) {
    EXPECT_EQ(200U, ask("POST", "/v1/jobs?validate=1", "x").status);
    EXPECT_TRUE(std::get<core::SubmitJob>(fake.commands.at(0)).only_validate);
}

TEST_F(ControlRoutesTest, AJobThatCannotBeReadReachesNoNode) {
    const auto answer = ask("POST", "/v1/jobs", "bad");
    EXPECT_EQ(400U, answer.status);
    EXPECT_EQ("did you mean train.epochs?", Json::parse(answer.body).at("error").at("next"));
    EXPECT_TRUE(fake.commands.empty());
}

TEST_F(ControlRoutesTest, TheNodesRefusalsBecomeStatusCodes) {
    const std::vector<std::pair<ErrorCode, unsigned>> expected{
        {ErrorCode::conflict, 409},
        {ErrorCode::not_permitted, 403},
        {ErrorCode::not_found, 404},
        {ErrorCode::invalid, 400},
        {ErrorCode::interrupted, 503},
        {ErrorCode::too_large, 413},
        {ErrorCode::wrong_network, 409},
        {ErrorCode::unwritable, 500}};
    for (const auto& [code, status] : expected) {
        fake.refusal = Error{code, "no", "because", ""};
        const auto answer = ask("POST", "/v1/jobs/mnist-mlp/stop");
        EXPECT_EQ(status, answer.status) << core::error_name(code);
        EXPECT_EQ(core::error_name(code), error_code(answer));
    }
}

TEST_F(ControlRoutesTest, ANetworkIsFoundedOnce) {
    const auto first = ask("POST", "/v1/init");
    EXPECT_EQ(200U, first.status);
    EXPECT_NE(std::string::npos, first.body.find(tests::id_of<core::NetworkId>(9).text()));
    EXPECT_EQ(409U, ask("POST", "/v1/init").status);
}

TEST_F(ControlRoutesTest, CheckpointsAreListedVerifiedAndExported) {
    fake.checkpoints = {tests::sample_checkpoint()};
    fake.model = "/somewhere/model.safetensors";
    const Json list = Json::parse(ask("GET", "/v1/checkpoints?job=mnist-mlp").body);
    EXPECT_EQ("step-00022400", list.at("checkpoints").at(0).at("name"));
    EXPECT_EQ(38, list.at("checkpoints").at(0).at("age_seconds"));
    EXPECT_TRUE(
        Json::parse(ask("GET", "/v1/checkpoints?job=cifar-vit").body).at("checkpoints").empty());
    EXPECT_EQ(404U, ask("GET", "/v1/checkpoints?job=absent").status);

    EXPECT_EQ(200U, ask("POST", "/v1/checkpoints/mnist-mlp/latest/verify").status);
    EXPECT_EQ(200U, ask("POST", "/v1/checkpoints/mnist-mlp/22400/verify").status);
    EXPECT_EQ(404U, ask("POST", "/v1/checkpoints/mnist-mlp/7/verify").status);
    EXPECT_EQ(400U, ask("POST", "/v1/checkpoints/mnist-mlp/..%2f/verify").status);
    EXPECT_EQ(fake.model, ask("POST", "/v1/checkpoints/mnist-mlp/final/export").file);
    EXPECT_EQ(405U, ask("GET", "/v1/checkpoints/mnist-mlp/final/export").status);
}

TEST(FindJob, TakesNameNameWithPrefixAndIdPrefix) {
    const auto node = tests::sample_status();
    const std::string id = node.jobs[0].job.text();
    for (const std::string& text :
         {std::string("mnist-mlp"), "mnist-mlp@" + id.substr(0, 6), id.substr(0, 4), id}) {
        const auto job = find_job(node, text);
        ASSERT_TRUE(job) << text;
        EXPECT_EQ(node.jobs[0].job, job->job);
    }
}

TEST(FindJob, RefusesWhatNamesNoJobOrSeveral) {
    auto node = tests::sample_status();
    const std::string id = node.jobs[0].job.text();
    for (const std::string& text :
         {std::string(""),
          std::string("absent"),
          std::string("mnist-mlp@"),
          "cifar-vit@" + id.substr(0, 6),
          id.substr(0, 3)}) {
        const auto job = find_job(node, text);
        ASSERT_FALSE(job) << text;
        EXPECT_EQ(ErrorCode::not_found, job.error().code);
    }
    node.jobs[1].name = node.jobs[0].name;
    const auto job = find_job(node, "mnist-mlp");
    ASSERT_FALSE(job);
    EXPECT_EQ(ErrorCode::conflict, job.error().code);
    EXPECT_NE(std::string::npos, job.error().why.find("mnist-mlp@" + id.substr(0, 6)));
}

TEST(FindPeer, TakesNamesAndIdPrefixesOfPeersAndOfThisNode) {
    const auto node = tests::sample_status();
    const auto self = self_as_peer(node, {});
    EXPECT_EQ(node.peers[1].id, find_peer(node, self, "fra1-a")->id);
    EXPECT_EQ(node.peers[1].id, find_peer(node, self, node.peers[1].id.short_text())->id);
    EXPECT_EQ(node.id, find_peer(node, self, "ams1-a")->id);
}

TEST(FindPeer, RefusesWhatNamesNobodyOrSeveral) {
    auto node = tests::sample_status();
    const auto self = self_as_peer(node, {});
    EXPECT_EQ(ErrorCode::not_found, find_peer(node, self, "absent").error().code);
    EXPECT_EQ(ErrorCode::not_found, find_peer(node, self, "").error().code);
    node.peers[1].name = node.peers[0].name;
    EXPECT_EQ(ErrorCode::conflict, find_peer(node, self, node.peers[0].name).error().code);
}

TEST(CheckpointChoiceText, IsAStepLatestOrFinal) {
    EXPECT_EQ(CheckpointChoice::Kind::latest, read_checkpoint_choice("latest")->kind);
    EXPECT_EQ(CheckpointChoice::Kind::final_model, read_checkpoint_choice("final")->kind);
    EXPECT_EQ(core::StepCount{22'400}, read_checkpoint_choice("step-00022400")->step);
    EXPECT_EQ(core::StepCount{7}, read_checkpoint_choice("7")->step);
    for (const char* text : {"", "step-", "-1", "7x", "../7", "99999999999999999999999"}) {
        EXPECT_FALSE(read_checkpoint_choice(text)) << text;
    }
}

}  // namespace
}  // namespace p2p::daemon
