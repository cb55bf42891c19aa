#include "daemon/control_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>

#include <microhttpd.h>

#include "core/base/check.hpp"
#include "daemon/answer_box.hpp"
#include "daemon/control_connection.hpp"
#include "daemon/request_limits.hpp"

namespace p2p::daemon {

namespace {

constexpr int crowded_rounds_max = 50;
constexpr auto crowded_wait = std::chrono::milliseconds{20};

using core::Error;
using core::ErrorCode;

/// MHD keeps headers, their index and its buffers in one pool a connection.
constexpr std::size_t pool_bytes = 3 * core::limits::http_header_bytes_max;

std::string_view header(MHD_Connection* handle, const char* name) {
    const char* value = MHD_lookup_connection_value(handle, MHD_HEADER_KIND, name);
    return value == nullptr ? "" : value;
}

RequestHead head_of(const Connection& connection, std::string_view method) {
    const auto* info =
        MHD_get_connection_info(connection.handle, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return {
        .method = method,
        .may_change = connection.may_change,
        .header_bytes = info == nullptr ? 0 : info->header_size,
        .transfer_encoding = header(connection.handle, "Transfer-Encoding"),
        .content_length = header(connection.handle, "Content-Length")};
}

MHD_Response* response_of(const std::string& body) {
    return MHD_create_response_from_buffer(
        body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
}

MHD_Result send_answer(Connection& connection, ControlResponse answer) {
    connection.phase = Phase::answering;
    MHD_Response* response = nullptr;
    if (!answer.file.empty()) {
        const OpenFile file = open_file(answer.file);
        if (file.descriptor >= 0) {
            response = MHD_create_response_from_fd64(file.bytes, file.descriptor);
        } else {
            answer = error_response(
                {ErrorCode::unreadable, "cannot read " + answer.file.string(), "", ""});
        }
    }
    if (response == nullptr) response = response_of(answer.body);
    P2P_CHECK(response != nullptr);  // only without memory
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type.c_str());
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    const MHD_Result queued = MHD_queue_response(connection.handle, answer.status, response);
    MHD_destroy_response(response);
    return queued;
}

MHD_Result add_argument(void* context, MHD_ValueKind, const char* key, const char* value) {
    auto& query = *static_cast<std::map<std::string, std::string>*>(context);
    query[key] = value == nullptr ? "" : value;
    return MHD_YES;
}

}  // namespace

/// One thread runs both HTTP servers: nothing of MHD is ever touched by two threads.
class ControlServer::Thread {
  public:
    Thread(const ControlServerConfig& config, ControlBackend backend)
        : config_(config),
          backend_(std::move(backend)),
          answers_(std::make_shared<AnswerBox>()) {}

    ~Thread() { stop(); }

    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    /// Before start().
    core::Status listen(const ControlSocketConfig& socket, bool may_change);

    void start();
    void stop();

  private:
    struct Door {
        Thread* thread = nullptr;
        bool may_change = false;
        ControlSocket listener;
        MHD_Daemon* server = nullptr;
    };

    void run();
    void run_servers();
    void await_events();
    void deliver_answers();
    void expire(SteadyTime now);
    void finish();
    void resume_with(Connection& connection, ControlResponse answer);

    void on_opened(MHD_Connection* handle, bool may_change, void** context);
    void on_closed(Connection& connection);
    void on_completed(Connection& connection) const;
    MHD_Result begin(Connection& connection, const char* url, const char* method) const;
    MHD_Result dispatch(Connection& connection);

    static Connection& connection_of(MHD_Connection* handle);
    using Text = const char*;
    static MHD_Result handle(
        void* door, MHD_Connection*, Text, Text, Text, Text, std::size_t*, void**);
    static void notify_connection(
        void* door, MHD_Connection*, void**, MHD_ConnectionNotificationCode);
    static void notify_completed(void* door, MHD_Connection*, void**, MHD_RequestTerminationCode);

    ControlServerConfig config_;
    ControlBackend backend_;
    std::shared_ptr<AnswerBox> answers_;
    std::vector<std::unique_ptr<Door>> doors_;
    Connections connections_;
    std::map<std::uint64_t, Connection*> waiting_;
    std::uint64_t exchanges_ = 0;
    int crowded_rounds_ = 0;  // rounds without waiting long, after there were as many as may be
    std::atomic<bool> is_stopping_ = false;
    std::thread thread_;
};

core::Status ControlServer::Thread::listen(const ControlSocketConfig& socket, bool may_change) {
    auto listener = ControlSocket::open(socket);
    if (!listener) return listener.error();
    doors_.push_back(std::make_unique<Door>(Door{this, may_change, std::move(*listener), nullptr}));
    Door& door = *doors_.back();

    const auto seconds = std::chrono::ceil<std::chrono::seconds>(config_.request_time_max).count();
    // MHD closes what it is given; ours goes with the file.
    const int descriptor = ::fcntl(door.listener.descriptor(), F_DUPFD_CLOEXEC, 0);
    // clang-format off
    door.server = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_SUSPEND_RESUME, 0, nullptr, nullptr, &Thread::handle, &door,
        MHD_OPTION_LISTEN_SOCKET, static_cast<MHD_socket>(descriptor),
        MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(config_.connections_max),
        MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(std::max<std::int64_t>(seconds, 1)),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, pool_bytes,
        MHD_OPTION_NOTIFY_CONNECTION, &Thread::notify_connection, &door,
        MHD_OPTION_NOTIFY_COMPLETED, &Thread::notify_completed, &door,
        MHD_OPTION_END);
    // clang-format on
    if (door.server != nullptr) return {};
    return Error{ErrorCode::unwritable, "the control server could not be started", "", ""};
}

void ControlServer::Thread::start() {
    // Signals are the loop's.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ControlServer::Thread::stop() {
    is_stopping_ = true;
    answers_->wake();
    if (thread_.joinable()) thread_.join();
    for (const auto& door : doors_) {
        if (door->server != nullptr) MHD_stop_daemon(door->server);
        door->server = nullptr;
    }
}

void ControlServer::Thread::run() {
    while (!is_stopping_) {
        run_servers();
        await_events();
        deliver_answers();
        expire(steady_now());
    }
    finish();
}

void ControlServer::Thread::run_servers() {
    for (const auto& door : doors_) {
        MHD_run(door->server);
    }
    if (crowded_rounds_ > 0) --crowded_rounds_;
    if (connections_.size() >= config_.connections_max) crowded_rounds_ = crowded_rounds_max;
}

/// Sleeps until a socket, an answer, MHD's own timer or the nearest deadline.
void ControlServer::Thread::await_events() {
    std::vector<pollfd> watched{{answers_->event(), POLLIN, 0}};
    auto wait = std::chrono::milliseconds{60'000};
    for (const auto& door : doors_) {
        const auto* info = MHD_get_daemon_info(door->server, MHD_DAEMON_INFO_EPOLL_FD);
        watched.push_back({info->epoll_fd, POLLIN, 0});
        MHD_UNSIGNED_LONG_LONG timeout = 0;
        if (MHD_get_timeout(door->server, &timeout) == MHD_YES) {
            wait = std::min(wait, std::chrono::milliseconds{std::min(timeout, 60'000ULL)});
        }
    }
    wait = std::min(wait, time_left(connections_, steady_now()));
    // MHD, once full, listens again some runs after a connection has ended, and nothing wakes it.
    if (crowded_rounds_ > 0) wait = std::min(wait, crowded_wait);
    ::poll(watched.data(), watched.size(), static_cast<int>(wait.count()));
}

void ControlServer::Thread::deliver_answers() {
    for (auto& [exchange, response] : answers_->take()) {
        const auto found = waiting_.find(exchange);
        if (found != waiting_.end()) resume_with(*found->second, std::move(response));
    }
}

void ControlServer::Thread::expire(SteadyTime now) {
    for (const auto& [key, connection] : connections_) {
        if (connection->phase == Phase::answering || now < connection->deadline) continue;
        if (connection->phase == Phase::waiting) {
            resume_with(
                *connection,
                error_response(
                    {ErrorCode::timed_out,
                     "p2pd did not answer in time",
                     "its main loop is busy or stuck",
                     "look at its log"}));
            continue;
        }
        // MHD has no word for slowness, but sees the end and lets go.
        end_connection(*connection, connection->served == 0 ? slow_request_answer() : "");
        connection->deadline = now + config_.request_time_max;
    }
}

/// Everybody who waits is told; the rounds bound what a reader that does not read can hold up.
void ControlServer::Thread::finish() {
    const auto waiting = waiting_;
    for (const auto& [exchange, connection] : waiting) {
        resume_with(
            *connection, error_response({ErrorCode::interrupted, "p2pd is stopping", "", ""}));
    }
    for (int round = 0; round < 3; ++round) {
        for (const auto& door : doors_)
            MHD_run(door->server);
    }
}

void ControlServer::Thread::resume_with(Connection& connection, ControlResponse answer) {
    waiting_.erase(connection.exchange);
    connection.answer = std::move(answer);
    connection.phase = Phase::answering;
    MHD_resume_connection(connection.handle);
}

void ControlServer::Thread::on_opened(MHD_Connection* handle, bool may_change, void** context) {
    auto connection = std::make_unique<Connection>();
    connection->handle = handle;
    connection->descriptor =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->may_change = may_change;
    connection->caller = caller_of(connection->descriptor);
    connection->deadline = steady_now() + config_.request_time_max;
    *context = connection.get();
    connections_.emplace(connection.get(), std::move(connection));
}

void ControlServer::Thread::on_closed(Connection& connection) {
    waiting_.erase(connection.exchange);
    connections_.erase(&connection);
}

void ControlServer::Thread::on_completed(Connection& connection) const {
    connection.phase = Phase::receiving;
    connection.deadline = steady_now() + config_.request_time_max;
    connection.request = {};
    connection.answer.reset();
    ++connection.served;
}

MHD_Result ControlServer::Thread::begin(
    Connection& connection, const char* url, const char* method) const {
    if (const auto refusal = find_refusal(head_of(connection, method))) {
        return send_answer(connection, *refusal);
    }
    connection.request.method = method;
    connection.request.path = url;
    connection.request.caller = connection.caller;
    MHD_get_connection_values(
        connection.handle, MHD_GET_ARGUMENT_KIND, &add_argument, &connection.request.query);
    return MHD_YES;
}

MHD_Result ControlServer::Thread::dispatch(Connection& connection) {
    if (is_stopping_) {  // a suspended connection would outlive the thread that resumes it
        return send_answer(
            connection, error_response({ErrorCode::interrupted, "p2pd is stopping", "", ""}));
    }
    connection.exchange = ++exchanges_;
    connection.phase = Phase::waiting;
    connection.deadline = steady_now() + config_.answer_time_max;
    waiting_[connection.exchange] = &connection;
    MHD_suspend_connection(connection.handle);
    backend_.handle(
        std::move(connection.request),
        [answers = answers_, exchange = connection.exchange](ControlResponse response) {
            answers->put(exchange, std::move(response));
        });
    return MHD_YES;
}

Connection& ControlServer::Thread::connection_of(MHD_Connection* handle) {
    const auto* info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    P2P_CHECK(info != nullptr && info->socket_context != nullptr);
    return *static_cast<Connection*>(info->socket_context);
}

/// Called by MHD when the headers are there, for each piece of the body, at its end, and again
/// after a connection was resumed.
// NOLINTNEXTLINE(readability-function-size): its parameters are MHD's
MHD_Result ControlServer::Thread::handle(
    void* door,
    MHD_Connection* handle,
    const char* url,
    const char* method,
    const char* /*version*/,
    const char* upload,
    std::size_t* upload_bytes,
    void** begun) {
    Connection& connection = connection_of(handle);
    Thread& thread = *static_cast<Door*>(door)->thread;
    if (*begun == nullptr) {
        *begun = &connection;
        return thread.begin(connection, url, method);
    }
    if (*upload_bytes > 0) {
        std::string& body = connection.request.body;
        if (body.size() + *upload_bytes > core::limits::http_body_bytes_max) return MHD_NO;
        body.append(upload, *upload_bytes);
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (connection.answer) return send_answer(connection, *connection.answer);
    return thread.dispatch(connection);
}

void ControlServer::Thread::notify_connection(
    void* door, MHD_Connection* handle, void** context, MHD_ConnectionNotificationCode code) {
    auto& self = *static_cast<Door*>(door);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        self.thread->on_opened(handle, self.may_change, context);
    } else if (*context != nullptr) {
        self.thread->on_closed(*static_cast<Connection*>(*context));
    }
}

void ControlServer::Thread::notify_completed(
    void* door, MHD_Connection* handle, void** begun, MHD_RequestTerminationCode /*why*/) {
    if (*begun == nullptr) return;
    static_cast<Door*>(door)->thread->on_completed(connection_of(handle));
}

ControlServer::ControlServer(std::unique_ptr<Thread> thread)
    : thread_(std::move(thread)) {}

ControlServer::~ControlServer() = default;

core::Result<std::unique_ptr<ControlServer>> ControlServer::start(
    const ControlServerConfig& config, ControlBackend backend) {
    auto thread = std::make_unique<Thread>(config, std::move(backend));
    if (const auto opened = thread->listen(config.control, true); !opened) return opened.error();
    if (config.status) {
        if (const auto opened = thread->listen(*config.status, false); !opened) {
            return opened.error();
        }
    }
    thread->start();
    return std::unique_ptr<ControlServer>(new ControlServer(std::move(thread)));
}

}  // namespace p2p::daemon
