#include "daemon/app.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/node/node.hpp"
#include "daemon/asio.hpp"
#include "daemon/checkpoint.hpp"
#include "daemon/clock.hpp"
#include "daemon/control_actions.hpp"
#include "daemon/control_server.hpp"
#include "daemon/driver.hpp"
#include "daemon/entropy.hpp"
#include "daemon/identity_file.hpp"
#include "daemon/job_names.hpp"
#include "daemon/links.hpp"
#include "daemon/log.hpp"
#include "daemon/node_setup.hpp"
#include "daemon/notice_log.hpp"
#include "daemon/service.hpp"
#include "daemon/state_dir.hpp"
#include "daemon/tensor_socket.hpp"
#include "daemon/trust_file.hpp"
#include "daemon/workshop.hpp"

namespace p2p::daemon {

namespace {

constexpr core::Duration goodbye_time = std::chrono::seconds{1};
constexpr core::Duration tick_time = std::chrono::seconds{1};

int exit_code_of(const core::Error& error) {
    using core::ErrorCode;
    const auto is_one_of = [&](std::initializer_list<ErrorCode> codes) {
        return std::find(codes.begin(), codes.end(), error.code) != codes.end();
    };
    if (error.code == ErrorCode::in_use) return exit_code::state_held;
    if (is_one_of(
            {ErrorCode::insecure,
             ErrorCode::unwritable,
             ErrorCode::unreadable,
             ErrorCode::not_permitted})) {
        return exit_code::no_permission;
    }
    if (is_one_of({ErrorCode::invalid, ErrorCode::conflict, ErrorCode::malformed})) {
        return exit_code::configuration;
    }
    return exit_code::failed;
}

LogConfig log_config(const Options& options) {
    LogConfig config;
    config.level = log_level_from(options.log_level).value_or(LogLevel::info);
    config.format = options.log_format == "text"      ? LogFormat::text
                    : options.log_format == "json"    ? LogFormat::json
                    : options.log_format == "journal" ? LogFormat::journal
                                                      : LogFormat::automatic;
    return config;
}

class App {
  public:
    App(const Options& options, const OptionSources& sources)
        : options_(options),
          sources_(sources),
          log_(log_config(options)) {}

    int run() {
        const int failed = open();
        if (failed != exit_code::ok) return failed;
        driver_->start();
        for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
            signals_.add(number);
        wait_for_signals();
        service_.ready();  // last: whoever hears it may stop us at once
        log_.write(
            LogLevel::info,
            "ready",
            {{.key = "id", .value = identity_->id().text()},
             {.key = "socket", .value = options_.socket.string()}});
        tick();
        loop_.run();
        if (is_abandoned_) abandon();
        close();
        log_.write(LogLevel::info, "stopped", {});
        return exit_code::ok;
    }

  private:
    int give_up(int code, const core::Error& error) {
        log_.write(LogLevel::error, "start_failed", log_fields(error));
        return code;
    }

    int open() {
        auto state = StateDir::open(options_.state_dir);
        if (!state) return give_up(exit_code_of(state.error()), state.error());
        state_.emplace(std::move(*state));
        if (sources_.is_user) {  // a service's folder is made by systemd
            const core::Status made = make_folder(options_.socket.parent_path());
            if (!made) return give_up(exit_code::cannot_bind, made.error());
        }
        auto identity = load_or_create_identity(options_.key_file);
        if (!identity) return give_up(exit_code::no_permission, identity.error());
        identity_.emplace(std::move(*identity));
        const auto incarnation = state_->raise_incarnation();
        if (!incarnation) return give_up(exit_code_of(incarnation.error()), incarnation.error());
        facts_.self = identity_->id();
        facts_.incarnation = *incarnation;
        return open_mesh();
    }

    int open_mesh() {
        auto config = node_config(options_, facts_);
        if (!config) return give_up(exit_code::configuration, config.error());
        links_.emplace(loop_, *identity_, links_config(options_, *config));
        const core::Status bound = links_->listen(listen_addresses(options_));
        if (!bound) return give_up(exit_code::cannot_bind, bound.error());
        facts_.listening = links_->listening();
        config = node_config(options_, facts_);  // the port is known now
        links_->adopt(links_config(options_, *config));

        RunScan scan = scan_runs(options_.state_dir);
        for (const core::Error& error : scan.broken) {
            log_.write(LogLevel::warn, "checkpoint_skipped", log_fields(error));
        }
        config->resumed = std::move(scan.jobs);
        workshop_.emplace(
            workshop_config(options_, facts_.self),
            [this](std::function<void()> act) { asio::post(loop_, std::move(act)); },
            workshop_events());
        node_.emplace(std::move(*config), facts_.self, core::Rng(entropy_u64()));
        driver_.emplace(
            loop_,
            DriverParts{
                .node = *node_,
                .links = *links_,
                .workshop = *workshop_,
                .identity = *identity_,
                .log = log_});
        links_->start(driver_->links_events());
        return open_sockets();
    }

    WorkshopEvents workshop_events() {
        return {
            .on_worked = [this](
                             core::Ticket ticket,
                             core::WorkResult result) { driver_->on_worked(ticket, result); },
            .on_stepped = [this](
                              core::JobId job,
                              core::SteppedReport report) { driver_->on_stepped(job, report); },
            .on_trainer = [this](core::TrainerReady ready) { driver_->on_trainer(ready); },
            .on_saved =
                [this](core::JobId job, core::Status result) { driver_->on_saved(job, result); },
            .on_trouble =
                [this](core::JobId job, core::Error error) {
                    auto fields = log_fields(error);
                    fields.push_back({.key = "job", .value = job.short_text()});
                    log_.write(LogLevel::warn, "job_trouble", std::move(fields));
                }};
    }

    int open_sockets() {
        actions_.emplace(loop_, options_.state_dir, log_, [this] { return found(); });
        routes_.emplace(
            ControlNode{
                .status = [this] { return driver_->status(); },
                .command =
                    [this](core::Command command, Driver::Answer answer) {
                        driver_->command(std::move(command), std::move(answer));
                    }},
            *actions_);
        ControlServerConfig config;
        config.control = {
            .path = options_.socket, .mode = options_.socket_mode, .group = options_.socket_group};
        config.status = ControlSocketConfig{
            .path = options_.status_socket, .mode = options_.status_mode, .group = ""};
        auto server = ControlServer::start(
            config, {.handle = [this](ControlRequest request, Respond respond) {
                asio::post(loop_, [this, request = std::move(request), respond] {
                    routes_->handle(request, respond);
                });
            }});
        if (!server) return give_up(exit_code::cannot_bind, server.error());
        server_ = std::move(*server);

        auto tensors = TensorSocket::open(
            {.path = options_.tensor_socket,
             .mode = options_.socket_mode,
             .group = options_.socket_group},
            workshop_->external(),
            [this](std::string toml, std::function<void(core::Status)> reply) {
                asio::post(loop_, [this, toml = std::move(toml), reply] { propose(toml, reply); });
            });
        if (!tensors) return give_up(exit_code::cannot_bind, tensors.error());
        tensors_ = std::move(*tensors);
        return exit_code::ok;
    }

    /// A training process brought a job that nobody has submitted.
    void propose(const std::string& toml, const std::function<void(core::Status)>& reply) {
        auto job = actions_->read_job(toml);
        if (!job) return reply(job.error());
        driver_->command(std::move(*job), [reply](const core::Result<core::CommandDone>& done) {
            reply(done ? core::Status() : core::Status(done.error()));
        });
    }

    core::Result<core::NetworkId> found() {
        const auto network = found_network(options_.state_dir, facts_.self);
        if (!network) return network.error();
        const core::Status adopted = adopt(options_);
        if (!adopted) return adopted.error();
        return *network;
    }

    /// Everybody takes up the configuration, or nobody does.
    core::Status adopt(const Options& options) {
        auto config = node_config(options, facts_);
        if (!config) return config.error();
        options_ = options;
        log_.set_level(log_config(options).level);
        links_->adopt(links_config(options, *config));
        driver_->command(
            core::AdoptConfig{std::make_shared<const core::NodeConfig>(std::move(*config))},
            [](const core::Result<core::CommandDone>&) {});
        return {};
    }

    // --- signals and time ------------------------------------------------------------------------

    void wait_for_signals() {
        signals_.async_wait([this](const asio::error_code& error, int number) {
            if (error) return;
            if (number == SIGHUP) {
                reload();
            } else if (number == SIGQUIT) {
                report_state();
            } else if (is_stopping_) {
                is_abandoned_ = true;
                loop_.stop();
                return;
            } else {
                stop();
            }
            wait_for_signals();
        });
    }

    void reload() {
        service_.reloading(steady_now());
        const auto options = load_options(sources_);
        const core::Status adopted = options ? adopt(*options) : core::Status(options.error());
        if (adopted) {
            log_.write(LogLevel::info, "reloaded", {});
        } else {
            log_.write(LogLevel::error, "reload_failed", log_fields(adopted.error()));
        }
        service_.ready();
    }

    void report_state() {
        for (const LinkStatus& link : links_->status()) {
            log_.write(
                LogLevel::info,
                "state_link",
                {{.key = "peer", .value = link.peer.short_text()},
                 {.key = "sent", .value = std::to_string(link.counters.bytes_sent)},
                 {.key = "received", .value = std::to_string(link.counters.bytes_received)}});
        }
        for (const core::JobStatus& job : driver_->status().jobs) {
            log_.write(
                LogLevel::info,
                "state_job",
                {{.key = "job", .value = job.name},
                 {.key = "state", .value = std::string(job_state_name(job.state))},
                 {.key = "steps", .value = std::to_string(job.own.steps.value)},
                 {.key = "swaps", .value = std::to_string(job.own.swaps)},
                 {.key = "reason", .value = job.reason}});
        }
    }

    void stop() {
        is_stopping_ = true;
        service_.stopping();
        log_.write(LogLevel::info, "stopping", {});
        drain_.expires_after(options_.drain_timeout);
        drain_.async_wait([this](const asio::error_code& error) {
            if (!error) loop_.stop();
        });
        driver_->command(core::Shutdown{}, [this](const core::Result<core::CommandDone>&) {
            links_->close();
            finish(steady_now() + goodbye_time);
        });
    }

    /// Asked twice to stop: nothing is waited for. Sockets' names are taken over by the next start,
    /// and the last whole checkpoint stands.
    [[noreturn]] void abandon() {
        log_.write(LogLevel::warn, "stopped_at_once", {});
        log_.flush();
        std::_Exit(exit_code::ok);
    }

    /// Links get a moment to say goodbye in.
    void finish(core::TimePoint until) {
        if (links_->is_idle() || steady_now() >= until) return loop_.stop();
        goodbye_.expires_after(std::chrono::milliseconds{10});
        goodbye_.async_wait([this, until](const asio::error_code& error) {
            if (!error) finish(until);
        });
    }

    /// Goes on while stopping: the last checkpoint may take longer than the watchdog waits.
    void tick() {
        service_.watchdog(steady_now());
        service_.status(steady_now(), status_line());
        tick_.expires_after(std::min(tick_time, service_.watchdog_interval().value_or(tick_time)));
        tick_.async_wait([this](const asio::error_code& error) {
            if (!error) tick();
        });
    }

    [[nodiscard]] std::string status_line() const {
        const core::NodeStatus status = driver_->status();
        std::size_t connected = 0;
        for (const core::PeerStatus& peer : status.peers) {
            if (peer.state == core::PeerState::connected) ++connected;
        }
        std::string line =
            std::to_string(connected) + "/" + std::to_string(status.peers.size()) + " peers";
        for (const core::JobStatus& job : status.jobs) {
            if (job.state != core::JobState::running) continue;
            line += ", " + job.name + " "
                    + std::to_string(static_cast<int>(100 * job.progress_ratio)) + " %";
        }
        return line;
    }

    void close() {
        server_.reset();   // no more requests
        tensors_.reset();  // no more training processes
        workshop_->stop();
        actions_.reset();
    }

    Options options_;
    OptionSources sources_;
    Log log_;
    Service service_{service_config_from_environment()};
    std::optional<StateDir> state_;
    std::optional<proto::Identity> identity_;
    ProcessFacts facts_;
    asio::io_context loop_{1};
    asio::signal_set signals_{loop_};
    asio::steady_timer tick_{loop_};
    asio::steady_timer drain_{loop_};
    asio::steady_timer goodbye_{loop_};
    std::optional<Links> links_;
    std::optional<Workshop> workshop_;
    std::optional<core::Node> node_;
    std::optional<Driver> driver_;
    std::optional<Actions> actions_;
    std::optional<ControlRoutes> routes_;
    std::unique_ptr<ControlServer> server_;
    std::unique_ptr<TensorSocket> tensors_;
    bool is_stopping_ = false;
    bool is_abandoned_ = false;
};

}  // namespace

int run_daemon(const Options& options, const OptionSources& sources) {
    std::signal(SIGPIPE, SIG_IGN);
    // A broken invariant (P2P_CHECK) has said what and where; a supervisor goes by the code.
    std::signal(SIGABRT, [](int) { std::_Exit(exit_code::broken_invariant); });
    App app(options, sources);
    return app.run();
}

core::Status check_start(const Options& options) {
    const auto peers = load_peers(options.peers_file);
    if (!peers) return peers.error();
    const auto network = settle_network(options.state_dir, options.network_id);
    if (!network) return network.error();
    std::error_code ignored;
    if (!std::filesystem::exists(options.key_file, ignored)) return {};
    const auto identity = read_identity(options.key_file);
    return identity ? core::Status() : core::Status(identity.error());
}

}  // namespace p2p::daemon
