#pragma once

// The log: one event a line, with a stable name and key=value fields.
//
// Logging never holds up the loop: lines go into a bounded queue that a thread of the log's own
// writes out; what does not fit is counted and said. Identical events are written once and then
// counted (daemon/log_throttle). Never in any field: keys, invites, tokens, tensor contents.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"

namespace p2p::daemon {

enum class LogLevel : std::uint8_t { error, warn, info, debug, trace };

/// `automatic`: journal under systemd, text on a terminal, JSON else.
enum class LogFormat : std::uint8_t { automatic, text, json, journal };

[[nodiscard]] std::string_view log_level_name(LogLevel level);
[[nodiscard]] std::optional<LogLevel> log_level_from(std::string_view name);

struct LogField {
    std::string key;
    std::string value;
    bool is_detail = false;  ///< differs between events that count as identical (a port, a time)
};

struct LogEvent {
    LogLevel level = LogLevel::info;
    std::string name;  ///< stable, snake_case: "peer_connected"
    std::vector<LogField> fields;
};

/// One line without a newline. Text: `TIME LEVEL event=NAME key=value`; JSON: one object; journal:
/// "<N>" of sd-daemon(3), then the text without time and level, which the journal has itself.
[[nodiscard]] std::string format_log_line(
    LogFormat format, std::int64_t unix_ms, const LogEvent& event);

/// What `automatic` means for this process: looks at JOURNAL_STREAM and at the terminal.
[[nodiscard]] LogFormat settle_log_format(LogFormat asked, int fd);

struct LogConfig {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::automatic;
    int fd = 2;  ///< not closed by the log
};

/// Owns a writer thread; lines written before destruction are flushed by it. May be used from any
/// thread.
class Log {
  public:
    explicit Log(const LogConfig& config);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    void write(LogEvent event);

    /// As write(), for the common case.
    void write(LogLevel level, std::string name, std::vector<LogField> fields) {
        write(LogEvent{level, std::move(name), std::move(fields)});
    }

    /// Whether write() at this level has an effect: for fields that are costly to make.
    [[nodiscard]] bool is_on(LogLevel level) const;

    void set_level(LogLevel level);
    void set_format(LogFormat format);

    /// Waits until all that has been written so far is out.
    void flush();

  private:
    class Writer;
    std::unique_ptr<Writer> writer_;
};

}  // namespace p2p::daemon
