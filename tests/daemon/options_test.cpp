#include "daemon/options.hpp"

#include <map>

#include <gtest/gtest.h>

#include "daemon/option_table.hpp"
#include "daemon/option_values.hpp"
#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {
namespace {

using core::ErrorCode;

const std::string peer = core::PeerId{}.text();

Environment no_environment() {
    return [](const char*) -> const char* {
        return nullptr;
    };
}

Environment environment_of(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
}

Options defaults() {
    return default_options(false, no_environment());
}

core::Result<Options> read(const std::string& text) {
    return read_options(text, "/etc/p2pd/p2pd.toml", defaults());
}

TEST(Options, AnEmptyFileIsTheDefaults) {
    const auto options = read("");
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ("/var/lib/p2pd", options->state_dir);
    EXPECT_EQ("/run/p2pd/tensor.sock", options->tensor_socket);
    EXPECT_EQ(std::chrono::seconds{60}, options->drain_timeout);
    EXPECT_EQ(2U, options->listen.size());
}

TEST(Options, WhatIsWrittenIsTaken) {
    const auto options = read(
        "[node]\nname = \"a\"\nsite = \"ams1\"\n"
        "[network]\nlisten = [\"[::1]:0\"]\nbootstrap = [\"" + peer + "@10.0.0.1:7470\"]\n"
        "[control]\nsocket_mode = \"0600\"\n"
        "[datasets]\nfashion-mnist = \"/data/fm\"\n"
        "[jobs]\naccept = \"none\"\nduty = 0.25\nbatch_size = 32\n"
        "[shutdown]\ndrain_timeout = \"5s\"\n");
    ASSERT_TRUE(options.has_value()) << options.error().text();
    EXPECT_EQ("a", options->name);
    EXPECT_EQ("[::1]:0", options->listen.front());
    EXPECT_EQ("10.0.0.1:7470", options->bootstrap.front().address);
    EXPECT_EQ(0600U, options->socket_mode);
    EXPECT_EQ("/data/fm", options->datasets.at("fashion-mnist"));
    EXPECT_EQ(core::JobAccept::none, options->accept);
    EXPECT_EQ(0.25, options->duty);
    EXPECT_EQ(32U, options->batch_size);
    EXPECT_EQ(std::chrono::seconds{5}, options->drain_timeout);
}

TEST(Options, AnUnknownKeySaysWhereAndWhatIsNearest) {
    const auto options = read("[network]\nlisten = [\"0.0.0.0:1\"]\n  max_peer = 3\n");
    ASSERT_FALSE(options.has_value());
    EXPECT_EQ(ErrorCode::invalid, options.error().code);
    const std::string text = options.error().text();
    EXPECT_NE(std::string::npos, text.find("/etc/p2pd/p2pd.toml, line 3, column 3")) << text;
    EXPECT_NE(std::string::npos, text.find("network.max_peers")) << text;
}

TEST(Options, AnUnknownSectionIsAnError) {
    EXPECT_FALSE(read("[netwrok]\nlisten = [\"0.0.0.0:1\"]\n").has_value());
    EXPECT_FALSE(read("[dashboard]\n").has_value());
    EXPECT_TRUE(read("[network]\n").has_value());
}

TEST(Options, EveryKeyRefusesWhatItDoesNotTakeAndSaysWhatItDoes) {
    for (const auto& key : option_table()) {
        const std::string name = std::string(key.section) + "." + std::string(key.name);
        const auto options = read(name + " = [[1]]\n");
        ASSERT_FALSE(options.has_value()) << name;
        const std::string text = options.error().text();
        EXPECT_NE(std::string::npos, text.find(name + " takes")) << text;
        EXPECT_NE(std::string::npos, text.find("line 1")) << text;
    }
}

TEST(Options, ValuesOutsideOfTheirRangeAreRefused) {
    for (const char* line :
         {"jobs.duty = 0",
          "jobs.duty = 1.1",
          "jobs.duty = nan",
          "network.max_peers = 0",
          "network.max_peers = -1",
          "control.socket_mode = \"0888\"",
          "jobs.accept = \"some\"",
          "network.listen = []",
          "network.listen = [\"nowhere\"]",
          "network.listen = [\"a:70000\"]",
          "network.listen = [\"::1:7470\"]",
          "network.bootstrap = [\"10.0.0.1:7470\"]",
          "network.id = \"short\"",
          "node.state_dir = \"relative\"",
          "node.name = \"a\\u0007\"",
          "limits.min_free_bytes = -5",
          "limits.kernel_level = \"v9\"",
          "shutdown.drain_timeout = 60",
          "shutdown.drain_timeout = \"2h\"",
          "datasets.x = 3",
          "datasets.x = \"relative\""}) {
        EXPECT_FALSE(read(line).has_value()) << line;
    }
}

TEST(Options, TextThatIsNoTomlSaysWhere) {
    const auto options = read("[node]\nname = \n");
    ASSERT_FALSE(options.has_value());
    EXPECT_NE(std::string::npos, options.error().text().find("line 2"));
}

TEST(Options, ThePrintedConfigurationIsReadBackAsTheDefaults) {
    std::string text = default_config_text(defaults());
    for (std::size_t at = 0; (at = text.find("\n# ", at)) != std::string::npos;)
        text.erase(at + 1, 2);  // as an operator would take a key into use
    text.erase(text.find("\nname = \"/path\""));
    const auto options = read(text);
    ASSERT_TRUE(options.has_value()) << options.error().text() << text;
    for (const auto& key : option_table())
        EXPECT_EQ(key.show(defaults()), key.show(*options)) << key.name;
}

TEST(Options, EveryKeyIsInThePrintedConfiguration) {
    const std::string text = default_config_text(defaults());
    for (const auto& key : option_table())
        EXPECT_NE(std::string::npos, text.find("# " + std::string(key.name) + " = ")) << key.name;
}

TEST(Options, LaterSourcesWin) {
    const TempFolder temp;
    const Path file = temp.path() / "p2pd.toml";
    put_text(file, "[node]\nname = \"file\"\nsite = \"file\"\n[jobs]\nduty = 0.5\n");
    put_text(temp.path() / "conf.d/20.toml", "node.site = \"twenty\"\n");
    put_text(temp.path() / "conf.d/10.toml", "node.site = \"ten\"\njobs.duty = 0.6\n");
    put_text(temp.path() / "conf.d/30.txt", "not looked at");
    const auto options = load_options(
        {file, false, environment_of({{"P2PD_JOBS_DUTY", "0.7"}, {"P2PD_NODE_SITE", "env"}})});
    ASSERT_TRUE(options.has_value()) << options.error().text();
    EXPECT_EQ("file", options->name);
    EXPECT_EQ("env", options->site);
    EXPECT_EQ(0.7, options->duty);
    const auto without = load_options({file, false, no_environment()});
    ASSERT_TRUE(without.has_value());
    EXPECT_EQ("twenty", without->site);
    EXPECT_EQ(0.6, without->duty);
}

TEST(Options, AVariableTakesTomlOrPlainText) {
    const TempFolder temp;
    put_text(temp.path() / "p2pd.toml", "");
    const auto options = load_options(
        {temp.path() / "p2pd.toml",
         false,
         environment_of(
             {{"P2PD_NETWORK_LISTEN", "[\"127.0.0.1:1\"]"}, {"P2PD_NODE_STATE_DIR", "/x y"}})});
    ASSERT_TRUE(options.has_value()) << options.error().text();
    EXPECT_EQ("127.0.0.1:1", options->listen.front());
    EXPECT_EQ("/x y", options->state_dir);
}

TEST(Options, AVariableThatDoesNotFitIsNamed) {
    const TempFolder temp;
    put_text(temp.path() / "p2pd.toml", "");
    const auto options = load_options(
        {temp.path() / "p2pd.toml", false, environment_of({{"P2PD_JOBS_DUTY", "much"}})});
    ASSERT_FALSE(options.has_value());
    EXPECT_NE(std::string::npos, options.error().what.find("P2PD_JOBS_DUTY"));
}

TEST(Options, AFileThatWasNamedMustBeThere) {
    const auto options = load_options({Path("/nonexistent/p2pd.toml"), false, no_environment()});
    ASSERT_FALSE(options.has_value());
    EXPECT_NE(std::string::npos, options.error().what.find("/nonexistent/p2pd.toml"));
}

TEST(Options, AUserWithoutRootHasHisOwnFolders) {
    const auto environment =
        environment_of({{"HOME", "/home/a"}, {"XDG_RUNTIME_DIR", "/run/user/7"}});
    const auto paths = default_paths(true, environment);
    EXPECT_EQ("/home/a/.config/p2pd", paths.config);
    EXPECT_EQ("/home/a/.local/state/p2pd", paths.state_dir);
    EXPECT_EQ("/run/user/7/p2pd", paths.runtime);
}

TEST(Options, WhereAPeerListensNeedsHostAndPort) {
    for (const char* good : {"a:1", "10.0.0.1:0", "[::]:7470", "host.example:65535"})
        EXPECT_TRUE(is_host_port(good)) << good;
    for (const char* bad :
         {"", ":1", "a", "a:", "a:b", "a:1x", "::1:7", "a b:1", "[]:1", "a:65536"})
        EXPECT_FALSE(is_host_port(bad)) << bad;
}

}  // namespace
}  // namespace p2p::daemon
