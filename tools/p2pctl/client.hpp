#pragma once

// One request to p2pd over its unix socket; the one file pair that uses libcurl.
//
// It says in the error's code why there is no answer: not running, not permitted, too slow. What an
// answer means is for the commands.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace p2p::tools {

struct Request {
    std::string method = "GET";
    std::string path;  ///< escaped, with its query
    std::string body;
    /// Takes the body of a good answer piece by piece instead; false: stop.
    std::function<bool(std::string_view)> sink;
};

struct ClientConfig {
    std::filesystem::path socket;
    core::Duration timeout = std::chrono::seconds{10};
    bool is_verbose = false;  ///< a line on stderr for each request
};

class Client {
  public:
    explicit Client(ClientConfig config);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// The body of a good answer (2xx). An error document of p2pd is its error; unreachable: it is
    /// not running; not_permitted; timed_out. A GET that control.sock does not let through is asked
    /// of status.sock beside it.
    [[nodiscard]] core::Result<std::string> ask(const Request& request);

    void set_timeout(core::Duration timeout) { config_.timeout = timeout; }

  private:
    [[nodiscard]] core::Result<std::string> perform(
        const Request& request, const std::filesystem::path& socket);

    ClientConfig config_;
    void* curl_;
};

/// A name as one segment of a path.
[[nodiscard]] std::string escaped(std::string_view name);

}  // namespace p2p::tools
