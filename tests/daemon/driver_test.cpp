// Whole nodes on one loop: Node, links, workshop and driver, over real sockets.

#include "daemon/driver.hpp"

#include <deque>

#include <gtest/gtest.h>

#include "daemon/workshop.hpp"
#include "tests/daemon/net_support.hpp"
#include "tests/daemon/temp_folder.hpp"
#include "tests/daemon/tiny_job.hpp"

namespace p2p::daemon {
namespace {

using testing_net::run_until;

/// One node, as app puts it together.
class Host {
  public:
    Host(asio::io_context& loop, const TempFolder& temp, std::uint8_t seed)
        : self_(testing_net::identity(seed)),
          links_(loop, self_, testing_net::Station::config_for(9)),
          workshop_(workshop_config(temp, seed), poster(loop), workshop_events()),
          loop_(loop) {
        P2P_CHECK(links_.listen({{"127.0.0.1", 0}}).is_ok());
    }

    ~Host() { workshop_.stop(); }

    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Everybody lists everybody.
    void start(const std::deque<Host>& all) {
        LinksConfig links_config = testing_net::Station::config_for(9);
        core::NodeConfig config;
        config.name = self_.id().short_text();
        config.network = links_config.session.network;
        config.advertise = {address()};
        config.datasets = {"tiny"};
        for (const Host& other : all) {
            if (&other == this) continue;
            links_config.allowed.insert(other.id());
            config.allowed.push_back(
                {.id = other.id(), .name = "", .addresses = {other.address()}});
        }
        links_.adopt(links_config);
        node_.emplace(config, self_.id(), core::Rng(7));
        driver_.emplace(loop_, DriverParts{*node_, links_, workshop_, self_, log_});
        links_.start(driver_->links_events());
        driver_->start();
    }

    [[nodiscard]] core::PeerId id() const { return self_.id(); }

    [[nodiscard]] std::string address() const { return links_.listening().front().text(); }

    [[nodiscard]] std::size_t peers_up() const { return links_.status().size(); }

    [[nodiscard]] core::NodeStatus status() const { return driver_->status(); }

    [[nodiscard]] std::optional<core::JobStatus> job(core::JobId id) const {
        for (const core::JobStatus& job : status().jobs) {
            if (job.job == id) return job;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool is_in_state(core::JobId id, core::JobState state) const {
        const auto found = job(id);
        return found && found->state == state;
    }

    Driver& driver() { return *driver_; }

    Links& links() { return links_; }

  private:
    static WorkshopConfig workshop_config(const TempFolder& temp, std::uint8_t seed) {
        WorkshopConfig config;
        config.state_dir = temp.path() / ("state-" + std::to_string(seed));
        config.datasets["tiny"] = temp.path() / "set";
        config.self = testing_net::identity(seed).id();
        return config;
    }

    static std::function<void(std::function<void()>)> poster(asio::io_context& loop) {
        return [&loop](std::function<void()> call) {
            asio::post(loop, std::move(call));
        };
    }

    WorkshopEvents workshop_events() {
        return {
            .on_worked =
                [this](core::Ticket ticket, const core::WorkResult& result) {
                    driver_->on_worked(ticket, result);
                },
            .on_stepped =
                [this](core::JobId job, const core::SteppedReport& report) {
                    driver_->on_stepped(job, report);
                },
            .on_trainer = [this](const core::TrainerReady& ready) { driver_->on_trainer(ready); },
            .on_saved = [this](
                            core::JobId job,
                            const core::Status& result) { driver_->on_saved(job, result); },
            .on_trouble = {}};
    }

    proto::Identity self_;
    Log log_{{.level = LogLevel::error, .format = LogFormat::text}};
    Links links_;
    Workshop workshop_;
    asio::io_context& loop_;
    std::optional<core::Node> node_;
    std::optional<Driver> driver_;
};

class Mesh : public testing::Test {
  protected:
    Mesh() { put_tiny_set(temp_.path() / "set"); }

    void start(std::uint8_t count) {
        for (std::uint8_t i = 1; i <= count; ++i) {
            hosts_.emplace_back(loop_, temp_, i);
        }
        for (Host& host : hosts_) {
            host.start(hosts_);
        }
    }

    bool wait_until_joined() {
        return run_until(loop_, [&] {
            return std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
                return host.peers_up() == hosts_.size() - 1;
            });
        });
    }

    bool wait_for_state(core::JobId job, core::JobState state) {
        return run_until(
            loop_,
            [&] {
                return std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
                    return host.is_in_state(job, state);
                });
            },
            std::chrono::seconds{40});
    }

    /// What the node answers to a command.
    core::Result<core::CommandDone> ask(Host& host, core::Command command) {
        std::optional<core::Result<core::CommandDone>> answer;
        host.driver().command(std::move(command), [&](core::Result<core::CommandDone> result) {
            answer.emplace(std::move(result));
        });
        P2P_CHECK(run_until(loop_, [&] { return answer.has_value(); }));
        return *std::move(answer);
    }

    static core::SubmitJob submission(const proto::ParsedSpec& spec) {
        return {
            .job = spec.id,
            .spec = spec.spec,
            .spec_bytes = std::make_shared<const core::Bytes>(spec.canonical)};
    }

    TempFolder temp_;
    asio::io_context loop_;
    std::deque<Host> hosts_;
};

TEST_F(Mesh, FindsAllItsMembers) {
    start(3);
    ASSERT_TRUE(wait_until_joined());
    for (const Host& host : hosts_) {
        EXPECT_TRUE(host.status().joined);
        EXPECT_EQ(2U, host.status().peers.size());
    }
}

TEST_F(Mesh, TrainsAJobToOneModelThatAllHold) {
    start(3);
    ASSERT_TRUE(wait_until_joined());
    const proto::ParsedSpec spec = parsed(tiny_toml("end-to-end"));
    ASSERT_TRUE(ask(hosts_[0], submission(spec)));
    ASSERT_TRUE(wait_for_state(spec.id, core::JobState::done));

    const auto first = hosts_[0].job(spec.id);
    EXPECT_FALSE(first->own.final_hash.is_zero());
    std::uint64_t samples = 0;
    std::uint64_t swaps = 0;
    for (const Host& host : hosts_) {
        const auto job = host.job(spec.id);
        EXPECT_EQ(first->own.final_hash, job->own.final_hash);
        samples += job->own.samples.value;
        swaps += job->own.swaps;
    }
    EXPECT_GE(samples, 6400U);
    EXPECT_GT(swaps, 0U);
}

TEST_F(Mesh, AnswersACommandThatCannotBe) {
    start(1);
    const auto answer = ask(hosts_[0], core::PauseJob{core::JobId{{1, 2, 3}}});
    ASSERT_FALSE(answer);
    EXPECT_EQ(core::ErrorCode::not_found, answer.error().code);
}

TEST_F(Mesh, HearsWhenOneLeaves) {
    start(3);
    ASSERT_TRUE(wait_until_joined());
    ASSERT_TRUE(ask(hosts_[2], core::Shutdown{}));
    EXPECT_TRUE(
        run_until(loop_, [&] { return hosts_[0].peers_up() == 1 && hosts_[1].peers_up() == 1; }));
}

TEST_F(Mesh, EndsOnlyTheConnectionThatCarriesAMalformedMessage) {
    start(2);
    ASSERT_TRUE(wait_until_joined());
    // 0xc1 is what MessagePack never uses.
    hosts_[0].links().send_control(hosts_[1].id(), {0xc1});
    EXPECT_TRUE(run_until(loop_, [&] { return hosts_[1].peers_up() == 0; }));
    EXPECT_TRUE(wait_until_joined()) << "core dials again";
}

}  // namespace
}  // namespace p2p::daemon
