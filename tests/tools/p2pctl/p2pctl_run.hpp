#pragma once

// p2pctl as a process, against a control server with a fake node behind it.
//
// Screens are compared with tests/golden/p2pctl; P2P_GOLDEN_UPDATE=1 writes them anew. What is
// asked of the fake node is looked at under the lock: the control thread answers from it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "daemon/control_server.hpp"
#include "tests/support/fake_node.hpp"
#include "tests/support/temp_dir.hpp"

namespace p2p::tools {

struct Ran {
    int code = -1;
    std::string out;
    std::string err;
};

inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

inline void write_file(const std::filesystem::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
}

class P2pctlTest : public testing::Test {
  protected:
    void SetUp() override {
        daemon::ControlServerConfig config;
        config.control = {.path = control, .mode = 0660, .group = ""};
        config.status = daemon::ControlSocketConfig{.path = status, .mode = 0666, .group = ""};
        config.answer_time_max = std::chrono::milliseconds{300};
        daemon::ControlBackend backend{
            [this](const daemon::ControlRequest& request, const daemon::Respond& respond) {
                const std::lock_guard lock(mutex);
                if (!is_stuck) routes.handle(request, respond);
            }};
        auto started = daemon::ControlServer::start(config, std::move(backend));
        ASSERT_TRUE(started) << started.error().text();
        server = std::move(*started);
    }

    /// Runs p2pctl with `arguments` as a shell reads them.
    Ran run(const std::string& arguments, const std::string& input = "") const {
        write_file(dir.path() / "in", input);
        const std::string command = "cd " + dir.path().string()
                                    + " && { TZ=UTC P2PD_SOCKET=" + control.string()
                                    + " " P2PCTL_PATH " " + arguments + "\n} <in >out 2>err";
        const int status_word = std::system(command.c_str());
        return {
            WIFEXITED(status_word) ? WEXITSTATUS(status_word) : -1,
            content_of(dir.path() / "out"),
            content_of(dir.path() / "err")};
    }

    void change(const std::function<void(tests::FakeNode&)>& what) {
        const std::lock_guard lock(mutex);
        what(fake);
    }

    std::size_t commands() {
        const std::lock_guard lock(mutex);
        return fake.commands.size();
    }

    static void expect_golden(const std::string& name, const std::string& text) {
        const std::filesystem::path file = std::filesystem::path(P2P_GOLDEN) / (name + ".txt");
        if (std::getenv("P2P_GOLDEN_UPDATE") != nullptr) write_file(file, text);
        EXPECT_EQ(content_of(file), text) << name;
    }

    tests::TempDir dir;
    std::filesystem::path control = dir.path() / "control.sock";
    std::filesystem::path status = dir.path() / "status.sock";
    std::mutex mutex;
    bool is_stuck = false;
    tests::FakeNode fake;
    daemon::ControlRoutes routes{fake.node(), fake};
    std::unique_ptr<daemon::ControlServer> server;
};

}  // namespace p2p::tools
