#include "tools/p2pctl/client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <curl/curl.h>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"
#include "proto/control.hpp"

namespace p2p::tools {

namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

/// Documents are far smaller; exports go to a sink.
constexpr std::size_t answer_bytes_max = 64 * core::mib;

Error not_running(const std::filesystem::path& socket, int number) {
    const std::string cause = number == ECONNREFUSED ? "nobody listens on that socket"
                                                     : std::generic_category().message(number);
    return {
        ErrorCode::unreachable,
        "p2pd is not running: " + socket.string() + " cannot be reached",
        cause,
        "systemctl status p2pd      or      p2pd --check"};
}

Error not_permitted(const std::filesystem::path& socket) {
    return {
        ErrorCode::not_permitted,
        "no permission to open " + socket.string(),
        "it is open to its owner and its group",
        "sudo, or join the group: usermod -aG p2pd $USER"};
}

timeval timeval_of(core::Duration duration) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
    return {.tv_sec = micros / 1'000'000, .tv_usec = micros % 1'000'000};
}

/// A connected descriptor, or the errno as an error. Asking by hand says exactly why not.
Result<int> connect_unix(const std::filesystem::path& socket, core::Duration timeout) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.native().size() >= sizeof(address.sun_path)) {
        return Error{
            ErrorCode::invalid, "the path " + socket.string() + " is too long", "", "--socket"};
    }
    std::memcpy(static_cast<char*>(address.sun_path), socket.c_str(), socket.native().size());
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return not_running(socket, errno);
    const timeval limit = timeval_of(timeout);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    const auto* raw = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(descriptor, raw, sizeof(address)) == 0) return descriptor;
    const int number = errno;
    ::close(descriptor);
    if (number == EACCES || number == EPERM) return not_permitted(socket);
    if (number == EAGAIN) {
        return Error{ErrorCode::timed_out, "p2pd takes no more connections now", "", ""};
    }
    return not_running(socket, number);
}

/// What libcurl's callbacks share.
struct Transfer {
    CURL* curl = nullptr;
    const std::function<bool(std::string_view)>* sink = nullptr;
    std::string body;
};

std::size_t take_bytes(char* data, std::size_t size, std::size_t count, void* context) {
    auto& transfer = *static_cast<Transfer*>(context);
    const std::string_view piece(data, size * count);
    long status = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    if (*transfer.sink && status / 100 == 2) return (*transfer.sink)(piece) ? piece.size() : 0;
    if (transfer.body.size() + piece.size() > answer_bytes_max) return 0;
    transfer.body += piece;
    return piece.size();
}

Error transfer_error(CURLcode code) {
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return {ErrorCode::timed_out, "p2pd did not answer in time", "", "--timeout, or its log"};
    }
    if (code == CURLE_WRITE_ERROR) {
        return {ErrorCode::unwritable, "the answer could not be written", "", ""};
    }
    return {ErrorCode::unreachable, "p2pd broke the connection off", curl_easy_strerror(code), ""};
}

/// An answer that is no good one, whatever its body.
Error answer_error(long status, const std::string& body) {
    if (auto error = proto::read_error_document(body)) return *error;
    const std::string text = "p2pd answered with HTTP status " + std::to_string(status);
    return {status == 404 ? ErrorCode::unsupported : ErrorCode::invalid, text, "", ""};
}

}  // namespace

Client::Client(ClientConfig config)
    : config_(std::move(config)),
      curl_(curl_easy_init()) {
    P2P_CHECK(curl_ != nullptr);
}

Client::~Client() {
    curl_easy_cleanup(curl_);
}

Result<std::string> Client::ask(const Request& request) {
    std::filesystem::path socket = config_.socket;
    auto connected = connect_unix(socket, config_.timeout);
    const bool may_fall_back = request.method == "GET" && socket.filename() == "control.sock";
    if (!connected && connected.error().code == ErrorCode::not_permitted && may_fall_back) {
        socket.replace_filename("status.sock");
        auto second = connect_unix(socket, config_.timeout);
        if (second) connected = *second;
    }
    if (!connected) return connected.error();
    ::close(*connected);  // it said who listens and whether we may; libcurl makes its own
    auto answer = perform(request, socket);
    if (config_.is_verbose) {
        std::fprintf(
            stderr,
            "p2pctl: %s %s over %s: %s\n",
            request.method.c_str(),
            request.path.c_str(),
            socket.c_str(),
            answer ? "ok" : answer.error().text().c_str());
    }
    return answer;
}

Result<std::string> Client::perform(const Request& request, const std::filesystem::path& socket) {
    CURL* curl = curl_;
    curl_easy_reset(curl);
    Transfer transfer{curl, &request.sink, {}};
    const std::string url = "http://p2pd" + request.path;
    const auto millis = std::chrono::ceil<std::chrono::milliseconds>(config_.timeout).count();
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
        curl_slist_append(nullptr, "Expect:"), &curl_slist_free_all);

    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    // An export may last; it is broken off when nothing comes any more.
    if (request.sink) {
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(
            curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::max<long>(millis / 1000, 1)));
    } else {
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(millis));
    }
    if (request.method == "POST") {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
        curl_easy_setopt(
            curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }

    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) return transfer_error(code);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 != 2) return answer_error(status, transfer.body);
    return std::move(transfer.body);
}

std::string escaped(std::string_view name) {
    char* text = curl_easy_escape(nullptr, name.data(), static_cast<int>(name.size()));
    P2P_CHECK(text != nullptr);
    std::string copy = text;
    curl_free(text);
    return copy;
}

}  // namespace p2p::tools
