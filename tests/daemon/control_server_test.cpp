#include "daemon/control_server.hpp"

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/raw_client.hpp"
#include "tests/support/temp_dir.hpp"

namespace p2p::daemon {
namespace {

using std::chrono::milliseconds;
using tests::RawClient;

std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: p2pd\r\n\r\n";
}

std::string post(const std::string& path, std::size_t declared, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: p2pd\r\nContent-Length: " + std::to_string(declared)
           + "\r\n\r\n" + body;
}

std::string status_line(const std::string& answer) {
    return answer.substr(0, answer.find("\r\n"));
}

/// A loop that answers by echoing what it was asked, or keeps the answers back.
struct FakeLoop {
    std::mutex mutex;
    bool answers = true;
    std::vector<Respond> kept;
    std::vector<ControlRequest> seen;

    ControlBackend backend() {
        return {[this](ControlRequest request, Respond respond) {
            const std::lock_guard lock(mutex);
            seen.push_back(request);
            if (!answers) {
                kept.push_back(std::move(respond));
                return;
            }
            respond(
                {.status = 200,
                 .body = request.method + " " + request.path + " " + request.body,
                 .content_type = "text/plain",
                 .file = {}});
        }};
    }
};

class ControlServerTest : public testing::Test {
  protected:
    ControlServerConfig config() const {
        ControlServerConfig config;
        config.control = {.path = control_path, .mode = 0660, .group = ""};
        config.status = ControlSocketConfig{.path = status_path, .mode = 0666, .group = ""};
        return config;
    }

    void start(const ControlServerConfig& config) {
        auto started = ControlServer::start(config, loop.backend());
        ASSERT_TRUE(started) << started.error().text();
        server = std::move(*started);
    }

    tests::TempDir dir;
    std::filesystem::path control_path = dir.path() / "control.sock";
    std::filesystem::path status_path = dir.path() / "status.sock";
    FakeLoop loop;
    std::unique_ptr<ControlServer> server;
};

TEST_F(ControlServerTest, ARequestReachesTheLoopAndItsAnswerTheCaller) {
    start(config());
    const std::string answer = RawClient(control_path).ask(post("/v1/x%20y?a=1&b", 4, "body"));
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(answer));
    EXPECT_NE(std::string::npos, answer.find("POST /v1/x y body"));
    const std::map<std::string, std::string> query{{"a", "1"}, {"b", ""}};
    EXPECT_EQ(query, loop.seen.at(0).query);
}

TEST_F(ControlServerTest, TheLoopLearnsWhoAsks) {
    start(config());
    (void)RawClient(control_path).ask(get("/"));
    const Caller self{.uid = ::getuid(), .gid = ::getgid(), .pid = ::getpid()};
    EXPECT_EQ(self, loop.seen.at(0).caller);
}

TEST_F(ControlServerTest, TheSocketsHaveTheirModes) {
    start(config());

    struct stat control {};

    struct stat status {};

    ASSERT_EQ(0, ::stat(control_path.c_str(), &control));
    ASSERT_EQ(0, ::stat(status_path.c_str(), &status));
    EXPECT_EQ(0660U, control.st_mode & 0777U);
    EXPECT_EQ(0666U, status.st_mode & 0777U);
}

TEST_F(ControlServerTest, TheStatusSocketRefusesEveryMethodButGet) {
    start(config());
    for (const char* method : {"POST", "DELETE", "PUT", "PATCH"}) {
        const std::string answer = RawClient(status_path)
                                       .ask(std::string(method)
                                            + " /v1/jobs HTTP/1.1\r\nHost: p2pd\r\n"
                                              "Content-Length: 0\r\n\r\n");
        EXPECT_EQ("HTTP/1.1 403 Forbidden", status_line(answer)) << method;
    }
    EXPECT_TRUE(loop.seen.empty());
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(RawClient(status_path).ask(get("/v1/status"))));
}

TEST_F(ControlServerTest, ABodyPastTheLimitIsRefusedBeforeItIsSent) {
    start(config());
    const std::size_t limit = core::limits::http_body_bytes_max;
    const std::string answer = RawClient(control_path).ask(post("/v1/jobs", limit + 1, ""));
    EXPECT_EQ("HTTP/1.1 413", status_line(answer).substr(0, 12));
    EXPECT_NE(std::string::npos, answer.find("\"too_large\""));
    EXPECT_TRUE(loop.seen.empty());
}

TEST_F(ControlServerTest, ABodyOfExactlyTheLimitComesWhole) {
    start(config());
    const std::string body(core::limits::http_body_bytes_max, 'x');
    RawClient client(control_path);
    // It is larger than the socket's buffer: the server must read while it is being sent.
    std::thread sender([&] { client.say(post("/v1/jobs", body.size(), body)); });
    const std::string answer = client.hear();
    sender.join();
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(answer));
    EXPECT_EQ(body, loop.seen.at(0).body);
}

TEST_F(ControlServerTest, AChunkedBodyIsRefused) {
    start(config());
    const std::string answer = RawClient(control_path)
                                   .ask(
                                       "POST /v1/jobs HTTP/1.1\r\nHost: p2pd\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
    EXPECT_EQ("HTTP/1.1 411 Length Required", status_line(answer));
    EXPECT_TRUE(loop.seen.empty());
}

TEST_F(ControlServerTest, ALengthThatIsNoNumberIsRefused) {
    start(config());
    for (const char* length : {"-1", "1e3", "99999999999999999999"}) {
        const std::string answer = RawClient(control_path)
                                       .ask(
                                           std::string("POST / HTTP/1.1\r\nHost: p2pd\r\n"
                                                       "Content-Length: ")
                                           + length + "\r\n\r\n");
        EXPECT_EQ("HTTP/1.1 4", status_line(answer).substr(0, 10)) << length;
    }
    EXPECT_TRUE(loop.seen.empty());
}

TEST_F(ControlServerTest, HeadersPastTheLimitAreRefused) {
    start(config());
    std::string request = "GET / HTTP/1.1\r\nHost: p2pd\r\n";
    for (int i = 0; i < 40; ++i) {
        request += "X-Long-" + std::to_string(i) + ": " + std::string(500, 'x') + "\r\n";
    }
    const std::string answer = RawClient(control_path).ask(request + "\r\n");
    EXPECT_EQ("HTTP/1.1 431", status_line(answer).substr(0, 12));
    EXPECT_TRUE(loop.seen.empty());
}

TEST_F(ControlServerTest, BytesThatAreNoHttpAreRefused) {
    start(config());
    const std::string answer = RawClient(control_path).ask("\x16\x03\x01\r\n\r\nwhat\r\n\r\n");
    EXPECT_NE("HTTP/1.1 200 OK", status_line(answer));
    EXPECT_TRUE(loop.seen.empty());
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(RawClient(control_path).ask(get("/"))));
}

TEST_F(ControlServerTest, ARequestThatDoesNotComeWholeInTimeIsToldSo) {
    auto hurried = config();
    hurried.request_time_max = milliseconds{100};
    start(hurried);
    RawClient client(control_path);
    client.say("POST /v1/jobs HTTP/1.1\r\nHost: p2pd\r\nContent-Length: 10\r\n\r\nhalf");
    EXPECT_EQ("HTTP/1.1 408 Request Timeout", status_line(client.hear()));
    EXPECT_TRUE(loop.seen.empty());
}

TEST_F(ControlServerTest, DribblingBytesDoesNotBuyTime) {
    auto hurried = config();
    hurried.request_time_max = milliseconds{300};
    start(hurried);
    RawClient client(control_path);
    client.say("GET / HTTP/1.1\r\n");
    const auto began = std::chrono::steady_clock::now();
    while (!client.can_hear(milliseconds{20}))
        client.say("X: y\r\n");
    EXPECT_EQ("HTTP/1.1 408 Request Timeout", status_line(client.hear()));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{3});
}

TEST_F(ControlServerTest, TheCallerPastTheLimitWaitsUntilASilentOneIsDropped) {
    auto hurried = config();
    hurried.request_time_max = milliseconds{400};
    start(hurried);
    std::vector<std::unique_ptr<RawClient>> silent;
    for (std::size_t i = 0; i < core::limits::http_connections_max; ++i) {
        silent.push_back(std::make_unique<RawClient>(control_path));
        ASSERT_TRUE(silent.back()->is_connected());
    }
    RawClient late(control_path);
    late.say(get("/v1/status"));
    EXPECT_FALSE(late.can_hear(milliseconds{100}));
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(late.hear()));
    EXPECT_EQ("HTTP/1.1 408 Request Timeout", status_line(silent.front()->hear()));
}

TEST_F(ControlServerTest, ManyRequestsOnOneConnectionAreAnsweredInOrder) {
    start(config());
    const RawClient client(control_path);
    for (int i = 0; i < 50; ++i) {
        const std::string path = "/" + std::to_string(i);
        EXPECT_NE(std::string::npos, client.ask(get(path)).find("GET " + path + " "));
    }
}

TEST_F(ControlServerTest, ALoopThatDoesNotAnswerIsReported) {
    auto hurried = config();
    hurried.answer_time_max = milliseconds{100};
    loop.answers = false;
    start(hurried);
    EXPECT_EQ(
        "HTTP/1.1 504 Gateway Timeout", status_line(RawClient(control_path).ask(get("/v1/jobs"))));
    loop.kept.at(0)({});  // too late: nobody waits for it, and nothing breaks
}

TEST_F(ControlServerTest, AnAnswerMayComeFromAnotherThread) {
    loop.answers = false;
    start(config());
    RawClient client(control_path);
    client.say(get("/v1/jobs"));
    Respond respond;
    while (!respond) {
        const std::lock_guard lock(loop.mutex);
        if (!loop.kept.empty()) respond = loop.kept.front();
    }
    respond({.status = 200, .body = "later", .content_type = "text/plain", .file = {}});
    EXPECT_NE(std::string::npos, client.hear().find("later"));
}

TEST_F(ControlServerTest, StoppingAnswersThoseWhoWaitAndAnswersAfterwardsGoNowhere) {
    loop.answers = false;
    start(config());
    RawClient client(control_path);
    client.say(get("/v1/jobs"));
    bool has_come = false;
    while (!has_come) {
        const std::lock_guard lock(loop.mutex);
        has_come = !loop.kept.empty();
    }
    server.reset();
    EXPECT_EQ("HTTP/1.1 503 Service Unavailable", status_line(client.hear()));
    loop.kept.at(0)({});
}

TEST_F(ControlServerTest, AFileIsSentWhole) {
    const auto file = dir.path() / "model";
    const std::string content(300'000, 'm');
    ASSERT_EQ(0, std::system(("head -c 300000 /dev/zero | tr '\\0' m > " + file.string()).c_str()));
    ControlBackend backend{[&](const ControlRequest&, const Respond& respond) {
        ControlResponse response;
        response.file = file;
        respond(response);
    }};
    auto started = ControlServer::start(config(), std::move(backend));
    ASSERT_TRUE(started) << started.error().text();
    const std::string answer = RawClient(control_path).ask(get("/"));
    EXPECT_EQ(content, answer.substr(answer.find("\r\n\r\n") + 4));
}

TEST_F(ControlServerTest, AFileThatIsNotThereIsAnError) {
    ControlBackend backend{[&](const ControlRequest&, const Respond& respond) {
        ControlResponse response;
        response.file = dir.path() / "absent";
        respond(response);
    }};
    auto started = ControlServer::start(config(), std::move(backend));
    ASSERT_TRUE(started) << started.error().text();
    EXPECT_EQ(
        "HTTP/1.1 500 Internal Server Error", status_line(RawClient(control_path).ask(get("/"))));
}

TEST_F(ControlServerTest, ASocketFileThatNobodyAnswersOnIsReplaced) {
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(
        static_cast<char*>(address.sun_path), control_path.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(0, ::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
    ::close(dead);
    ASSERT_TRUE(std::filesystem::exists(control_path));
    start(config());
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(RawClient(control_path).ask(get("/"))));
}

TEST_F(ControlServerTest, ASocketThatSomebodyAnswersOnIsLeftAlone) {
    start(config());
    const auto second = ControlServer::start(config(), loop.backend());
    ASSERT_FALSE(second);
    EXPECT_EQ(core::ErrorCode::in_use, second.error().code);
    EXPECT_EQ("HTTP/1.1 200 OK", status_line(RawClient(control_path).ask(get("/"))));
}

TEST_F(ControlServerTest, AFileThatIsNoSocketIsLeftAlone) {
    ASSERT_EQ(0, std::system(("echo precious > " + control_path.string()).c_str()));
    const auto started = ControlServer::start(config(), loop.backend());
    ASSERT_FALSE(started);
    EXPECT_EQ(core::ErrorCode::conflict, started.error().code);
    EXPECT_EQ(9U, std::filesystem::file_size(control_path));
}

TEST_F(ControlServerTest, TheSocketFilesGoWithTheServer) {
    start(config());
    server.reset();
    EXPECT_FALSE(std::filesystem::exists(control_path));
    EXPECT_FALSE(std::filesystem::exists(status_path));
}

TEST(ControlSocketPath, ThatDoesNotFitASocketAddressIsRefused) {
    const auto opened =
        ControlSocket::open({.path = "/tmp/" + std::string(200, 'x'), .mode = 0600, .group = ""});
    ASSERT_FALSE(opened);
    EXPECT_EQ(core::ErrorCode::invalid, opened.error().code);
}

TEST(ControlSocketPath, InAFolderThatDoesNotExistIsRefusedWithThePath) {
    const auto opened = ControlSocket::open(
        {.path = "/tmp/p2p-no-such-folder/control.sock", .mode = 0600, .group = ""});
    ASSERT_FALSE(opened);
    EXPECT_EQ(core::ErrorCode::unwritable, opened.error().code);
    EXPECT_NE(std::string::npos, opened.error().text().find("p2p-no-such-folder"));
}

TEST(ControlSocketGroup, ThatDoesNotExistIsRefusedAndNoFileStays) {
    const tests::TempDir dir;
    const auto path = dir.path() / "control.sock";
    const auto opened = ControlSocket::open({.path = path, .mode = 0660, .group = "no-such-group"});
    ASSERT_FALSE(opened);
    EXPECT_EQ(core::ErrorCode::invalid, opened.error().code);
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace p2p::daemon
