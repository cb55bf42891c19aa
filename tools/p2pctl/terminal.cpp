#include "tools/p2pctl/terminal.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "tools/p2pctl/exit_code.hpp"
#include "tools/p2pctl/human.hpp"

namespace p2p::tools {

namespace {

constexpr std::string_view show_cursor = "\x1b[?25h";
constexpr std::string_view hide_cursor = "\x1b[?25l";

// What a signal handler must know cannot be handed to it: these two are the only globals here.
volatile std::sig_atomic_t is_cursor_hidden = 0;
std::array<char, PATH_MAX> half_written{};

/// Only calls that are allowed in a signal handler.
extern "C" void end_interrupted(int /*signal*/) {
    if (is_cursor_hidden != 0) {
        [[maybe_unused]] const auto shown =
            ::write(STDOUT_FILENO, show_cursor.data(), show_cursor.size());
    }
    if (half_written[0] != '\0') ::unlink(half_written.data());
    ::_exit(static_cast<int>(ExitCode::interrupted));
}

core::Status write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            ::_exit(static_cast<int>(ExitCode::done));
        } else if (errno != EINTR) {
            return core::Error{
                core::ErrorCode::unwritable,
                "the answer could not be written",
                std::generic_category().message(errno),
                ""};
        }
    }
    return {};
}

}  // namespace

void prepare_terminal() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGINT, &end_interrupted);
    std::signal(SIGTERM, &end_interrupted);
}

bool is_answer_on_terminal() {
    return ::isatty(STDOUT_FILENO) == 1;
}

bool is_progress_on_terminal() {
    return ::isatty(STDERR_FILENO) == 1;
}

bool wants_color(ColorWish wish) {
    if (wish != ColorWish::automatic) return wish == ColorWish::always;
    return is_answer_on_terminal()
           && std::getenv("NO_COLOR") == nullptr;  // NOLINT(concurrency-mt-unsafe): one thread
}

core::Status write_answer(std::string_view text) {
    return write_all(STDOUT_FILENO, text);
}

void say(std::string_view line) {
    (void)write_all(STDERR_FILENO, std::string(line) + "\n");
}

Progress::~Progress() {
    if (is_shown_) (void)write_all(STDERR_FILENO, "\r\x1b[K");
}

void Progress::show(std::string_view line) {
    if (!is_progress_on_terminal()) return;
    (void)write_all(STDERR_FILENO, "\r\x1b[K" + std::string(line));
    is_shown_ = true;
}

LiveScreen::LiveScreen() {
    is_cursor_hidden = 1;
    (void)write_all(STDOUT_FILENO, std::string(hide_cursor) + "\x1b[2J");
}

LiveScreen::~LiveScreen() {
    (void)write_all(STDOUT_FILENO, show_cursor);
    is_cursor_hidden = 0;
}

core::Status LiveScreen::draw(std::string_view text) const {
    std::string frame = "\x1b[H";
    for (const char letter : text) {
        if (letter == '\n') frame += "\x1b[K";  // what the last frame had there
        frame += letter;
    }
    return write_all(STDOUT_FILENO, frame + "\x1b[J");
}

void remove_when_interrupted(const std::string& path) {
    half_written[0] = '\0';
    if (path.empty() || path.size() + 1 > half_written.size()) return;
    // The first letter last: a signal in between finds no path, or a whole one.
    std::memcpy(half_written.data() + 1, path.c_str() + 1, path.size());
    half_written[0] = path[0];
}

void pause_for(core::Duration duration) {
    const auto nanos = duration.count();
    timespec left{.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

std::string error_lines(const core::Error& error) {
    std::string text = "p2pctl: " + printable(error.what) + "   ["
                       + std::string(core::error_name(error.code)) + "]";
    if (!error.why.empty()) text += "\n  why:  " + printable(error.why);
    if (!error.next.empty()) text += "\n  next: " + printable(error.next);
    return text;
}

}  // namespace p2p::tools
