#pragma once

// Where p2pctl's words go: the answer to stdout, everything else to stderr.
//
// The only part that knows whether a person is watching. Ctrl-C puts the terminal back, removes
// what is half written, and ends the program with 130 from inside the signal, so that nothing has
// to look for it.

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "tools/p2pctl/invocation.hpp"

namespace p2p::tools {

/// Once, before anything is printed.
void prepare_terminal();

[[nodiscard]] bool is_answer_on_terminal();    ///< stdout
[[nodiscard]] bool is_progress_on_terminal();  ///< stderr

[[nodiscard]] bool wants_color(ColorWish wish);

/// Writes to stdout at once. A pipe that nobody reads any more ends the program in silence, with 0.
core::Status write_answer(std::string_view text);

/// A whole line for a person, on stderr.
void say(std::string_view line);

/// The one line of progress on stderr, replaced by the next; nothing where that is no terminal.
class Progress {
  public:
    Progress() = default;
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::string_view line);

  private:
    bool is_shown_ = false;
};

/// Keeps drawing over the same screen while it lives; the cursor comes back with its end.
class LiveScreen {
  public:
    LiveScreen();
    ~LiveScreen();
    LiveScreen(const LiveScreen&) = delete;
    LiveScreen& operator=(const LiveScreen&) = delete;

    core::Status draw(std::string_view text) const;
};

/// Removes a file that is being written when Ctrl-C ends the program; "": none any more.
void remove_when_interrupted(const std::string& path);

/// Nothing else happens meanwhile.
void pause_for(core::Duration duration);

/// "p2pctl: what   [code]", then why and next where they are known.
[[nodiscard]] std::string error_lines(const core::Error& error);

}  // namespace p2p::tools
