#include "daemon/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/clock.hpp"
#include "daemon/log_throttle.hpp"

namespace p2p::daemon {
namespace {

/// Lines that wait for the disk or the terminal; more are counted and dropped.
constexpr std::size_t queue_lines_max = 4096;
constexpr int wait_ms = 200;
constexpr int waits_at_end_max = 5;  // a second in all for a reader who does not read

struct LevelRow {
    LogLevel level;
    std::string_view name;
    char priority;  ///< of syslog(3), as sd-daemon(3) wants it
};

constexpr LevelRow levels[] = {
    {LogLevel::error, "error", '3'},
    {LogLevel::warn, "warn", '4'},
    {LogLevel::info, "info", '6'},
    {LogLevel::debug, "debug", '7'},
    {LogLevel::trace, "trace", '7'},
};

const LevelRow& row_of(LogLevel level) {
    return levels[static_cast<std::size_t>(level)];
}

/// Whatever is not printable ASCII as \u00XX, byte by byte: names come from other machines, must
/// not steer a terminal, and need not be valid UTF-8, which JSON asks for.
void append_escaped(std::string& out, std::string_view value) {
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(byte));
            out += code;
        } else {
            out += c;
        }
    }
}

void append_quoted(std::string& out, std::string_view value) {
    out += '"';
    append_escaped(out, value);
    out += '"';
}

bool is_plain(std::string_view value) {
    if (value.empty()) return false;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '=') return false;
    }
    return true;
}

void append_fields(std::string& line, const LogEvent& event) {
    line += "event=" + event.name;
    for (const LogField& field : event.fields) {
        line += ' ' + field.key + '=';
        if (is_plain(field.value)) {
            line += field.value;
        } else {
            append_quoted(line, field.value);
        }
    }
}

std::string json_line(std::int64_t unix_ms, const LogEvent& event) {
    std::string line = "{\"time\":\"" + utc_text(unix_ms) + "\",\"level\":\"";
    line += row_of(event.level).name;
    line += "\",\"event\":";
    append_quoted(line, event.name);
    for (const LogField& field : event.fields) {
        line += ',';
        append_quoted(line, field.key);
        line += ':';
        append_quoted(line, field.value);
    }
    line += '}';
    return line;
}

}  // namespace

std::string_view log_level_name(LogLevel level) {
    return row_of(level).name;
}

std::optional<LogLevel> log_level_from(std::string_view name) {
    for (const LevelRow& row : levels) {
        if (row.name == name) return row.level;
    }
    return std::nullopt;
}

std::string format_log_line(LogFormat format, std::int64_t unix_ms, const LogEvent& event) {
    if (format == LogFormat::json) return json_line(unix_ms, event);
    std::string line;
    if (format == LogFormat::journal) {
        line += '<';
        line += row_of(event.level).priority;
        line += '>';
    } else {
        line = utc_text(unix_ms) + ' ';
        line += row_of(event.level).name;
        line += ' ';
    }
    append_fields(line, event);
    return line;
}

LogFormat settle_log_format(LogFormat asked, int fd) {
    if (asked != LogFormat::automatic) return asked;
    // systemd says which stream leads to the journal: "device:inode" of it.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes the environment
    const char* journal = std::getenv("JOURNAL_STREAM");

    struct stat stream {};

    if (journal != nullptr && fstat(fd, &stream) == 0) {
        const std::string own = std::to_string(stream.st_dev) + ':' + std::to_string(stream.st_ino);
        if (own == journal) return LogFormat::journal;
    }
    return isatty(fd) == 1 ? LogFormat::text : LogFormat::json;
}

/// The queue, its thread and the throttle. The mutex is held for moves only, never for a write.
class Log::Writer {
  public:
    explicit Writer(const LogConfig& config)
        : fd_(config.fd),
          level_(config.level),
          format_(settle_log_format(config.format, config.fd)),
          thread_([this] { run(); }) {}

    ~Writer() {
        {
            const std::lock_guard lock(mutex_);
            is_ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void push(LogEvent event) {
        {
            const std::lock_guard lock(mutex_);
            if (queue_.size() >= queue_lines_max) {
                dropped_ += 1;
                return;
            }
            queue_.push_back({unix_now_ms(), std::move(event)});
        }
        changed_.notify_all();
    }

    void flush() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return queue_.empty() && !is_writing_; });
    }

    [[nodiscard]] bool is_on(LogLevel level) const { return level <= level_.load(); }

    void set_level(LogLevel level) { level_ = level; }

    void set_format(LogFormat format) { format_ = settle_log_format(format, fd_); }

  private:
    struct Entry {
        std::int64_t unix_ms = 0;
        LogEvent event;
    };

    void run() {
        std::unique_lock lock(mutex_);
        while (!is_ending_ || !queue_.empty()) {
            changed_.wait_for(
                lock, std::chrono::seconds{1}, [this] { return is_ending_ || !queue_.empty(); });
            std::deque<Entry> batch = std::move(queue_);
            queue_.clear();
            const std::uint64_t dropped = std::exchange(dropped_, 0);
            is_writing_ = true;
            lock.unlock();
            write_batch(batch, dropped);
            lock.lock();
            is_writing_ = false;
            changed_.notify_all();
        }
        lock.unlock();
        write_lines(unix_now_ms(), throttle_.take_all());
    }

    void write_batch(std::deque<Entry>& batch, std::uint64_t dropped) {
        for (Entry& entry : batch) {
            write_lines(entry.unix_ms, throttle_.admit(steady_now(), std::move(entry.event)));
        }
        write_lines(unix_now_ms(), throttle_.take_due(steady_now()));
        if (dropped == 0) return;
        const LogEvent lost{LogLevel::warn, "log_dropped", {{"lines", std::to_string(dropped)}}};
        write_lines(unix_now_ms(), {lost});
    }

    void write_lines(std::int64_t unix_ms, const std::vector<LogEvent>& events) {
        std::string text;
        for (const LogEvent& event : events) {
            text += format_log_line(format_, unix_ms, event) + '\n';
        }
        write_all(text);
    }

    /// In pieces that a pipe which can be written takes whole, so that the thread is never held
    /// within write(2): a log that is ending gives up on a reader who does not read.
    void write_all(std::string_view text) {
        int waits_at_end = 0;
        while (!text.empty() && !has_given_up_) {
            pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
            if (::poll(&ready, 1, wait_ms) == 0) {
                has_given_up_ = is_ending_ && ++waits_at_end >= waits_at_end_max;
                continue;
            }
            const ssize_t count =
                ::write(fd_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return;  // Nobody is left to be told that the log cannot be written.
            text.remove_prefix(static_cast<std::size_t>(count));
        }
    }

    const int fd_;
    std::atomic<LogLevel> level_;
    std::atomic<LogFormat> format_;
    LogThrottle throttle_;                 ///< of the writer thread alone
    bool has_given_up_ = false;            ///< likewise
    std::atomic<bool> is_ending_ = false;  ///< set under the mutex
    std::mutex mutex_;                     ///< of all below
    std::condition_variable changed_;
    std::deque<Entry> queue_;
    std::uint64_t dropped_ = 0;
    bool is_writing_ = false;
    std::thread thread_;  ///< last: it uses the rest
};

Log::Log(const LogConfig& config)
    : writer_(std::make_unique<Writer>(config)) {}

Log::~Log() = default;

void Log::write(LogEvent event) {
    if (is_on(event.level)) writer_->push(std::move(event));
}

bool Log::is_on(LogLevel level) const {
    return writer_->is_on(level);
}

void Log::set_level(LogLevel level) {
    writer_->set_level(level);
}

void Log::set_format(LogFormat format) {
    writer_->set_format(format);
}

void Log::flush() {
    writer_->flush();
}

}  // namespace p2p::daemon
